#pragma once
// Reloads parts of a program while it runs: the host says which files hold them, and between two
// frames calls go over to what was built meanwhile. Of the library braid::reload.
//
//   reload::modules modules(scheduler);
//   reload::module& logic = modules.add({.name = "game", .path = "live/libarena_game.so"});
//   reload::function<void(arena::game&, const arena::input&)> simulate(logic, "simulate", stub);
//   while (running) {
//       if (reload::outcome went = modules.at_frame_boundary()) std::puts(went.text());
//       simulate(game, input);
//   }

#include "braid/base/time.hpp"
#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

BRAID_NAMESPACE_BEGIN

class scheduler;

namespace reload {

class modules;

namespace detail {
struct import;
struct module_state;
struct modules_state;
}  // namespace detail

/// What a frame boundary did. True: something was loaded or refused.
class [[nodiscard]] outcome {
public:
    explicit operator bool() const { return loaded_ + refused_ != 0; }
    /// Modules whose new code runs from here on, and files that were not taken.
    unsigned loaded() const { return loaded_; }
    unsigned refused() const { return refused_; }
    /// One sentence; "" when nothing happened. Valid as long as this object.
    const char* text() const { return fixed_ != nullptr ? fixed_ : text_.c_str(); }

private:
    friend struct detail::modules_state;
    unsigned loaded_ = 0, refused_ = 0;
    std::string text_;
    const char* fixed_ = nullptr;  // where there was no memory for a text
};

struct module_options {
    /// For messages, and the name of the copies. Not empty; without '/'.
    std::string name;
    /// Where the build puts it; watched, and may be missing for now. A symbolic link is followed,
    /// and watched itself, not the file that it leads to.
    std::string path;
    /// Compare the types in exported signatures with the host's and with those of other modules.
    /// For that the module needs debug information, and is refused without.
    bool compare_types = true;
};

struct modules_options {
    /// Where the folder with the copies is made: "": TMPDIR or /tmp. Code must be allowed to run
    /// from there. The folder is removed with this object; a process that crashes leaves it, so
    /// that a debugger finds the code.
    std::string folder = {};
    /// Watch the folders of the modules, with one thread that sleeps between changes. Off: call
    /// check_now().
    bool watch = true;
    /// A lock file without a process number that nobody holds counts as left behind when neither
    /// it nor the module has changed for so long.
    nanoseconds lock_still = seconds(10);
    /// The file with the host's debug information. "": the program's own.
    std::string host = {};
    /// The time in ns, for tests; null: the system's clock.
    std::int64_t (*clock)(void* user) = nullptr;
    void* clock_user = nullptr;
};

/// One file with code. Made by modules::add(); lives as long as the modules object. Any thread.
class module {
public:
    ~module();
    module(const module&) = delete;
    module& operator=(const module&) = delete;

    const std::string& name() const;
    bool loaded() const;
    /// That of the code that runs, in hexadecimal; empty while stubs run.
    std::string build_id() const;
    /// How often code was loaded.
    std::size_t loads() const;
    /// Sizes of the files of all code that was ever loaded: it stays in the process.
    std::size_t bytes() const;

private:
    friend class modules;
    friend struct detail::import;
    friend struct detail::modules_state;
    explicit module(std::unique_ptr<detail::module_state> state);
    std::unique_ptr<detail::module_state> state_;
};

/// All modules of a program. Reading, checking, copying and loading happen in tasks of the
/// background class of the scheduler, static constructors of the new code included; a frame
/// boundary only lets calls go over. What was loaded is never unloaded.
///
/// Whatever is wrong with a file, the code before goes on (or the stubs), and the reason is said
/// once: by the next boundary.
class modules {
public:
    /// The scheduler must outlive this.
    explicit modules(scheduler& s, modules_options options = {});
    /// Waits for a check that runs. Code stays; each `function` was destroyed before.
    ~modules();
    modules(const modules&) = delete;
    modules& operator=(const modules&) = delete;

    /// Any thread. Checks the file at the next opportunity, and whenever it changes. Throws
    /// std::invalid_argument: no name or no path, or the name is another module's; or
    /// std::bad_alloc. Then nothing was added.
    module& add(module_options options);

    /// Between two frames, from the thread that runs the loop: what was checked replaces what runs.
    /// Modules that were built together and share a changed type are replaced at the same boundary.
    /// Nothing new: one relaxed load. Otherwise it walks the functions of the changed modules.
    ///
    /// A call that another thread is in at that moment ends in the old code, and each `function`
    /// goes over on its own: for both, stop the tasks of the module before.
    outcome at_frame_boundary() noexcept;

    /// Looks at all files now, on this thread; the next boundary lets calls go over. For hosts that
    /// do not watch, and for the first load: without it, stubs run until a background task is done.
    void check_now();

private:
    std::unique_ptr<detail::modules_state> state_;
};

}  // namespace reload
BRAID_NAMESPACE_END
