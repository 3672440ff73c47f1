#pragma once
// A policy: a thread that finds nothing to do looks for longer while what it found before came
// after short gaps. Asked for by wait.gap.100, where a thread falls asleep after 25 µs and needs
// 15 to 40 to wake. See docs/design/policies.md.

#include "braid/base/version.hpp"

#include <algorithm>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// How long a thread was without work lately: a moving estimate. Its own thread only. All in ns.
class gap_estimate {
public:
    /// Longer ones are slept through: to look for so long costs more than to wake.
    static constexpr std::int64_t longest = 200'000;

    /// The thread had found nothing for so long when it was wanted again.
    void note(std::int64_t gap) {
        // One long gap ends the looking, and three short ones begin it again.
        const std::int64_t counted = std::clamp<std::int64_t>(gap, 0, 5 * longest);
        estimate_ += (counted - estimate_) / 4;
    }
    /// How long it is to look where it would look for `least` without the policy.
    std::int64_t search_time(std::int64_t least) const {
        return estimate_ <= longest ? std::max(least, 2 * estimate_) : least;
    }

private:
    std::int64_t estimate_ = 2 * longest;
};

}  // namespace detail
BRAID_NAMESPACE_END
