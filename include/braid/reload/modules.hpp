#pragma once
// Reloads parts of a program while it runs. The host adds one module for each file with reloadable
// code. When a build has written a new file, the host switches calls to the new code between two
// frames. This header is part of the library braid::reload.
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

/// Reports what a frame boundary did. It converts to true if the boundary loaded, refused or
/// reported something.
class [[nodiscard]] outcome {
public:
    explicit operator bool() const { return loaded_ + refused_ != 0; }
    /// loaded() returns the number of modules that switched to other code. refused() returns the
    /// number of refused files plus the number of other problems that text() reports.
    unsigned loaded() const { return loaded_; }
    unsigned refused() const { return refused_; }
    /// Returns how many of the loaded modules went back to their previous code. See
    /// modules::roll_back().
    unsigned rolled_back() const { return rolled_back_; }
    /// Counts the objects in arenas that the boundary migrated. All fields are 0 if no object was
    /// rebuilt.
    struct migration {
        std::uint64_t objects = 0;  // rebuilt objects and elements of containers
        std::uint64_t bytes = 0;    // size of these objects
        std::uint64_t outside = 0;  // pointers to memory outside the state; not changed
        nanoseconds time{0};
    };
    const migration& migrated() const { return migrated_; }
    /// Returns a table of changes, or "" if there are none. If state migrated or its migration was
    /// refused, the table has a line for each field that changes, is added or is dropped. After
    /// these lines, the table lists the variables of each reloaded module that start again with
    /// their initial values. These are all variables with static storage in the previous code that
    /// are not constant.
    const std::string& table() const { return table_; }
    /// Returns one sentence about the boundary, or "" if nothing happened. The text is valid as
    /// long as this object.
    const char* text() const { return fixed_ != nullptr ? fixed_ : text_.c_str(); }

private:
    friend struct detail::modules_state;
    unsigned loaded_ = 0, refused_ = 0, rolled_back_ = 0;
    std::string text_, table_;
    migration migrated_;
    const char* fixed_ = nullptr;  // if not null, text() returns this
};

/// Selects what a boundary does with tasks that hold replaced code and have not started. `drain`
/// waits until these tasks have run. `cancel` cancels these tasks.
enum class before_swap : std::uint8_t { drain, cancel };

struct module_options {
    /// The name of the module. It appears in messages and in the file names of the copies that are
    /// loaded. It must not be empty or contain '/'.
    std::string name;
    /// The file that the build writes. The library watches the file, which need not exist yet. The
    /// path may be a symbolic link. If it is one, the library notices changes to the link, but not
    /// changes to the file that the link points to.
    std::string path;
    /// If true, the types in exported signatures are compared with the types of the host and of
    /// other modules. The module then needs debug information and is refused without it.
    bool compare_types = true;
    /// Selects what happens to tasks that hold this module's code when a boundary replaces the
    /// code. See modules::at_frame_boundary().
    enum before_swap before_swap = before_swap::drain;
    /// The longest time that a boundary waits until nothing holds the code, 0 or more. If several
    /// modules are replaced at one boundary, the largest value is used.
    nanoseconds drain_for = milliseconds(100);
    /// Every task with this number in task_options::module is treated as a holder of the code. Use
    /// it for tasks whose pointers into the code cannot be found, for example because they are in a
    /// large capture. 0 means that there are no such tasks.
    std::uint8_t tag = 0;
};

