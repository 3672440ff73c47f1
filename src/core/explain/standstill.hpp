#pragma once
// Finds out whether tasks are open while nothing goes on, because no thread runs anything. There
// are two cases. Somebody outside may have promised to end that, for example by a completion or a
// timer. If nobody has, this is a standstill: only a thread that takes no part in the scheduler
// could still act, for example by setting an event.

#include "core/explain/sentence.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns true if a thread waits for an open task. A task that has run and is not complete yet is
/// open, too.
bool somebody_waits_for_a_task(wait_room& rt);

/// Says what can make the open tasks go on.
enum class outlook : std::uint8_t {
    goes_on,  // a thread runs or was woken, or nothing is open
    outside,  // a completion, a timer, a time-out, or a thread outside its waits
    nobody,
};
/// Called by the thread of that seat. Returns what it sees while it looks. Ready tasks do not
/// count: if all threads sleep while a task is ready, then the threads that may run it do not run
/// it in the waits in which they sleep.
outlook look_ahead(wait_room& rt, const wait_seat& looker);

class standstill {
public:
    /// `perhaps` means that the thread should look again, because this may be a moment between two
    /// steps. `news` is a standstill to report, `known` one that was reported, and `ended` means
    /// that the reported one has ended. `outside` means that the state has lasted for
    /// deadlock_options::outside.
    enum class seen : std::uint8_t { goes_on, perhaps, news, known, ended, outside };

    /// Called by the thread of that seat, which has just slept. Only one thread at a time may call
    /// this.
    seen look(wait_room& rt, const wait_seat& looker);
    /// Writes the report. `what` is `news` or `outside`. Returns false if no task could be named
    /// that does not wait for another one.
    static bool describe(wait_room& rt, wait_seat& looker, seen what, sentence& to);

private:
    seen look_outside(const wait_room& rt, std::uint64_t progress, std::uint64_t parks);

    // The progress and the parks when a standstill was last seen. A progress of 0 means that none
    // was seen in the last look.
    std::uint64_t progress_ = 0, parks_ = 0;
    std::int64_t since_ = 0;
    // A standstill is reported when it has lasted for `deadlock_options::after` times `times_`. A
    // thread outside has ended a reported standstill as often as `times_` was raised, so the next
    // standstill says less.
    static constexpr std::int64_t most_times = 4096;
    std::int64_t times_ = 1;
    bool is_reported_ = false;
    // These are the same values for a state that somebody outside may end.
    std::uint64_t outside_progress_ = 0, outside_parks_ = 0;
    std::int64_t outside_since_ = 0;  // 0 if it was not seen in the last look
    bool outside_is_reported_ = false;
};

}  // namespace detail
BRAID_NAMESPACE_END
