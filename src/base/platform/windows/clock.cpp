#include "base/platform/platform.hpp"
#include "base/platform/windows/system.hpp"

namespace braid::platform {
namespace {

std::int64_t ticks_a_second() noexcept {
    LARGE_INTEGER frequency{};
    QueryPerformanceFrequency(&frequency);  // does not fail since Windows XP
    return frequency.QuadPart;
}

}  // namespace

std::int64_t monotonic_ns() noexcept {
    static const std::int64_t a_second = ticks_a_second();
    constexpr std::int64_t ns = 1'000'000'000;
    LARGE_INTEGER now{};
    QueryPerformanceCounter(&now);
    // In two parts: ticks times ns would not fit after 15 minutes at 10 MHz.
    return now.QuadPart / a_second * ns + now.QuadPart % a_second * ns / a_second;
}

// The system's own coarse clocks step by up to 15.6 ms, longer than what is warned of as a long
// task. This one costs as much as the exact one, but stands still between its steps: so that tasks
// without work are timed by eights.
std::int64_t coarse_monotonic_ns() noexcept {
    constexpr std::int64_t step = 1'000'000;
    return monotonic_ns() / step * step;
}

std::int64_t calendar_ns() noexcept {
    FILETIME now{};
    GetSystemTimePreciseAsFileTime(&now);
    const std::uint64_t since_1601 = std::uint64_t{now.dwHighDateTime} << 32 | now.dwLowDateTime;
    constexpr std::uint64_t epochs_apart = 116'444'736'000'000'000;  // in 100 ns
    return static_cast<std::int64_t>(since_1601 - epochs_apart) * 100;
}

}  // namespace braid::platform
