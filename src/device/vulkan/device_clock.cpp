#include "device/vulkan/device_clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

device_clock::device_clock(double ns_per_tick, unsigned bits)
    : ns_per_tick_(ns_per_tick),
      bits_(bits),
      grain_(static_cast<std::int64_t>(std::ceil(ns_per_tick)) + 1) {}

void device_clock::set(std::uint64_t tick, std::int64_t at, std::int64_t deviation) {
    known_ = true;
    tick_ = tick;
    low_ = at - deviation;
    high_ = at + deviation;
}

void device_clock::narrow(std::uint64_t begin, std::uint64_t end, std::int64_t before,
                          std::int64_t after) {
    const std::int64_t run = ns_between(begin, end);
    std::int64_t low = before, high = std::clamp(after - run + doubt_of(run), before, after);
    if (known_) {
        const std::int64_t passed = ns_between(tick_, begin);
        const std::int64_t spread = doubt_of(passed);
        const std::int64_t earlier_low = std::max(low, low_ + passed - spread);
        const std::int64_t earlier_high = std::min(high, high_ + passed + spread);
        // Where they contradict each other, one of the clocks was set anew.
        if (earlier_low <= earlier_high) {
            low = earlier_low;
            high = earlier_high;
        }
    }
    known_ = true;
    tick_ = begin;
    low_ = low;
    high_ = high;
}

std::int64_t device_clock::time_of(std::uint64_t tick) const {
    return known_at() + ns_between(tick_, tick);
}

std::int64_t device_clock::error_at(std::uint64_t tick) const {
    return (high_ - low_ + 1) / 2 + doubt_of(ns_between(tick_, tick));
}

std::int64_t device_clock::ns_between(std::uint64_t from, std::uint64_t to) const {
    const unsigned unused = 64 - bits_;
    const auto ticks = static_cast<std::int64_t>((to - from) << unused) >> unused;
    return std::llround(static_cast<double>(ticks) * ns_per_tick_);
}

/// By how much the cores' clock may say otherwise what ns_between() says: clocks part, and both
/// counts are whole ones.
std::int64_t device_clock::doubt_of(std::int64_t ns) const {
    return static_cast<std::int64_t>(std::ceil(drift * static_cast<double>(std::abs(ns)))) + grain_;
}

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
