// Whether a thread that has nothing else to do should steal small tasks.
#include "core/ready/ready_room.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// While a thread does not steal: somebody has a few tasks, the oldest of which is the one of 2 µs
/// ago. Their owner does not come to them; perhaps it posts one now and then, and runs none.
bool lies_unclaimed(const ready_room& rt, ready_seat& w, std::int64_t now) {
    constexpr std::int64_t between_ns = 2'000;
    constexpr unsigned few = 4;
    if (now < w.unclaimed_again) return false;
    w.unclaimed_again = now + between_ns;
    std::uint64_t oldest = 0;
    const unsigned count = rt.seat_count();
    for (unsigned i = 0; i < count && oldest == 0; ++i) {
        ready_seat& victim = rt.seat_at(i);
        if (&victim == &w) continue;
        unsigned found = 0;
        std::uint64_t first = 0;
        victim.ready[normal_level].claim_oldest_if(
            [&](std::uint64_t id) {
                if (found++ == 0) first = id;
                return false;
            },
            few + 1);
        if (found <= few) oldest = first;
    }
    return oldest != 0 && oldest == std::exchange(w.unclaimed, oldest);
}

}  // namespace

/// A stolen task is worth it if it takes longer than its lines take from core to core. While those
/// stolen last did not, a thread that has nothing else to do only watches and steals again a little
/// later: it would slow their owner down.
bool ready_room::steals_pay(ready_seat& w) const {
    constexpr std::int64_t fetch_ns = 200, shortest_ns = 1'000, longest_ns = 20'000;
    if (w.stole == 0 && w.steal_pause == 0) return true;
    const std::int64_t now = active_policy::now();
    if (w.stole != 0) {
        const std::int64_t each = (now - w.stole_at - fetch_ns) / std::exchange(w.stole, 0);
        const topology* const machine = places();
        // A slow core leaves small tasks to the others for longer.
        const bool slow = machine != nullptr && machine->slow(platform::current_core());
        const std::int64_t worth_ns = slow ? 1'000 : 120;
        w.steal_pause =
            each < worth_ns ? std::clamp(w.steal_pause * 2, shortest_ns, longest_ns) : 0;
        w.steal_again = now + w.steal_pause;
    }
    return now >= w.steal_again || lies_unclaimed(*this, w, now);
}

}  // namespace detail
BRAID_NAMESPACE_END