struct modules_options {
    /// The folder in which the modules object makes a folder for the copies that are loaded. ""
    /// means TMPDIR, or /tmp if TMPDIR is not set. The operating system must allow code to run from
    /// there. The destructor of the modules object removes the folder with the copies. A process
    /// that crashes does not remove this folder, so a debugger can find the code.
    std::string folder = {};
    /// If true, one thread watches the folders of the modules and sleeps between changes. If false,
    /// the program must call check_now().
    bool watch = true;
    /// The time after which a lock file without an owner is ignored. A lock file has no owner if no
    /// process holds it with flock() and it contains no process ID. The time starts again when the
    /// lock file or the module's file changes. A module's file that stays open for writing for this
    /// long is reported once.
    nanoseconds lock_still = seconds(10);
    /// If true, replaced code is made non-executable. A call of replaced code through an old
    /// pointer then prints one message with task, function and build-id and ends the process with
    /// SIGSEGV. Destructors that run when a thread or the process ends may still run in replaced
    /// code. If false, a call through an old pointer runs the replaced code, and a thread outside
    /// the scheduler that is inside the code during the boundary finishes its call there. In a
    /// trial, a call through an old pointer always ends the child, and the tried code is refused.
#if defined(BRAID_CHECKED)
    bool stop_stale_calls = true;
#else
    bool stop_stale_calls = false;
#endif
    /// If true, a crash in a module's code (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) prints a
    /// message to standard error. The message contains task, module, build-id, function and line.
    /// Signal handlers that the program installed earlier still receive the signal, and the process
    /// ends as it would have ended without this option. The library does not recover from the
    /// crash, because a jump out of the handler would leave locks held and destructors not run.
    bool name_crashes = true;
    /// The number of boundaries after a reload during which the program can go back to the previous
    /// code. See modules::roll_back(). If state migrated, the old objects stay in memory for that
    /// long. 0 means that the program can never go back.
    unsigned keep_frames = 120;
    /// The file with the host's debug information. "" means the program's own file.
    std::string host = {};
    /// A function that returns the time in ns, for tests. If it is null, the operating system's
    /// monotonic clock is used.
    std::int64_t (*clock)(void* user) = nullptr;
    void* clock_user = nullptr;
};

/// A file with reloadable code. modules::add() makes it, and it lives as long as the modules
/// object. Any thread may call these functions.
class module {
public:
    ~module();
    module(const module&) = delete;
    module& operator=(const module&) = delete;

    const std::string& name() const;
    bool loaded() const;
    /// Returns the build-id of the code that is in use, in hexadecimal. Returns an empty text if
    /// the stubs are in use.
    std::string build_id() const;
    /// Returns how often a boundary has switched this module to new code. A return to previous code
    /// is not counted.
    std::size_t loads() const;
    /// Returns the total size in bytes of all files that were ever loaded for this module. Loaded
    /// code stays in the process.
    std::size_t bytes() const;

private:
    friend class modules;
    friend struct detail::import;
    friend struct detail::modules_state;
    friend class detail::state_change;
    explicit module(std::unique_ptr<detail::module_state> state);
    std::unique_ptr<detail::module_state> state_;
};

/// Holds the modules of a program. Files are read, checked, copied and loaded in tasks of the
/// scheduler's background class, or in check_now(). Loading a file runs the static constructors of
/// the new code. A frame boundary only switches calls to the new code. Loaded code is never
/// unloaded.
///
/// If anything is wrong with a file, the previous code or the stubs stay in use, and the next
/// boundary reports the reason once.
class modules {
public:
    /// The scheduler must outlive this object.
    explicit modules(scheduler& s, modules_options options = {});
    /// Waits for a running check of files. Loaded code stays in the process. Every `function` and
    /// every arena of this object must be destroyed first.
    ~modules();
    modules(const modules&) = delete;
    modules& operator=(const modules&) = delete;

    /// Adds a module. Any thread may call add(). The module's file is checked as soon as possible
    /// and whenever it changes. Throws std::invalid_argument if the name or the path is empty, if
    /// the name contains '/', or if another module has the same name. Throws std::bad_alloc if
    /// there is no memory. If add() throws an exception, no module is added.
    module& add(module_options options);

