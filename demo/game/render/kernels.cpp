#include "render/kernels.hpp"

namespace arena {

const kernel_table& best_kernels() {
#if defined(ARENA_AVX2_KERNELS)
    if (__builtin_cpu_supports("avx2")) return avx2_kernels;
#endif
    return portable_kernels;
}

}  // namespace arena
