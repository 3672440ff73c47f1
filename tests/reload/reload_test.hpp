#pragma once
// What the tests of reloading share: a folder of their own with a module in it, a host that looks
// when it is asked to, and the modules that CMake has built.

#include "scheduler_test.hpp"
#include "scratch_folder.hpp"
#include "world.hpp"

#include <braid/reload/function.hpp>
#include <braid/reload/modules.hpp>

#include <filesystem>
#include <fstream>
#include <optional>
#include <span>

namespace braid_test {

namespace reload = braid::reload;
namespace fs = std::filesystem;

using bytes = std::vector<std::byte>;

/// A file of CMake's, for example "game_1".
inline fs::path built(const std::string& name) { return fs::path(RELOAD_MODULES) / (name + ".so"); }

inline bytes read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    bytes all(fs::file_size(path));
    file.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size()));
    return all;
}

inline void write(const fs::path& path, std::span<const std::byte> from) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(from.data()),
               static_cast<std::streamsize>(from.size()));
}

using folder = scratch_folder;

constexpr int stub_value = -1;
inline int simulate_stub(world::game&, const world::input&) { return stub_value; }
inline int add_stub(int, int) { return stub_value; }
inline int counted_stub() { return stub_value; }
inline int play_stub(int) { return stub_value; }

/// One scheduler, one modules object that does not watch, and a clock that stands.
class reload_test : public testing::Test {
protected:
    reload_test() {
        braid::scheduler_options few;
        few.workers = 1;
        scheduler.emplace(few);
        modules.emplace(*scheduler, options());
    }
    reload::modules_options options() {
        reload::modules_options o;
        o.folder = copies.path();
        o.watch = false;
        o.clock = [](void* user) { return *static_cast<std::int64_t*>(user); };
        o.clock_user = &now_ns;
        return o;
    }
    /// The module's file as the host knows it; put() puts a built one in its place.
    fs::path live(const std::string& name = "game") const { return place / ("lib" + name + ".so"); }
    void put(const std::string& name, const std::string& as = "game") {
        put_bytes(read(built(name)), as);
    }
    void put_bytes(std::span<const std::byte> from, const std::string& as = "game") {
        write(place / "new", from);
        fs::rename(place / "new", live(as));
    }
    reload::outcome look() {
        modules->check_now();
        return modules->at_frame_boundary();
    }
    reload::module& add(const std::string& name = "game", bool compare_types = true) {
        // On a busy machine a thread of the background class may come to rest late.
        return modules->add({.name = name,
                             .path = live(name).string(),
                             .compare_types = compare_types,
                             .drain_for = braid::seconds(20)});
    }

    deadline deadline_;
    folder place, copies;
    std::int64_t now_ns = 0;
    std::optional<braid::scheduler> scheduler;
    std::optional<reload::modules> modules;
    world::game game;
    world::input input;
};

using simulate_function = reload::function<int(world::game&, const world::input&)>;
using add_function = reload::function<int(int, int)>;
using counted_function = reload::function<int()>;
using play_function = reload::function<int(int)>;

/// One sentence: it begins with a capital, ends with a point and has no line breaks.
inline void expect_sentence(const reload::outcome& went, const std::string& part) {
    const std::string text = went.text();
    EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
    ASSERT_FALSE(text.empty());
    EXPECT_EQ(text.front(), 'M') << text;
    EXPECT_EQ(text.back(), '.') << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

}  // namespace braid_test
