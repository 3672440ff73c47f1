// This policy adds an exception to steals_pay.cpp. A thread for which steals do not pay takes a
// task anyway if the task's owner does not run it. If no other thread is at work, it takes the next
// task at once. The benchmarks upkeep.post.5us and wait.gap.10 asked for this. In them a thread
// posts tasks and runs none, so each task waited for the end of the thief's pause. See
// docs/design/policies.md.
#include "core/ready/ready_room.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns true if another thread has only a few tasks, and its oldest task has not changed for 2
/// µs. Also returns true if no other thread had a task or finished one between two calls. A steal
/// then slows no thread down, so the current pause ends. The length of the pause is remembered,
/// because the next tasks may be small tasks of a busy owner.
bool ready_room::sees_unclaimed(ready_seat& w, std::int64_t now) const {
    constexpr std::int64_t between_ns = 2'000;
    constexpr unsigned few = 4;
    if (now < w.unclaimed_again) return false;
    w.unclaimed_again = now + between_ns;
    std::uint64_t oldest = 0;
    bool nothing_lies_there = true;
    const unsigned count = seat_count();
    for (unsigned i = 0; i < count && oldest == 0; ++i) {
        ready_seat& victim = seat_at(i);
        if (&victim == &w) continue;
        unsigned found = 0;
        std::uint64_t first = 0;
        victim.ready[normal_level].claim_oldest_if(
            [&](std::uint64_t id) {
                if (found++ == 0) first = id;
                return false;
            },
            few + 1);
        if (found != 0) nothing_lies_there = false;
        if (found <= few) oldest = first;
    }
    const std::uint64_t ran = nothing_lies_there ? 1 + executed_by_others(w) : 0;
    if (ran == std::exchange(w.ran_elsewhere, ran) && ran != 0) {
        w.steal_again = now;
        return true;
    }
    return oldest != 0 && oldest == std::exchange(w.unclaimed, oldest);
}

/// Returns how many tasks the other threads have executed. The threads write these counters with
/// each task, so reading them costs cache misses, and this is called seldom.
std::uint64_t ready_room::executed_by_others(const ready_seat& w) const {
    std::uint64_t sum = 0;
    for (unsigned i = 0, count = seat_count(); i < count; ++i) {
        // relaxed: the sum is only compared with an earlier sum. No other data is read because of
        // it.
        if (i != w.index) sum += seat_at(i).report.counters.executed.load(relaxed);
    }
    return sum;
}

}  // namespace detail
BRAID_NAMESPACE_END
