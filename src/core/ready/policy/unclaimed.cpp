// A policy: a thread to which steals do not pay takes a task all the same if its owner does not
// come to it, and takes the next one at once if nobody is at work. Asked for by upkeep.post.5us and
// wait.gap.10, where a thread posts and runs nothing: a task waited there for the end of the
// thief's pause. See docs/design/policies.md.
#include "core/ready/ready_room.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns true if somebody has a few tasks, the oldest of which was the oldest 2 µs ago, too. Also
/// if nobody had a task or finished one between two looks: then a steal slows nobody down, so this
/// pause ends. How long it was is kept, as the next tasks may be small ones of a busy owner.
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

/// The counters lie on lines that their owners write with each task, so this is asked seldom.
std::uint64_t ready_room::executed_by_others(const ready_seat& w) const {
    std::uint64_t sum = 0;
    for (unsigned i = 0, count = seat_count(); i < count; ++i) {
        // relaxed: compared with what it was, nothing else is read by it.
        if (i != w.index) sum += seat_at(i).counters.executed.load(relaxed);
    }
    return sum;
}

}  // namespace detail
BRAID_NAMESPACE_END
