#pragma once
// Tasks are open, and nothing goes on: no thread runs anything. Either somebody outside has
// promised to end that, as by a completion or a timer; or nobody has, and only a thread that takes
// no part in the scheduler could still act, as by setting an event: a standstill.

#include "core/explain/sentence.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// True if a thread waits for an open task, also for one that has run and is not complete yet.
bool somebody_waits_for_a_task(wait_room& rt);

/// Who can make the open tasks go on.
enum class outlook : std::uint8_t {
    goes_on,  // a thread runs or was woken, or nothing is open
    outside,  // a completion, a timer, a time-out, or a thread outside its waits
    nobody,
};
/// By the thread of that seat, as it sees it while it looks. What is ready all the same is so for
/// threads that do not run it in the waits where they sleep.
outlook look_ahead(wait_room& rt, const wait_seat& looker);

class standstill {
public:
    /// `perhaps`: look again, it may be a moment between two. `ended`: the one that was reported.
    /// `outside`: it has lasted for deadlock_options::outside.
    enum class seen : std::uint8_t { goes_on, perhaps, news, known, ended, outside };

    /// By the thread of that seat, which has just slept; one thread at a time.
    seen look(wait_room& rt, const wait_seat& looker);
    /// `what`: `news` or `outside`. False: no task could be named that does not wait for another
    /// one.
    static bool describe(wait_room& rt, wait_seat& looker, seen what, sentence& to);

private:
    seen look_outside(const wait_room& rt, std::uint64_t progress, std::uint64_t parks);

    // How much had happened when it was last seen; 0: it was not.
    std::uint64_t progress_ = 0, parks_ = 0;
    std::int64_t since_ = 0;
    // How many times `deadlock_options::after` it has to last. A thread outside has acted as often
    // as it was raised, so the next one says less.
    static constexpr std::int64_t most_times = 4096;
    std::int64_t times_ = 1;
    bool is_reported_ = false;
    // The same for what somebody outside may end.
    std::uint64_t outside_progress_ = 0, outside_parks_ = 0;
    std::int64_t outside_since_ = 0;  // 0: it was not seen in the last look
    bool outside_is_reported_ = false;
};

}  // namespace detail
BRAID_NAMESPACE_END
