// A policy: a thread that has nothing else to do leaves tasks alone that are smaller than a steal
// costs. Asked for by tasks.spawn.t2 and tasks.post.t2, empty tasks on two threads, where a thief
// only slows their owner down. See docs/design/policies.md.
#include "core/ready/ready_room.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A stolen task is worth it if it takes longer than its lines take from core to core. While those
/// stolen last did not, the thread only watches, and steals again a little later.
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
    if (now >= w.steal_again) return true;
    if constexpr (policies::unclaimed) {
        return sees_unclaimed(w, now);
    } else {
        return false;
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
