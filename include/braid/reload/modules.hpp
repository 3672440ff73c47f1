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

/// What a frame boundary did. True: something was loaded or refused.
class [[nodiscard]] outcome {
public:
    explicit operator bool() const { return loaded_ + refused_ != 0; }
    /// Modules whose new code runs from here on, and files that were not taken.
    unsigned loaded() const { return loaded_; }
    unsigned refused() const { return refused_; }
    /// How many of the loaded ones went back to the code before: see modules::roll_back().
    unsigned rolled_back() const { return rolled_back_; }
    /// What the boundary did to the objects in arenas; all 0 where they stay where they are.
    struct migration {
        std::uint64_t objects = 0;  // that were built anew, elements of containers included
        std::uint64_t bytes = 0;    // their size
        std::uint64_t outside = 0;  // pointers that lead out of the state, to where they led
        nanoseconds time{0};
    };
    const migration& migrated() const { return migrated_; }
    /// Where state went over, or was refused to: a line for each field that changes, comes or goes.
    /// Then, for each module that was reloaded, a line for each static of the code before, because
    /// it begins anew: variables of static storage that are not constant. "": there are none.
    const std::string& table() const { return table_; }
    /// One sentence; "" when nothing happened. Valid as long as this object.
    const char* text() const { return fixed_ != nullptr ? fixed_ : text_.c_str(); }

private:
    friend struct detail::modules_state;
    unsigned loaded_ = 0, refused_ = 0, rolled_back_ = 0;
    std::string text_, table_;
    migration migrated_;
    const char* fixed_ = nullptr;  // where there was no memory for a text
};

/// What becomes of tasks that hold the code that is to be replaced, and have not begun.
enum class before_swap : std::uint8_t { drain, cancel };

struct module_options {
    /// For messages, and the name of the copies. Not empty; without '/'.
    std::string name;
    /// Where the build puts it; watched, and may be missing for now. A symbolic link is followed,
    /// and watched itself, not the file that it leads to.
    std::string path;
    /// Compare the types in exported signatures with the host's and with those of other modules.
    /// For that the module needs debug information, and is refused without.
    bool compare_types = true;
    /// A boundary that replaces code waits until nobody holds it: see at_frame_boundary().
    enum before_swap before_swap = before_swap::drain;
    /// For that long at most, 0 or more. Of modules that are replaced at once the longest counts.
    nanoseconds drain_for = milliseconds(100);
    /// task_options::module of tasks that hold the code although they do not point into it, for
    /// example because a large capture does. 0: there are none.
    std::uint8_t tag = 0;
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
    /// it nor the module has changed for so long. A module's file that is open for writing for so
    /// long is mentioned once.
    nanoseconds lock_still = seconds(10);
    /// Code that was replaced loses the right to run, so that a call by a pointer which is older
    /// than the reload ends the process at once (SIGSEGV), after one sentence with task, function
    /// and build-id. A thread that ends, and the process, may still run its destructors. Off, such
    /// a call runs the old code, and one that a thread outside is in at the boundary ends there. In
    /// a trial such a call always ends the child, and the code that was tried is refused.
#if defined(BRAID_CHECKED)
    bool stop_stale_calls = true;
#else
    bool stop_stale_calls = false;
#endif
    /// A crash in code of a module (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) is named on the error
    /// output: task, module, build-id, function and line. What handled such signals before goes on
    /// to get them, and the process ends as it would have: a thread that jumped out of the handler
    /// would leave locks taken and destructors not run.
    bool name_crashes = true;
    /// For so many boundaries after a reload there is a way back: see modules::roll_back(). The old
    /// objects of a state that went over need memory for so long. 0: there is none.
    unsigned keep_frames = 120;
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
    friend class detail::state_change;
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
    /// Nothing new: one relaxed load. While files are checked in the background, nothing is
    /// replaced. Otherwise it walks the functions of the changed modules.
    ///
    /// Code is replaced only at a safepoint at which nobody holds it: no task, queue, graph, job
    /// list, frame stage, handler or code_holder of the scheduler points into its image, and no
    /// thread that rests has it on its stack. What holds it is drained, with the help of this
    /// thread, or cancelled (module_options); what then remains refuses the new code, by name. That
    /// file is looked at again when it changes, or by check_now(). Finish frames in flight before,
    /// so that none is half old. Threads of the program, other than in waits of the scheduler, are
    /// in no function of a module meanwhile, and make no tasks.
    ///
    /// Where types of objects in an arena change, those are built anew before the first call goes
    /// over, and nobody uses the arena meanwhile. If they cannot be, the modules that know the
    /// types are refused, and all objects stay as they are.
    ///
    /// Then each replaced module's `reloaded` is called, if it exports one (report.hpp).
    outcome at_frame_boundary() noexcept;

    /// From here on code that is to replace other code is tried first: a boundary forks a child,
    /// which loads it, lets its copy of the state go over and calls `reloaded`, then `frame` so
    /// often as the options say, and what `reload_invariant` has to say of the state after that.
    /// Meanwhile the program goes on with the code before. A later boundary looks how it ended,
    /// which costs two calls of the system per frame; what did not pass is refused by signal,
    /// function and source line, and what did is loaded here, and goes over at the boundary after.
    /// So nothing of the code has run in the program before, not even a static constructor.
    ///
    /// Code that was built together is tried together. The child ends when the thread ends that was
    /// at the boundary. Nothing is tried before the first load. Null: no trials any more. From the
    /// thread that calls at_frame_boundary(). Throws std::invalid_argument: `within` is not above
    /// 0; or std::bad_alloc.
    void try_with(std::function<void(trial&)> frame, trial_options how = {});

    /// At the next boundary the modules that the last reload replaced go back to the code before.
    /// If state went over then, it is again as it was then, and what has happened since is lost;
    /// other state stays as it is. What went back is not taken again until it is built anew. So it
    /// is, too, when an exception leaves a `function` of new code, or a `reload_invariant` of the
    /// state says that something is wrong: while there is a way back, each boundary asks. Any
    /// thread. `why`: for the outcome; "": "it was asked to". Without a way back the outcome says
    /// so; it ends, too, with an arena whose objects went over.
    void roll_back(std::string why = {});

    /// Looks at all files now, on this thread; the next boundary lets calls go over. For hosts that
    /// do not watch, and for the first load: without it, stubs run until a background task is done.
    void check_now();

private:
    friend class arena;
    std::unique_ptr<detail::modules_state> state_;
};

}  // namespace reload
BRAID_NAMESPACE_END
