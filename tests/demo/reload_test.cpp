// The arena while its modules are replaced: its state goes on, its graphs follow the table of
// stages, and nothing is left of the code before.
#include "host/contender.hpp"
#include "modules_folder.hpp"
#include "scale.hpp"
#include "small_model.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

using namespace arena;
using host::contender;

namespace {

host::options small_crowd() {
    host::options wish;
    wish.characters = 60;
    wish.width = 320;
    wish.height = 200;
    wish.frames = 100;
    return wish;
}

aligned_array<std::byte> model_block() {
    small_model model;
    return {model.bytes().begin(), model.bytes().end()};
}

/// A small crowd on a host that looks at its modules when it is asked to.
class running {
public:
    explicit running(const modules_folder& modules, const std::string& backend = "braid",
                     unsigned pipeline = 2)
        : code_(modules.path(), false), wish_(small_crowd()), models_{model_block()} {
        wish_.frames_in.pipeline = pipeline;
        said_ = code_.at_frame_boundary().text;
        crowd_.emplace(backend, 1, wish_, models_, code_);
    }
    /// What the boundary says.
    std::string look() {
        code_.check_now();
        std::string said = code_.at_frame_boundary().text;
        if (!said.empty()) crowd_->follow_code();
        return said;
    }
    /// The hashes of all frames so far.
    std::vector<std::uint64_t> run(int frames) {
        for (int i = 0; i < frames; ++i) crowd_->run_frame({}, false);
        crowd_->finish();
        return crowd_->hashes();
    }
    const std::string& said() const { return said_; }
    host::game_code& code() { return code_; }
    contender& crowd() { return *crowd_; }

private:
    host::game_code code_;
    host::options wish_;
    host::model_blocks models_;
    std::optional<contender> crowd_;
    std::string said_;
};

constexpr int before = 8, after = 8;

/// The hashes of a run in which nothing is replaced.
const std::vector<std::uint64_t>& usual_hashes() {
    static const std::vector<std::uint64_t> hashes = [] {
        const modules_folder modules;
        return running(modules, "serial").run(before + after);
    }();
    return hashes;
}

std::size_t same_frames(const std::vector<std::uint64_t>& hashes) {
    const auto& usual = usual_hashes();
    const auto [a, b] = std::ranges::mismatch(hashes, usual);
    return static_cast<std::size_t>(a - hashes.begin());
}

template <class R, class... Args>
std::string file_of(R (*function)(Args...)) {
    Dl_info found{};
    return dladdr(reinterpret_cast<void*>(function), &found) != 0 ? found.dli_fname : "";
}

/// The files with the code that the tables lead to.
std::set<std::string> files_of(const host::game_code& code) {
    const game_api& game = code.game();
    const sound_api& sound = code.sound();
    std::set<std::string> files = {
        file_of(game.create),        file_of(game.begin_frame), file_of(game.hash),
        file_of(sound.memory_size),  file_of(sound.create),     file_of(sound.parts),
        file_of(sound.begin_frame),  file_of(sound.run),        file_of(sound.hash),
        file_of(sound.finish_frame), file_of(sound.samples)};
    for (const std::span<const stage> rows : {code.stages(), game.stages}) {
        for (const stage& row : rows) {
            files.insert(file_of(row.parts));
            files.insert(file_of(row.run));
        }
    }
    return files;
}

}  // namespace

TEST(ArenaReload, AnotherBuildGoesOnWithTheState) {
    std::vector<std::uint64_t> first;
    for (const std::string& backend : host::backend_names()) {
        modules_folder modules;
        running arena(modules, backend);
        arena.run(before);
        modules.publish_edited("game_fast", "game");
        EXPECT_TRUE(says(arena.look(), "Module 'game' was reloaded"));
        const std::vector<std::uint64_t> hashes = arena.run(after);
        EXPECT_EQ(same_frames(hashes), before) << backend << ": twice the speed changes nothing";
        if (first.empty()) first = hashes;
        EXPECT_EQ(hashes, first) << backend;
        // Somebody takes the edit back.
        modules.publish_build("game");
        EXPECT_TRUE(says(arena.look(), "Module 'game' was reloaded"));
        arena.run(1);
    }
}

