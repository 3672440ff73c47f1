// The kernels for the processor that the build is for.
#include "render/kernel_floor.inl"
#include "render/kernel_resolve.inl"
#include "render/kernel_tile.inl"

namespace arena {

const kernel_table portable_kernels{draw_tile, light_floor, resolve_rows};

}  // namespace arena
