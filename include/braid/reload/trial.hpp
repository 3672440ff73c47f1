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
    /// How often the function of the trial is called, 0 or more. With 0, the code is loaded, the
    /// state migrates, `reloaded` is called, and the invariants are checked.
    unsigned frames = 2;
    /// The time for everything that the child does, above 0. After this time the child is ended and
    /// the code is refused.
    nanoseconds within = seconds(2);
};

/// What the function of a trial receives. The function runs in the child, where only the thread of
/// the boundary goes on. The child has a copy of all memory, and what it changes is gone
/// afterwards.
///
/// The function itself must leave alone what the copy still shares with the program. It draws
/// nothing, plays nothing, writes to no file, socket or device, and takes no lock that another
/// thread of the program might have had. What it writes to standard output is discarded; standard
/// error stays open.
class trial {
public:
    /// Returns a scheduler without workers, for the tasks of the code. The program's own schedulers
    /// have no threads in the child and must not be used.
    scheduler& tasks() const;
    /// Returns the number of the frame, 0 to trial_options::frames - 1.
    unsigned frame() const;
    /// Reports that the code does not do what it should. The code is refused with these words (at
    /// most 191 bytes of them), and no further frame is called. An exception that leaves the
    /// function has the same effect.
    void fail(std::string_view why);

private:
    friend struct detail::trial_run;
    explicit trial(detail::trial_run& run) : run_(run) {}
    detail::trial_run& run_;
};

}  // namespace reload
BRAID_NAMESPACE_END
