// This policy makes a thread without other work leave tasks alone that are smaller than the cost of
// a steal. The benchmarks tasks.spawn.t2 and tasks.post.t2 asked for it. They run empty tasks on
// two threads, where a thief only slows the tasks' owner down. See docs/design/policies.md.
#include "core/ready/ready_room.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Measures how long a cache line takes to get from one core to another. `ns` is the time that the
/// claims of a steal took. They fetch the lines of the ring, and many claims take time of their
/// own. The result depends on the cores of the two threads: about 60 ns where the threads share a
/// core, 150 ns where they do not.
void note_claims(ready_seat& w, std::size_t count, std::int64_t ns) {
    constexpr std::int64_t most_ns = 500;  // a longer time means that the thread was off its core
    const auto lines = static_cast<std::int64_t>(1 + count / 4);
    const std::int64_t line_ns = std::min(ns / lines, most_ns);
    w.fetch_ns = w.fetch_ns == 0 ? line_ns : w.fetch_ns + (line_ns - w.fetch_ns) / 4;
}

/// Returns true if the thread may steal now. A steal pays if a stolen task runs longer than its
/// cache lines take from core to core. If the tasks of the last steal did not, the thread does not
/// steal during a pause. The pause doubles after each steal that does not pay.
bool ready_room::steals_pay(ready_seat& w) const {
    // The cache lines that a stolen task moves: its slot, its closure, its end, and what its waiter
    // reads.
    constexpr std::int64_t lines = 8;
    constexpr std::int64_t shortest_ns = 1'000, longest_ns = 20'000;
    if (w.stole == 0 && w.steal_pause == 0) return true;
    const std::int64_t now = active_policy::now();
    if (w.stole != 0) {
        const std::int64_t each =
            (now - w.stole_at - lines * w.fetch_ns) / std::exchange(w.stole, 0);
        const topology* const machine = places();
        // A slow core leaves somewhat larger tasks to the other cores, too.
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
