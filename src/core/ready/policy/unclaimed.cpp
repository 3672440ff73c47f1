// A policy: a thread to which steals do not pay takes a task all the same if its owner does not
// come to it. Asked for by upkeep.post.5us, where a thread posts and runs nothing: a task waited
// there for the end of the thief's pause. See docs/design/policies.md.
#include "core/ready/ready_room.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Somebody has a few tasks, the oldest of which is the one of 2 µs ago.
bool ready_room::sees_unclaimed(ready_seat& w, std::int64_t now) const {
    constexpr std::int64_t between_ns = 2'000;
    constexpr unsigned few = 4;
    if (now < w.unclaimed_again) return false;
    w.unclaimed_again = now + between_ns;
    std::uint64_t oldest = 0;
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
        if (found <= few) oldest = first;
    }
    return oldest != 0 && oldest == std::exchange(w.unclaimed, oldest);
}

}  // namespace detail
BRAID_NAMESPACE_END
