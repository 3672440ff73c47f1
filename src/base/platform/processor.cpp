// What is asked of the processor, whatever the system.
#include "base/platform/platform.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace braid::platform {

void cpu_relax() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm("yield");
#endif
}

std::uint64_t float_control() noexcept {
#if defined(__x86_64__)
    // MXCSR without the sticky exception flags; above it the control word of the x87 unit, which
    // computes `long double`.
    std::uint16_t x87 = 0;
    asm volatile("fnstcw %0" : "=m"(x87));
    return std::uint64_t{x87} << 32 | (_mm_getcsr() & ~0x3fU);
#elif defined(__aarch64__)
    std::uint64_t bits;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
#else
    return 0;
#endif
}

void set_float_control([[maybe_unused]] std::uint64_t bits) noexcept {
#if defined(__x86_64__)
    const auto x87 = static_cast<std::uint16_t>(bits >> 32);
    asm volatile("fldcw %0" : : "m"(x87));
    _mm_setcsr(static_cast<unsigned>(bits));
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" ::"r"(bits));
#endif
}

}  // namespace braid::platform