    /// Switches calls to new code that has passed its checks. Call it between two frames, from the
    /// thread that runs the frame loop. Modules that were built together and share a changed type
    /// are replaced at the same boundary. The call costs one relaxed load if there is no new code,
    /// no trial is running and the program cannot go back (modules_options::keep_frames). Otherwise
    /// the call visits each `function` of the changed modules. No code is replaced while files are
    /// being checked in the background.
    ///
    /// Code is replaced only at a safepoint at which nothing holds the old code. A task, queue,
    /// graph, job list, frame stage, handler or code_holder of the scheduler holds the code if it
    /// points into the code's image. A thread that rests at the safepoint holds the code if the
    /// code is on the thread's stack.
    ///
    /// The boundary waits up to module_options::drain_for until no task, job, queued work or thread
    /// holds the code. The calling thread helps to run this work. Tasks that have not started can
    /// be cancelled instead (module_options::before_swap). If something still holds the code after
    /// this time, the new code is refused, and the outcome lists the holders. If anything else
    /// holds the code, for example a graph, a frame stage or a handler, the new code is refused at
    /// once. A refused file is checked again when it changes, or when check_now() is called.
    ///
    /// Finish the frames in flight before the call, so that no frame runs partly on old code.
    /// During the call, the program's own threads must not make tasks. They must not be inside a
    /// function of a module, except in a wait of the scheduler.
    ///
    /// If the types of objects in an arena change, the boundary rebuilds the objects before it
    /// switches the first call to the new code. No thread may use the arena during the rebuild. If
    /// the objects cannot be rebuilt, the modules that know these types are refused, and all
    /// objects stay unchanged.
    ///
    /// Finally, the boundary calls the function `reloaded` in each replaced module that exports
    /// `reloaded` (see report.hpp). If `reloaded` throws an exception, the outcome reports this.
    outcome at_frame_boundary() noexcept;

    /// Makes boundaries try new code in a child process before the code replaces other code. A
    /// boundary forks the child. The child loads the code, migrates its copy of the state and calls
    /// `reloaded`. Then the child calls `frame` as often as trial_options::frames says, and checks
    /// each `reload_invariant` of the state. While the child runs, the program runs the previous
    /// code. Each later boundary polls the child. A poll costs one system call and one read of the
    /// clock. If code fails its trial, the code is refused, and the outcome reports the signal, the
    /// function and the source line. If code passes its trial, the program loads the code in the
    /// background, and a later boundary switches calls to it. If modules_options::watch is false,
    /// the boundary itself loads the code. No part of the code runs in the program before the trial
    /// has passed, not even a static constructor.
    ///
    /// Modules that were built together are tried together. The child is killed when the thread
    /// that forked it ends. Code is not tried if none of its modules has been loaded before. Pass a
    /// null `frame` to stop trying new code. Call try_with() from the thread that calls
    /// at_frame_boundary(). Throws std::invalid_argument if `within` is not above 0, and
    /// std::bad_alloc if there is no memory.
    void try_with(std::function<void(trial&)> frame, trial_options how = {});

    /// Asks the next boundary to undo the last reload. The modules that were replaced in that
    /// reload run their previous code again. If state migrated in that reload, the old objects are
    /// restored, and all later changes to the state are lost. State that did not migrate is not
    /// changed. The code that was undone is not loaded again until it is rebuilt.
    ///
    /// The program can go back until modules_options::keep_frames boundaries have passed since the
    /// reload. This period ends earlier if an arena whose objects migrated in the reload is
    /// destroyed. The program cannot go back after the first load of a module, or after a migration
    /// of objects whose type can only be moved. If roll_back() is called when the program cannot go
    /// back, the next outcome reports this. During the period, a boundary goes back without a call
    /// of roll_back() if a call of new code through a `function` has thrown an exception, or if a
    /// `reload_invariant` of the state reports an error. At each boundary in this period, the
    /// library calls the invariants.
    ///
    /// Any thread may call roll_back(). `why` is the reason that the outcome reports. If `why` is
    /// empty, the reason is "it was asked to".
    void roll_back(std::string why = {});

    /// Checks all files now, on the calling thread, and loads new code. The next boundary then
    /// switches calls to the new code. Call check_now() if modules_options::watch is false. Call it
    /// for the first load, too, because otherwise the stubs run until a background task has loaded
    /// the code.
    void check_now();

private:
    friend class arena;
    std::unique_ptr<detail::modules_state> state_;
};

}  // namespace reload
BRAID_NAMESPACE_END
