#pragma once
// Ticks of a device in the time of the cores. One thread.

#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

class device_clock {
public:
    /// `bits` of a tick count; 0: the device has no ticks.
    device_clock(double ns_per_tick, unsigned bits);

    bool has_ticks() const { return bits_ != 0; }
    /// set() or narrow() was called.
    bool is_known() const { return known_; }
    /// The tick was at `at`, give or take `deviation`.
    void set(std::uint64_t tick, std::int64_t at, std::int64_t deviation);
    /// What the device did from one tick to the other lies between two reads of the cores' clock.
    /// What is known by earlier ones narrows it further.
    void narrow(std::uint64_t begin, std::uint64_t end, std::int64_t before, std::int64_t after);

    std::int64_t time_of(std::uint64_t tick) const;
    /// time_of() is wrong by no more, as long as the two clocks differ by `drift` in speed. It
    /// grows with the time since the tick that they got last.
    std::int64_t error_at(std::uint64_t tick) const;
    /// The time of the tick that they got last.
    std::int64_t known_at() const { return low_ + (high_ - low_) / 2; }
    /// What two clocks differ by at most, for each ns: as much as the system may slew its own.
    static constexpr double drift = 500e-6;

private:
    /// Ticks wrap around.
    std::int64_t ns_between(std::uint64_t from, std::uint64_t to) const;
    std::int64_t doubt_of(std::int64_t ns) const;

    double ns_per_tick_;
    unsigned bits_;
    std::int64_t grain_;  // of ns_between(): a tick begins at any time before its count is read
    bool known_ = false;
    // The tick was at low_..high_.
    std::uint64_t tick_ = 0;
    std::int64_t low_ = 0, high_ = 0;
};

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