TEST(ArenaReload, AChangedTableIsAnotherGraph) {
    for (const std::string& backend : host::backend_names()) {
        modules_folder modules;
        running arena(modules, backend);
        arena.run(before);
        const std::size_t rows = arena.code().stages().size();
        const host::braid_frames* const frames = arena.crowd().frames();
        const std::size_t nodes = frames != nullptr ? frames->nodes() : 0;
        const std::size_t edges = frames != nullptr ? frames->edges() : 0;
        modules.publish_edited("game_more_rows", "game");
        EXPECT_TRUE(says(arena.look(), "was reloaded"));
        const std::vector<std::uint64_t> hashes = arena.run(after);
        EXPECT_EQ(same_frames(hashes), before + after) << backend << ": the new row does nothing";
        EXPECT_EQ(hashes.size(), before + after);
        ASSERT_EQ(arena.code().stages().size(), rows + 1);
        EXPECT_EQ(arena.crowd().last_frame().stages()[rows].parts, 1u) << backend;
        EXPECT_EQ(arena.crowd().stage_ms(0).size(), after);
        if (frames == nullptr) continue;
        EXPECT_EQ(frames->nodes(), nodes + 1);
        // Two rows that it follows, and the end of the simulation; the end follows no longer what
        // it has followed.
        EXPECT_EQ(frames->edges(), edges + 2);
    }
}

TEST(ArenaReload, TheGraphStaysWhereOnlyFunctionsAreOthers) {
    modules_folder modules;
    running arena(modules);
    const stage* const rows = arena.code().stages().data();
    modules.publish_edited("game_fast", "game");
    EXPECT_TRUE(says(arena.look(), "was reloaded"));
    EXPECT_EQ(arena.code().stages().data(), rows);
    modules.publish_edited("game_more_rows", "game");
    EXPECT_TRUE(says(arena.look(), "was reloaded"));
    EXPECT_NE(arena.code().stages().data(), rows);
}

// As the window runs them.
TEST(ArenaReload, ABackendThatRunsFrameByFrameFollowsTheTable) {
    for (const std::string& name : host::backend_names()) {
        modules_folder modules;
        host::game_code code(modules.path(), false);
        EXPECT_TRUE(code.at_frame_boundary());
        const host::options wish = small_crowd();
        const host::model_blocks models{model_block()};
        host::world world(wish, models, code);
        host::lane_numbers lanes;
        host::recorder times(lanes);
        const std::unique_ptr<host::backend> backend = host::make_backend(name, 1);
        std::vector<std::uint64_t> hashes;
        for (int frame = 0; frame < before + after; ++frame) {
            if (frame == before) {
                modules.publish_edited("game_more_rows", "game");
                code.check_now();
                EXPECT_TRUE(says(code.at_frame_boundary().text, "was reloaded"));
                world.follow_code();
            }
            world.api().begin_frame(world.state(), {});
            times.begin_frame();
            backend->run_frame(code.stages(), world.state(), times);
            times.end_frame();
            hashes.push_back(world.api().hash(world.state()));
        }
        EXPECT_EQ(same_frames(hashes), before + after) << name;
        EXPECT_EQ(times.stages()[code.stages().size() - 1].parts, 1u) << name;
    }
}

TEST(ArenaReload, NoPointerLeadsToTheCodeBefore) {
    modules_folder modules;
    running arena(modules);
    const std::set<std::string> old = files_of(arena.code());
    EXPECT_EQ(old.size(), 2u) << "one for each module";
    for (const char* edited : {"game_fast", "game_more_rows"}) {
        modules.publish_edited(edited, "game");
        modules.publish_edited("sound_loud", "sound");
        EXPECT_FALSE(arena.look().empty());
        const std::set<std::string> now = files_of(arena.code());
        EXPECT_EQ(now.size(), 2u) << edited;
        for (const std::string& file : now) EXPECT_FALSE(old.contains(file)) << file;
    }
}

TEST(ArenaReload, TheSoundIsReplacedAlone) {
    modules_folder modules;
    running arena(modules);
    arena.run(before);
    modules.publish_edited("sound_loud", "sound");
    const std::string said = arena.look();
    EXPECT_TRUE(says(said, "Module 'sound' was reloaded"));
    EXPECT_FALSE(says(said, "'game'"));
    EXPECT_EQ(same_frames(arena.run(after)), before) << "a louder pad changes nothing";
}

