#pragma once
// Reloads parts of a program while it runs. The host says which files hold them. Between two
// frames, calls switch to the code that was built meanwhile. Part of the library braid::reload.
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
#include "braid/reload/trial.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

BRAID_NAMESPACE_BEGIN

class scheduler;

namespace reload {

class arena;
class modules;

namespace detail {
struct import;
struct module_state;
struct modules_state;
class state_change;
}  // namespace detail

/// What a frame boundary did. It converts to true if something was loaded, refused or reported.
class [[nodiscard]] outcome {
public:
    explicit operator bool() const { return loaded_ + refused_ != 0; }
    /// loaded() counts the modules whose new code runs from here on. refused() counts the files
    /// that were not taken, and each other problem that text() reports.
    unsigned loaded() const { return loaded_; }
    unsigned refused() const { return refused_; }
    /// Returns how many of the loaded modules went back to the previous code: see
    /// modules::roll_back().
    unsigned rolled_back() const { return rolled_back_; }
    /// What the boundary did to the objects in arenas. All fields are 0 if the objects stay where
    /// they are.
    struct migration {
        std::uint64_t objects = 0;  // rebuilt objects, elements of containers included
        std::uint64_t bytes = 0;    // their size
        std::uint64_t outside = 0;  // pointers out of the state, which lead where they led before
        nanoseconds time{0};
    };
    const migration& migrated() const { return migrated_; }
    /// Returns a table of changes, or "" if there are none. If state migrated or was refused, it
    /// has a line for each field that changes, is added or is dropped. After these lines, for each
    /// module that was reloaded, it has a line for each variable of static storage in the previous
    /// code that is not constant, because that variable begins anew.
    const std::string& table() const { return table_; }
    /// Returns one sentence, or "" if nothing happened. The text is valid as long as this object.
    const char* text() const { return fixed_ != nullptr ? fixed_ : text_.c_str(); }

private:
    friend struct detail::modules_state;
    unsigned loaded_ = 0, refused_ = 0, rolled_back_ = 0;
    std::string text_, table_;
    migration migrated_;
    const char* fixed_ = nullptr;  // text() returns this if it is not null
};

/// What happens to tasks that have not begun and hold code that is to be replaced: `drain` waits
/// for them to run, `cancel` ends them as cancelled.
enum class before_swap : std::uint8_t { drain, cancel };

struct module_options {
    /// The name of the module, for messages and for the names of the copies. It must not be empty
    /// or contain '/'.
    std::string name;
    /// The file that the build writes. It is watched, and may be missing for now. A symbolic link
    /// is followed; the link itself is watched, not the file that it leads to.
    std::string path;
    /// Compares the types in exported signatures with those of the host and of other modules. The
    /// module then needs debug information and is refused without it.
    bool compare_types = true;
    /// What happens to tasks that hold the code. A boundary that replaces code waits until nobody
    /// holds it: see at_frame_boundary().
    enum before_swap before_swap = before_swap::drain;
    /// How long a boundary waits at most until nobody holds the code, 0 or more. If several modules
    /// are replaced at once, the longest time counts.
    nanoseconds drain_for = milliseconds(100);
    /// The task_options::module of tasks that hold the code although they do not point into it, for
    /// example because a large capture does. 0 means that there are no such tasks.
    std::uint8_t tag = 0;
};

struct modules_options {
    /// Where the folder with the copies is made. "" means TMPDIR, or /tmp if that is not set. The
    /// system must allow code to run from there. The folder is removed with the modules object. A
    /// process that crashes leaves it, so that a debugger finds the code.
    std::string folder = {};
    /// Watches the folders of the modules, with one thread that sleeps between changes. If this is
    /// off, call check_now().
    bool watch = true;
    /// A lock file that has no process number and that nobody holds counts as left behind when
    /// neither it nor the module has changed for this long. A module's file that is open for
    /// writing for this long is mentioned once.
    nanoseconds lock_still = seconds(10);
    /// Makes replaced code non-executable. A call by a pointer that is older than the reload then
    /// ends the process at once (SIGSEGV), after one sentence with task, function and build-id.
    /// When a thread or the process ends, its destructors may still run in that code. If this is
    /// off, such a call runs the old code, and a call in which an outside thread is at the boundary
    /// ends in the old code. In a trial such a call always ends the child, and the tried code is
    /// refused.
#if defined(BRAID_CHECKED)
    bool stop_stale_calls = true;
#else
    bool stop_stale_calls = false;
#endif
    /// Names a crash in code of a module (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) on the error
    /// output, with task, module, build-id, function and line. Signal handlers that were set before
    /// still receive the signal, and the process ends as it would have ended without this. No
    /// thread jumps out of the handler, because that would leave locks taken and destructors not
    /// run.
    bool name_crashes = true;
    /// How many boundaries after a reload there is a way back: see modules::roll_back(). If state
    /// migrated, its old objects take memory for that long. 0 means that there is no way back.
    unsigned keep_frames = 120;
    /// The file with the host's debug information. "" means the program's own file.
    std::string host = {};
    /// A function that returns the time in ns, for tests. Null means the monotonic clock of the
    /// system.
    std::int64_t (*clock)(void* user) = nullptr;
    void* clock_user = nullptr;
};

/// One file with code, made by modules::add(). It lives as long as the modules object. Any thread
/// may call these functions.
class module {
public:
    ~module();
    module(const module&) = delete;
    module& operator=(const module&) = delete;

