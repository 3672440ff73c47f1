// A policy: a thread that has nothing else to do leaves tasks alone that are smaller than a steal
// costs. Asked for by tasks.spawn.t2 and tasks.post.t2, empty tasks on two threads, where a thief
// only slows their owner down. See docs/design/policies.md.
#include "core/ready/ready_room.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Measures how long a line takes from core to core: the claims fetch the lines of the ring, and
/// many claims take time of their own. That depends on the cores that the two threads run on, about
/// 60 ns where they share one, 150 where they do not.
void note_claims(ready_seat& w, std::size_t count, std::int64_t ns) {
    constexpr std::int64_t most_ns = 500;  // or the thread was off its core
    const auto lines = static_cast<std::int64_t>(1 + count / 4);
    const std::int64_t line_ns = std::min(ns / lines, most_ns);
    w.fetch_ns = w.fetch_ns == 0 ? line_ns : w.fetch_ns + (line_ns - w.fetch_ns) / 4;
}

/// A stolen task is worth it if it takes longer than its lines take from core to core. While those
/// stolen last did not, the thread only watches, and steals again a little later.
bool ready_room::steals_pay(ready_seat& w) const {
    // A stolen task moves its slot, its closure, its end and what its waiter looks at.
    constexpr std::int64_t lines = 8;
    constexpr std::int64_t shortest_ns = 1'000, longest_ns = 20'000;
    if (w.stole == 0 && w.steal_pause == 0) return true;
    const std::int64_t now = active_policy::now();
    if (w.stole != 0) {
        const std::int64_t each =
            (now - w.stole_at - lines * w.fetch_ns) / std::exchange(w.stole, 0);
        const topology* const machine = places();
        // A slow core leaves small tasks to the others for longer.
        const bool slow = machine != nullptr && machine->slow(platform::current_core());
        const std::int64_t worth_ns = slow ? 1'000 : w.fetch_ns;
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
