#pragma once
// New code is tried in a child process before a line of it runs in the program.
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
    /// How often the function is called, 0 or more. 0: the code is loaded and the state goes over,
    /// and that is all.
    unsigned frames = 2;
    /// For everything that the child does, above 0. Then it is ended, and the code refused.
    nanoseconds within = seconds(2);
};

/// What the function of a trial is given. In the child, where only the thread of the boundary goes
/// on: it has a copy of all memory, and what it changes is gone afterwards.
///
/// What the copy does not hold apart is the function's business: it draws nothing, plays nothing,
/// writes to no file, socket or device, and takes no lock that another thread of the program might
/// have had. The output stream is closed, the error stream is not.
class trial {
public:
    /// For the code's tasks: one without workers. The program's own schedulers have no threads in
    /// the child, and must not be used.
    scheduler& tasks() const;
    /// 0 … trial_options::frames - 1
    unsigned frame() const;
    /// The code does not do what it should: it is refused with these words, and no further frame is
    /// called. So is an exception that leaves the function.
    void fail(std::string_view why);

private:
    friend struct detail::trial_run;
    explicit trial(detail::trial_run& run) : run_(run) {}
    detail::trial_run& run_;
};

}  // namespace reload
BRAID_NAMESPACE_END
