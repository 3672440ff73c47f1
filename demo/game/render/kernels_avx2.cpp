// The kernels compiled with -mavx2: twice the lanes, the same arithmetic.
#include "render/kernel_floor.inl"
#include "render/kernel_resolve.inl"
#include "render/kernel_tile.inl"

namespace arena {

const kernel_table avx2_kernels{draw_tile, light_floor, resolve_rows};

}  // namespace arena
