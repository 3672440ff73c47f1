#pragma once
// Durations in the interface. <chrono> costs a quarter of a second to compile, so a duration is
// accepted from any type shaped like std::chrono::duration without including it.

#include "braid/base/version.hpp"

#include <compare>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

struct nanoseconds {
    std::int64_t value = 0;

    constexpr nanoseconds() = default;
    constexpr explicit nanoseconds(std::int64_t ns) : value(ns) {}

    /// Any std::chrono duration, rounded towards zero.
    template <class Duration>
        requires requires(Duration d) {
            Duration::period::num;
            d.count();
        }
    constexpr nanoseconds(Duration d)
        : value(static_cast<std::int64_t>(static_cast<long double>(d.count()) * 1e9L *
                                          Duration::period::num / Duration::period::den)) {}

    friend constexpr auto operator<=>(nanoseconds, nanoseconds) = default;
};

constexpr nanoseconds microseconds(std::int64_t us) { return nanoseconds{us * 1'000}; }
constexpr nanoseconds milliseconds(std::int64_t ms) { return nanoseconds{ms * 1'000'000}; }
constexpr nanoseconds seconds(std::int64_t s) { return nanoseconds{s * 1'000'000'000}; }

/// A time-out that never comes.
inline constexpr nanoseconds forever{INT64_MAX};

BRAID_NAMESPACE_END
