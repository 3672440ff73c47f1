#pragma once
// The cheapest clock there is: a counter of the processor where it ticks evenly, else nanoseconds.
// How long a tick is the reader finds out; see profile/tick_clock.hpp.

#include "base/platform/platform.hpp"

namespace braid::platform {

inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return static_cast<std::uint64_t>(monotonic_ns());
#endif
}

}  // namespace braid::platform
