#pragma once
// A trial runs new code in a child process before any of the code runs in the program.
//
//   modules.try_with([&](reload::trial& trial) { simulate_one_frame(trial.tasks()); });

#include "braid/base/time.hpp"
#include "braid/base/version.hpp"

#include <string_view>

BRAID_NAMESPACE_BEGIN

class scheduler;

namespace reload {

namespace detail {
struct trial_run;
}

struct trial_options {
    /// How many times the trial calls the function that was passed to modules::try_with(), 0 or
    /// more. If it is 0, the child still loads the code, migrates the state, calls `reloaded` and
    /// checks the invariants.
    unsigned frames = 2;
    /// The time limit for the whole child process. It must be above 0. If the child takes longer,
    /// it is terminated and the code is refused.
    nanoseconds within = seconds(2);
};

/// The argument of the function that was passed to modules::try_with(). The function runs in the
/// child process, in which only the thread of the boundary exists. The child has a copy of all
/// memory, so its changes to memory do not reach the program.
///
/// The function must not touch resources that the child shares with the program. It must not draw
/// or play anything, and must not write to files, sockets or devices. It must not take a lock that
/// another thread of the program may have held at the fork. Standard output of the child is
/// discarded, and standard error stays open.
class trial {
public:
    /// Returns a scheduler without workers. Run the tasks of the tried code on this scheduler. The
    /// program's own schedulers have no threads in the child and must not be used.
    scheduler& tasks() const;
    /// Returns the number of the current frame, 0 to trial_options::frames - 1.
    unsigned frame() const;
    /// Reports that the tried code is wrong. The code is refused with `why` as the reason. `why` is
    /// truncated to 191 bytes. The function passed to modules::try_with() is not called for another
    /// frame. An exception that leaves that function has the same effect.
    void fail(std::string_view why);

private:
    friend struct detail::trial_run;
    explicit trial(detail::trial_run& run) : run_(run) {}
    detail::trial_run& run_;
};

}  // namespace reload
BRAID_NAMESPACE_END
