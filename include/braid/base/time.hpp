#pragma once
// The type of durations in the interface. Including <chrono> costs a quarter of a second of compile
// time. So this header does not include <chrono>, and accepts any type with the members of
// std::chrono::duration.

#include "braid/base/version.hpp"

#include <compare>
#include <concepts>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

// The saturated_ functions return INT64_MAX if the exact result is above the 64-bit range, and
// INT64_MIN if it is below. A moment of INT64_MAX means never.

constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
    if (b > 0 && a > INT64_MAX - b) return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b) return INT64_MIN;
    return a + b;
}

/// `factor` must be greater than 0.
constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t factor) {
    if (a > INT64_MAX / factor) return INT64_MAX;
    if (a < INT64_MIN / factor) return INT64_MIN;
    return a * factor;
}

constexpr std::int64_t saturated_whole(long double x) {
    if (x >= 0x1p63L) return INT64_MAX;
    if (x <= -0x1p63L) return INT64_MIN;
    return x < 0 || x > 0 ? static_cast<std::int64_t>(x) : 0;  // NaN becomes 0
}

template <class Duration>
constexpr std::int64_t nanoseconds_of(Duration d) {
    constexpr std::int64_t second = 1'000'000'000;
    constexpr auto numerator = static_cast<std::int64_t>(Duration::period::num);
    constexpr auto denominator = static_cast<std::int64_t>(Duration::period::den);
    using count = decltype(d.count());
    if constexpr (std::signed_integral<count> && second % denominator == 0 &&
                  numerator <= INT64_MAX / second) {
        // This avoids long double, which rounds the longest durations on some machines.
        return saturated_product(d.count(), second / denominator * numerator);
    } else {
        return saturated_whole(static_cast<long double>(d.count()) * second * numerator /
                               denominator);
    }
}

}  // namespace detail

/// A duration. Functions that have a duration as a parameter accept any value. A time-out of 0 or
/// less ends at once. A time-out that would end after the last moment of the clock (292 years)
/// never ends.
struct nanoseconds {
    std::int64_t value = 0;

    constexpr nanoseconds() = default;
    constexpr explicit nanoseconds(std::int64_t ns) : value(ns) {}

    /// Converts any std::chrono duration, rounded toward zero. A duration that is infinite or too
    /// long for 64 bits becomes the longest duration of the same sign, which is `no_limit` if the
    /// sign is positive. NaN becomes 0.
    template <class Duration>
        requires requires(Duration d) {
            Duration::period::num;
            d.count();
        }
    constexpr nanoseconds(Duration d) : value(detail::nanoseconds_of(d)) {}

    friend constexpr auto operator<=>(nanoseconds, nanoseconds) = default;
};

// microseconds(), milliseconds() and seconds() return the longest duration of the same sign if the
// result is too long for 64 bits.

constexpr nanoseconds microseconds(std::int64_t us) {
    return nanoseconds{detail::saturated_product(us, 1'000)};
}
constexpr nanoseconds milliseconds(std::int64_t ms) {
    return nanoseconds{detail::saturated_product(ms, 1'000'000)};
}
constexpr nanoseconds seconds(std::int64_t s) {
    return nanoseconds{detail::saturated_product(s, 1'000'000'000)};
}

/// A time-out that never ends.
inline constexpr nanoseconds no_limit{INT64_MAX};

namespace detail {

/// Returns the moment when a time-out ends. INT64_MAX means that the time-out never ends. Every
/// time-out must be converted by deadline_after().
constexpr std::int64_t deadline_after(std::int64_t now, nanoseconds timeout) {
    return saturated_sum(now, timeout.value);
}

}  // namespace detail

BRAID_NAMESPACE_END
