#include "base/platform/platform.hpp"

#include <ctime>

namespace braid::platform {
namespace {

std::int64_t read(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

std::int64_t monotonic_ns() noexcept { return read(CLOCK_MONOTONIC); }
std::int64_t calendar_ns() noexcept { return read(CLOCK_REALTIME); }
std::int64_t coarse_monotonic_ns() noexcept { return read(CLOCK_MONOTONIC_COARSE); }

}  // namespace braid::platform
