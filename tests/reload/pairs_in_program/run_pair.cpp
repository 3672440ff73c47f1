// Runs a pair of layouts as a program does that is reloaded:
//   reload_pair BEFORE.so AFTER.so FOLDER
// Loads the first, which makes its state, then puts the second in its place, and prints what the
// boundary says. Exit code 0: the state went over; 1: refused; 3: the state cannot be made; 2:
// something else is wrong.
#include <braid/core/scheduler.hpp>
#include <braid/reload/arena.hpp>
#include <braid/reload/function.hpp>
#include <braid/reload/modules.hpp>

#include <cstdio>
#include <filesystem>

namespace {

namespace reload = braid::reload;
namespace fs = std::filesystem;

/// Into its place at once, for the file there is loaded.
void put(const fs::path& from, const fs::path& to) {
    const fs::path fresh = to.parent_path() / "new";
    fs::copy_file(from, fresh, fs::copy_options::overwrite_existing);
    fs::rename(fresh, to);
}

int run(const fs::path& before, const fs::path& after, const fs::path& folder) {
    braid::scheduler_options few;
    few.workers = 0;
    braid::scheduler scheduler(few);
    reload::modules_options still;
    still.watch = false;
    reload::modules modules(scheduler, still);
    const fs::path live = folder / "libpair.so";
    reload::module& pair = modules.add({.name = "pair", .path = live.string()});
    const reload::function<bool(reload::arena&)> make(pair, "make",
                                                      [](reload::arena&) { return false; });
    reload::arena state(modules);
    const auto look = [&] {
        modules.check_now();
        reload::outcome went = modules.at_frame_boundary();
        std::printf("%s\n%s\n", went.text(), went.table().c_str());
        return went.loaded() == 1;
    };
    put(before, live);
    if (!look()) return 2;
    if (!make(state)) return 3;
    put(after, live);
    return look() ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::fputs("usage: reload_pair BEFORE.so AFTER.so FOLDER\n", stderr);
        return 2;
    }
    try {
        return run(arguments[1], arguments[2], arguments[3]);
    } catch (const std::exception& wrong) {
        std::fprintf(stderr, "reload_pair: %s.\n", wrong.what());
        return 2;
    }
}
