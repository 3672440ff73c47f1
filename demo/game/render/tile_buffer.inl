// What rasterising leaves for shading. Included by the kernels.
#pragma once

#include "render/kernels.hpp"

namespace arena {
namespace {

/// Lives on the stack of the part (about 92 KiB). Rows have room for a vector that starts in the
/// last pixel. Where depth is 0 nothing was drawn and the rest is not initialised.
struct tile_buffer {
    static constexpr std::int32_t stride = tile_size + 8;

    alignas(32) float depth[tile_size * stride];  ///< inverse depth: greater is nearer
    alignas(32) float normal_x[tile_size * stride];
    alignas(32) float normal_y[tile_size * stride];
    alignas(32) float normal_z[tile_size * stride];
    alignas(32) std::uint32_t color[tile_size * stride];
    std::int32_t x, y;  ///< first pixel on the screen
};

}  // namespace
}  // namespace arena
