// The arena's module as a linker leaves it while it works, or when it was stopped: never loaded.
#include "modules_folder.hpp"
#include "scale.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace arena;

namespace {

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// In one step, as the file of the game.
void put(const std::string& content, const modules_folder& modules) {
    const fs::path part = modules.path() / "part";
    std::ofstream(part, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
    fs::rename(part, modules.file("game"));
}

/// What a host says that looks at this file.
std::string look_at(const std::string& content, const modules_folder& modules,
                    host::game_code& code) {
    put(content, modules);
    code.check_now();
    return code.at_frame_boundary().text;
}

/// When nobody writes: signals arrive later than kill() returns, and no host takes what has changed
/// while it was read.
std::string read_still(const fs::path& path) {
    std::string content = read(path), again;
    while ((again = read(path)) != content) content.swap(again);
    return content;
}

/// A linker that is stopped again and again while it works.
class stopped_linker {
public:
    explicit stopped_linker(const std::vector<std::string>& command) {
        std::vector<char*> arguments;
        for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
        arguments.push_back(nullptr);
        // A group of its own: the compiler's driver starts the linker.
        posix_spawnattr_t own_group;
        posix_spawnattr_init(&own_group);
        posix_spawnattr_setflags(&own_group, POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&own_group, 0);
        if (posix_spawnp(&process_, arguments[0], nullptr, &own_group, arguments.data(), environ) !=
            0) {
            process_ = 0;
        }
        group_ = process_;
        posix_spawnattr_destroy(&own_group);
    }
    ~stopped_linker() {
        // Also what is left of the group: a linker may leave a process behind that tidies up.
        if (group_ != 0) kill(-group_, SIGKILL);
        if (process_ != 0) waitpid(process_, nullptr, 0);
    }
    stopped_linker(const stopped_linker&) = delete;
    stopped_linker& operator=(const stopped_linker&) = delete;

    /// Lets it work for that long. False: it has ended.
    bool work(std::chrono::microseconds time) {
        if (process_ == 0) return false;
        kill(-group_, SIGCONT);
        const auto until = std::chrono::steady_clock::now() + time;
        while (std::chrono::steady_clock::now() < until) {
        }
        kill(-group_, SIGSTOP);
        int status = 0;
        if (waitpid(process_, &status, WNOHANG) != process_) return true;
        process_ = 0;
        succeeded_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        return false;
    }
    bool succeeded() const { return succeeded_; }

private:
    pid_t process_ = 0;  // 0: it has ended
    pid_t group_ = 0;
    bool succeeded_ = false;
};

/// Contents of all files in `folder` while the linker writes there, besides that of the last one.
std::set<std::string> snapshots_of_links(const std::vector<std::string>& command,
                                         const fs::path& folder, const fs::path& output) {
    const std::size_t most_snapshots = braid_test::stress_scaled(200);
    const std::size_t most_links = braid_test::stress_scaled(12);
    std::set<std::string> all;
    for (std::size_t link = 0; link < most_links && all.size() < most_snapshots; ++link) {
        for (const auto& old : fs::directory_iterator(folder)) fs::remove(old);
        stopped_linker linker(command);
        // Other moments in each round.
        const std::chrono::microseconds time(150 + 37 * (link % 12));
        while (linker.work(time) && all.size() < most_snapshots) {
            std::error_code gone;
            for (const auto& one : fs::directory_iterator(folder, gone)) {
                if (one.is_regular_file(gone)) all.insert(read_still(one.path()));
            }
        }
        while (linker.work(std::chrono::milliseconds(1))) {
        }
        EXPECT_TRUE(linker.succeeded()) << command[0];
    }
    all.erase(read(output));
    return all;
}

/// A linker that is stopped while it copies the build-id has finished all that is run: `snapshot`
/// differs from `whole` in nothing else, and the id is no longer zero.
bool is_finished(const std::string& snapshot, const std::string& whole) {
    constexpr std::string_view note("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16);
    constexpr std::size_t sha1 = 20;
    const std::size_t at = whole.find(note);
    if (at == std::string::npos || snapshot.size() != whole.size()) return false;
    const std::size_t id = at + note.size();
    return snapshot.compare(0, id, whole, 0, id) == 0 &&
           snapshot.compare(id + sha1, std::string::npos, whole, id + sha1, std::string::npos) ==
               0 &&
           snapshot.find_first_not_of('\0', id) < id + sha1;
}

/// Where two files of one size differ.
std::string differences(const std::string& one, const std::string& other) {
    std::string text = "they differ at";
    std::size_t ranges = 0;
    for (std::size_t at = 0; at < std::min(one.size(), other.size()) && ranges < 20; ++at) {
        if (one[at] == other[at]) continue;
        const std::size_t first = at;
        while (at < one.size() && at < other.size() && one[at] != other[at]) ++at;
        text += ' ' + std::to_string(first) + ".." + std::to_string(at);
        ++ranges;
    }
    return text;
}

class ArenaLinks : public testing::TestWithParam<const char*> {
protected:
    static void SetUpTestSuite() {
        // Debian's lld-19 has its ld.lld there.
        const char* const path = std::getenv("PATH");
        const std::string more = std::string(path != nullptr ? path : "") + ":/usr/lib/llvm-19/bin";
        setenv("PATH", more.c_str(), 1);
    }
};

}  // namespace

TEST(ArenaDamage, PrefixesOfTheModuleAreRefused) {
    const modules_folder modules;
    const std::string whole = read(modules.file("game"));
    fs::remove(modules.file("game").string() + ".stamp");
    fs::remove(modules.file("game"));
    host::game_code code(modules.path(), false);
    EXPECT_TRUE(code.at_frame_boundary());
    // 200, and 2,000 at the usual scale of scripts/nightly.sh.
    const std::size_t prefixes = std::max<std::size_t>(200, braid_test::stress_scaled(100));
    for (std::size_t i = 0; i < prefixes; ++i) {
        const std::size_t size = whole.size() * i / prefixes;
        ASSERT_TRUE(
            says(look_at(whole.substr(0, size), modules, code), "Module 'game' was refused"))
            << size << " of " << whole.size() << " bytes";
        ASSERT_FALSE(code.game_loaded());
    }
    EXPECT_TRUE(says(look_at(whole, modules, code), "Module 'game' was loaded"));
}

TEST_P(ArenaLinks, WhatALinkerHasNotFinishedIsRefused) {
    const std::string linker = GetParam();
    if (std::system(("command -v ld." + linker + " >/dev/null").c_str()) != 0) {
        GTEST_SKIP() << "ld." << linker << " is not installed";
    }
    const modules_folder modules, output(false);
    fs::remove(modules.file("game").string() + ".stamp");
    fs::remove(modules.file("game"));
    host::game_code code(modules.path(), false);
    EXPECT_TRUE(code.at_frame_boundary());
    const fs::path linked = output.file("game");
    const std::vector<std::string> command = {
        ARENA_COMPILER,      "-shared", "-fuse-ld=" + linker, "-Wl,--build-id=sha1",
        "-Wl,-Bsymbolic",    "-o",      linked.string(),      "@" ARENA_GAME_OBJECTS,
        ARENA_RENDER_LIBRARY};
    const std::set<std::string> snapshots = snapshots_of_links(command, output.path(), linked);
    RecordProperty("snapshots", static_cast<int>(snapshots.size()));
    EXPECT_FALSE(snapshots.empty());
    std::printf("%zu snapshots of links with %s\n", snapshots.size(), linker.c_str());
    const std::string whole = read(linked);
    for (const std::string& snapshot : snapshots) {
        if (is_finished(snapshot, whole)) continue;
        const std::string said = look_at(snapshot, modules, code);
        ASSERT_TRUE(says(said, "Module 'game' was refused"))
            << snapshot.size() << " bytes, " << whole.size() << " in the end; "
            << differences(snapshot, whole);
        ASSERT_FALSE(code.game_loaded());
    }
    EXPECT_TRUE(says(look_at(whole, modules, code), "Module 'game' was loaded"));
}

INSTANTIATE_TEST_SUITE_P(Linkers, ArenaLinks, testing::Values("bfd", "gold", "lld", "mold"),
                         [](const auto& of) { return std::string(of.param); });