TEST(ArenaReload, TheSoundThatIsPlayingGoesOn) {
    modules_folder modules;
    running arena(modules);
    arena.run(before);
    for (int i = 0; i < 2; ++i) {
        modules.publish_edited("sound_loud", "sound");
        EXPECT_FALSE(arena.look().empty());
        modules.publish_build("sound");
        EXPECT_FALSE(arena.look().empty());
    }
    EXPECT_EQ(same_frames(arena.run(after)), before + after);
}

TEST(ArenaReload, ARefusedFileIsSaidOnceAndTheGameGoesOn) {
    modules_folder modules;
    running arena(modules);
    arena.run(before);
    fs::remove(modules.file("game").string() + ".stamp");
    {
        const fs::path from = fs::path(ARENA_EDITED) / "game_fast.so";
        const fs::path half = modules.path() / "half";
        fs::copy_file(from, half);
        fs::resize_file(half, fs::file_size(from) / 2);
        fs::rename(half, modules.file("game"));
    }
    EXPECT_TRUE(says(arena.look(), "Module 'game' was refused, and the code before goes on: "));
    EXPECT_EQ(arena.look(), "");
    EXPECT_EQ(same_frames(arena.run(after)), before + after);
    EXPECT_EQ(arena.look(), "");
}

TEST(ArenaReload, AnotherLayoutTakesOverTheState) {
    for (const std::string& backend : host::backend_names()) {
        modules_folder modules;
        running arena(modules, backend);
        arena.run(before);
        const game* const at = &arena.crowd().own_world().state();
        modules.publish_edited("game_layout", "game");
        EXPECT_TRUE(says(arena.look(), "the state went over"));
        EXPECT_NE(&arena.crowd().own_world().state(), at);
        EXPECT_EQ(same_frames(arena.run(after)), before + after) << backend;
    }
}

/// What the process has in memory of its own, in KiB: files that are mapped do not count.
long own_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        long kib = 0;
        if (word == "RssAnon:" && status >> kib) return kib;
    }
    return 0;
}

TEST(ArenaReload, ManyReloadsNeedNoMoreMemoryThanTheirCode) {
    modules_folder modules;
    running arena(modules);
    const auto reload = [&](std::size_t i) {
        modules.publish_edited(i % 2 == 0 ? "game_layout" : "game_fast", "game");
        ASSERT_TRUE(says(arena.look(), "Module 'game' was reloaded"));
        arena.run(2);
    };
    for (std::size_t i = 0; i < 4; ++i) reload(i);
    const long kib = own_memory();
    const std::size_t reloads = braid_test::stress_scaled(10);
    for (std::size_t i = 0; i < reloads; ++i) reload(i);
    // Relocated data, names and tables of a build; a state of this crowd is larger.
    const long of_code = static_cast<long>(reloads) * 64;
    EXPECT_LE(own_memory(), kib + of_code + 4 * 1024) << "from " << kib << " KiB";
}

TEST(ArenaReload, ARendererThatWouldBeToldSomethingElseIsRefused) {
    modules_folder modules;
    running arena(modules);
    arena.run(before);
    modules.publish_edited("game_interface", "game");
    EXPECT_TRUE(says(arena.look(), "arena::frame_input has no 'gamma' in the host"));
    EXPECT_EQ(same_frames(arena.run(after)), before + after);
}

TEST(ArenaReload, WithoutModulesStubsRunUntilTheyCome) {
    modules_folder modules(false);
    running arena(modules);
    EXPECT_TRUE(says(arena.said(), "Module 'game' was refused, and stubs run: "));
    EXPECT_TRUE(arena.code().stages().empty());
    EXPECT_EQ(arena.run(2), std::vector<std::uint64_t>(2, 0));
    EXPECT_EQ(arena.crowd().own_world().samples().size(), samples_per_frame * 2);
    modules.publish_build("sound");
    EXPECT_TRUE(says(arena.look(), "Module 'sound' was loaded"));
    EXPECT_EQ(arena.run(1).back(), 0u);
    modules.publish_build("game");
    EXPECT_TRUE(says(arena.look(), "Module 'game' was loaded"));
    std::vector<std::uint64_t> hashes = arena.run(before);
    hashes.erase(hashes.begin(), hashes.begin() + 3);
    EXPECT_EQ(same_frames(hashes), before) << "the crowd does not begin with its code";
}
