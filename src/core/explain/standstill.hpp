#pragma once
// Detects that tasks are open although no thread runs anything. There are two cases. If a
// completion, a timer or the like is outstanding, something outside may end this state. If not, the
// state is a standstill: only a thread that takes no part in the scheduler could still act, for
// example by setting an event.

#include "core/explain/sentence.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns true if a thread waits for an open task. A task that has run and is not complete yet is
/// open, too.
bool somebody_waits_for_a_task(wait_room& rt);

/// Says what may make the open tasks go on.
enum class outlook : std::uint8_t {
    goes_on,  // a thread runs or was woken, or nothing is open
    outside,  // a completion, a timer, a time-out, or a thread outside its waits
    nobody,   // nothing that the scheduler knows of
};
/// Called by the thread of the seat `looker`. Checks all threads, sources and waits one after the
/// other, so the answer may be outdated when it returns. Ready tasks do not count: if a task is
/// ready while all threads sleep, the threads that may run it are in waits that do not run it.
outlook look_ahead(wait_room& rt, const wait_seat& looker);

class standstill {
public:
    /// `perhaps` means that nothing goes on, but the thread should check again, because this may be
    /// a moment between two steps. `news` is a standstill to report, `known` one that was reported
    /// before. `ended` means that the reported one has ended. `outside` means that a state that
    /// something outside may end has lasted for deadlock_options::outside.
    enum class seen : std::uint8_t { goes_on, perhaps, news, known, ended, outside };

    /// Called by the thread of the seat `looker`, which has just slept. Only one thread at a time
    /// may call this.
    seen look(wait_room& rt, const wait_seat& looker);
    /// Writes the report. `what` is `news` or `outside`. Returns true if the report names a task
    /// that does not wait for another task.
    static bool describe(wait_room& rt, wait_seat& looker, seen what, sentence& to);

private:
    seen look_outside(const wait_room& rt, std::uint64_t progress, std::uint64_t parks);

    // The counts of progress and of parks at the last check. `progress_` is 0 if that check saw no
    // standstill.
    std::uint64_t progress_ = 0, parks_ = 0;
    std::int64_t since_ = 0;
    // A standstill is reported when it has lasted for `deadlock_options::after` times `times_`.
    // `times_` grows each time that a thread outside ends a reported standstill, because later
    // standstills then mean less.
    static constexpr std::int64_t most_times = 4096;
    std::int64_t times_ = 1;
    bool is_reported_ = false;
    // These are the same values for a state that something outside may end.
    std::uint64_t outside_progress_ = 0, outside_parks_ = 0;
    std::int64_t outside_since_ = 0;  // 0 if the last check did not see it
    bool outside_is_reported_ = false;
};

}  // namespace detail
BRAID_NAMESPACE_END
