#pragma once
// From ticks of the processor's counter to nanoseconds since the capture began. Both clocks are
// read at the start and at each flush; in between a tick takes what it took on average.

#include "base/platform/ticks.hpp"
#include "braid/profile/capture.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Both at one moment: of a few tries the one that took least.
clock_pair read_both_clocks();

class tick_clock {
public:
    void begin(const clock_pair& at) { began_ = before_ = after_ = at; }
    const clock_pair& began() const { return began_; }
    void flush(const clock_pair& at) {
        if (at.ticks <= after_.ticks) return;
        before_ = after_;
        after_ = at;
    }
    /// Ticks from before the capture began are its begin.
    std::uint64_t ns_of(std::uint64_t ticks) const {
        const auto past = static_cast<double>(static_cast<std::int64_t>(ticks - before_.ticks));
        const auto span = static_cast<double>(after_.ticks - before_.ticks);
        const auto ns = static_cast<double>(after_.ns - before_.ns);
        const double from = static_cast<double>(before_.ns - began_.ns);
        const double at = from + (span > 0 ? past * ns / span : 0);
        return at > 0 ? static_cast<std::uint64_t>(at) : 0;
    }
    /// A time of CLOCK_MONOTONIC, as a time of the capture.
    std::uint64_t ns_since_begin(std::int64_t monotonic) const {
        const auto at = static_cast<std::uint64_t>(monotonic);
        return at > began_.ns ? at - began_.ns : 0;
    }

private:
    clock_pair began_, before_, after_;
};

}  // namespace profile
BRAID_NAMESPACE_END
