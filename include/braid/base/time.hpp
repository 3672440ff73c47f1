#pragma once
// Durations in the interface. <chrono> costs a quarter of a second to compile, so a duration is
// accepted from any type shaped like std::chrono::duration without including it.

#include "braid/base/version.hpp"

#include <compare>
#include <concepts>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

// Beyond either end of the range these stay at that end: INT64_MAX is a moment that never comes.

constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
    if (b > 0 && a > INT64_MAX - b) return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b) return INT64_MIN;
    return a + b;
}

/// `factor` > 0.
constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t factor) {
    if (a > INT64_MAX / factor) return INT64_MAX;
    if (a < INT64_MIN / factor) return INT64_MIN;
    return a * factor;
}

constexpr std::int64_t saturated_whole(long double x) {
    if (x >= 0x1p63L) return INT64_MAX;
    if (x <= -0x1p63L) return INT64_MIN;
    return x < 0 || x > 0 ? static_cast<std::int64_t>(x) : 0;  // 0 also for what is no number
}

template <class Duration>
constexpr std::int64_t nanoseconds_of(Duration d) {
    constexpr std::int64_t second = 1'000'000'000;
    constexpr auto numerator = static_cast<std::int64_t>(Duration::period::num);
    constexpr auto denominator = static_cast<std::int64_t>(Duration::period::den);
    using count = decltype(d.count());
    if constexpr (std::signed_integral<count> && second % denominator == 0 &&
                  numerator <= INT64_MAX / second) {
        // Not by way of long double, which rounds the longest ones on some machines.
        return saturated_product(d.count(), second / denominator * numerator);
    } else {
        return saturated_whole(static_cast<long double>(d.count()) * second * numerator /
                               denominator);
    }
}

}  // namespace detail

/// Any value of the type is allowed wherever a duration is asked for. As a time-out, 0 and below
/// end at once, and what ends behind the last moment of the clock (292 years) never ends.
struct nanoseconds {
    std::int64_t value = 0;

    constexpr nanoseconds() = default;
    constexpr explicit nanoseconds(std::int64_t ns) : value(ns) {}

    /// Any std::chrono duration, rounded towards zero. Too long for 64 bits, or infinite: the
    /// longest, which is `no_limit`, or its negative. Not a number: 0.
    template <class Duration>
        requires requires(Duration d) {
            Duration::period::num;
            d.count();
        }
    constexpr nanoseconds(Duration d) : value(detail::nanoseconds_of(d)) {}

    friend constexpr auto operator<=>(nanoseconds, nanoseconds) = default;
};

// Those that are too long for 64 bits are the longest there is.

constexpr nanoseconds microseconds(std::int64_t us) {
    return nanoseconds{detail::saturated_product(us, 1'000)};
}
constexpr nanoseconds milliseconds(std::int64_t ms) {
    return nanoseconds{detail::saturated_product(ms, 1'000'000)};
}
constexpr nanoseconds seconds(std::int64_t s) {
    return nanoseconds{detail::saturated_product(s, 1'000'000'000)};
}

/// A time-out that never comes.
inline constexpr nanoseconds no_limit{INT64_MAX};

namespace detail {

/// The one way from a time-out to the moment when it ends. INT64_MAX: never.
constexpr std::int64_t deadline_after(std::int64_t now, nanoseconds timeout) {
    return saturated_sum(now, timeout.value);
}

}  // namespace detail

BRAID_NAMESPACE_END
