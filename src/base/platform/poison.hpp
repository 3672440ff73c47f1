#pragma once
// Memory of a pool that nobody may touch while it is free: AddressSanitizer reports who does.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define BRAID_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BRAID_POISONS 1
#endif
#endif
#if defined(BRAID_POISONS)
#include <sanitizer/asan_interface.h>
#endif

namespace braid::platform {

#if defined(BRAID_POISONS)
inline constexpr bool poisons = true;
#else
inline constexpr bool poisons = false;
#endif

inline void poison([[maybe_unused]] void* at, [[maybe_unused]] std::size_t bytes) {
#if defined(BRAID_POISONS)
    ASAN_POISON_MEMORY_REGION(at, bytes);
#endif
}
inline void unpoison([[maybe_unused]] void* at, [[maybe_unused]] std::size_t bytes) {
#if defined(BRAID_POISONS)
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#endif
}

}  // namespace braid::platform