    const std::string& name() const;
    bool loaded() const;
    /// Returns the build-id of the code that runs, in hexadecimal, or an empty text while stubs
    /// run.
    std::string build_id() const;
    /// Returns how often new code was put into use. Going back does not count.
    std::size_t loads() const;
    /// Returns the total size in bytes of the files of all code that was ever loaded for this
    /// module. Loaded code stays in the process.
    std::size_t bytes() const;

private:
    friend class modules;
    friend struct detail::import;
    friend struct detail::modules_state;
    friend class detail::state_change;
    explicit module(std::unique_ptr<detail::module_state> state);
    std::unique_ptr<detail::module_state> state_;
};

/// All modules of a program. Reading, checking, copying and loading happen in tasks of the
/// scheduler's background class, or in check_now(). Loading runs the static constructors of the new
/// code. A frame boundary only switches calls to the new code. Loaded code is never unloaded.
///
/// If anything is wrong with a file, the previous code goes on (or the stubs do), and the next
/// boundary reports the reason once.
class modules {
public:
    /// The scheduler must outlive this object.
    explicit modules(scheduler& s, modules_options options = {});
    /// Waits for a check that is running. Loaded code stays in the process. Every `function` and
    /// every arena must be destroyed before.
    ~modules();
    modules(const modules&) = delete;
    modules& operator=(const modules&) = delete;

    /// Adds a module. Any thread may call it. The file is checked at the next opportunity and
    /// whenever it changes. Throws std::invalid_argument if the name or the path is empty, the name
    /// contains '/', or another module has the name; or std::bad_alloc. If it throws, nothing was
    /// added.
    module& add(module_options options);

    /// Replaces the code that runs with new code that passed its checks. Call it between two
    /// frames, from the thread that runs the loop. Modules that were built together and share a
    /// changed type are replaced at the same boundary. It costs one relaxed load if nothing is new,
    /// no trial goes on and there is no way back (modules_options::keep_frames). Otherwise it walks
    /// the functions of the changed modules. No code is replaced while files are checked in the
    /// background.
    ///
    /// Code is replaced only at a safepoint at which nobody holds it: no task, queue, graph, job
    /// list, frame stage, handler or code_holder of the scheduler points into its image, and no
    /// thread that rests has it on its stack. What holds the code is drained, with the help of this
    /// thread, or cancelled (module_options). If something still holds it, the new code is refused,
    /// and the outcome names the holders. The file is then checked again when it changes, or by
    /// check_now(). Finish the frames in flight before the call, so that no frame runs half on old
    /// code. During the call, threads of the program must be in no function of a module, except in
    /// waits of the scheduler, and must make no tasks.
    ///
    /// If types of objects in an arena change, the objects are rebuilt before the first call
    /// switches to the new code. Nobody may use the arena meanwhile. If the objects cannot be
    /// rebuilt, the modules that know the types are refused, and all objects stay as they are.
    ///
    /// At the end it calls the `reloaded` function of each replaced module that exports one
    /// (report.hpp). If that function throws, the outcome says so.
    outcome at_frame_boundary() noexcept;

    /// Makes boundaries try new code in a child process before it replaces other code. A boundary
    /// forks the child, which loads the code, migrates its copy of the state and calls `reloaded`.
    /// The child then calls `frame` as often as the options say, and checks each `reload_invariant`
    /// of the state. Meanwhile the program goes on with the previous code. Each later boundary
    /// polls the child, which costs one system call and reads the clock. Code that did not pass is
    /// refused, with signal, function and source line. Code that passed is loaded into the program
    /// in the background, and calls switch to it at a boundary after that. (If
    /// modules_options::watch is off, the boundary loads the code itself.) So nothing of the code
    /// has run in the program before, not even a static constructor.
    ///
    /// Code that was built together is tried together. The child ends when the thread that was at
    /// the boundary ends. Nothing is tried before the first load. Pass a null `frame` to try no
    /// more code. Call it from the thread that calls at_frame_boundary(). Throws
    /// std::invalid_argument if `within` is not above 0, or std::bad_alloc.
    void try_with(std::function<void(trial&)> frame, trial_options how = {});

    /// Asks the next boundary to go back from the last reload: the modules that it replaced run
    /// their previous code again. If state migrated in that reload, it becomes again what it was
    /// before, and what has happened since is lost. Other state stays as it is. The code that was
    /// given up is not taken again until it is built anew.
    ///
    /// A boundary also goes back when an exception has left a `function` of new code, or when a
    /// `reload_invariant` of the state says that something is wrong. Each boundary asks the
    /// invariants while there is a way back. The way back ends after modules_options::keep_frames
    /// boundaries, and with an arena whose objects migrated. Without a way back, the outcome says
    /// so.
    ///
    /// Any thread may call it. `why` is the reason that the outcome gives; "" means "it was asked
    /// to".
    void roll_back(std::string why = {});

    /// Checks all files now, on this thread. The next boundary then switches calls to new code. Use
    /// it in hosts that do not watch, and for the first load: without it, stubs run until a
    /// background task is done.
    void check_now();

private:
    friend class arena;
    std::unique_ptr<detail::modules_state> state_;
};

}  // namespace reload
BRAID_NAMESPACE_END
