#pragma once
// A policy: a thread that finds no work polls for longer if its last gaps without work were short.
// The benchmark row wait.gap.100 asked for it: there a thread falls asleep after 25 µs and needs 15
// to 40 µs to wake. See docs/design/policies.md.

#include "braid/base/version.hpp"

#include <algorithm>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A moving estimate of how long a thread was without work lately. Only the seat's thread uses it.
/// All values are in ns.
class gap_estimate {
public:
    /// The thread sleeps through longer gaps, because so long a search costs more than a wake.
    static constexpr std::int64_t longest = 200'000;

    /// Records that the thread has work again after a gap of this length.
    void note(std::int64_t gap) {
        // After gaps of 100 µs, one long gap ends the longer search, and three short ones start it
        // again.
        const std::int64_t counted = std::clamp<std::int64_t>(gap, 0, 5 * longest);
        estimate_ += (counted - estimate_) / 4;
    }
    /// Returns how long the thread polls before it sleeps. Without this policy it would poll for
    /// `least`.
    std::int64_t search_time(std::int64_t least) const {
        return estimate_ <= longest ? std::max(least, 2 * estimate_) : least;
    }

private:
    std::int64_t estimate_ = 2 * longest;
};

}  // namespace detail
BRAID_NAMESPACE_END
