// Kernel of the tiles stage: rasterises the bins of one tile into a small buffer of depth, normal
// and colour, then shades it. Included by kernels_*.cpp.
#pragma once

#include "render/kernel_shade.inl"
#include "render/kernels.hpp"
#include "render/lanes.hpp"
#include "render/tile_buffer.inl"

namespace arena {
namespace {

/// An edge function at pixel centres: >= 0 inside. Exact: integers, and pixel centres that lie on
/// an edge belong to the triangle whose top or left edge it is.
struct edge_function {
    std::int32_t start;  ///< at the first pixel
    std::int32_t dx, dy;

    static edge_function between(const screen_vertex& from, const screen_vertex& to,
                                 std::int32_t first_x, std::int32_t first_y) {
        const std::int32_t dx = from.y - to.y;
        const std::int32_t dy = to.x - from.x;
        const bool owns_edge = dx > 0 || (dx == 0 && dy > 0);
        const std::int64_t value = std::int64_t{dx} * (first_x - from.x) +
                                   std::int64_t{dy} * (first_y - from.y) - (owns_edge ? 0 : 1);
        // Rounding down keeps the sign; steps inside of a tile stay below 2^29, so that the clamp
        // keeps it, too.
        constexpr std::int64_t limit = std::int64_t{1} << 30;
        const std::int64_t scaled = value >> subpixel_bits;
        return {static_cast<std::int32_t>(scaled > limit    ? limit
                                          : scaled < -limit ? -limit
                                                            : scaled),
                dx, dy};
    }

    /// Nothing inside among `width` × `height` pixels (counted from the first).
    bool misses(std::int32_t width, std::int32_t height) const {
        return start + (dx > 0 ? dx * width : 0) + (dy > 0 ? dy * height : 0) < 0;
    }
};

inline std::int32_t least(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
inline std::int32_t greatest(std::int32_t a, std::int32_t b) { return a > b ? a : b; }

/// Normal and inverse depth as linear functions of the pixel.
struct attribute_plane {
    f32x4 start, dx, dy;
};

inline attribute_plane plane_of(const screen_vertex& a, const screen_vertex& b,
                                const screen_vertex& c, std::int32_t first_x,
                                std::int32_t first_y) {
    const std::int64_t area = std::int64_t{b.x - a.x} * (c.y - a.y) -
                              std::int64_t{c.x - a.x} * (b.y - a.y);  // exact, hence not 0
    const float per_area = static_cast<float>(subpixels) / static_cast<float>(area);
    const auto to_b_x = static_cast<float>(b.x - a.x), to_b_y = static_cast<float>(b.y - a.y);
    const auto to_c_x = static_cast<float>(c.x - a.x), to_c_y = static_cast<float>(c.y - a.y);
    const f32x4 at_a = load<f32x4>(a.normal);
    const f32x4 to_b = load<f32x4>(b.normal) - at_a;
    const f32x4 to_c = load<f32x4>(c.normal) - at_a;
    attribute_plane plane;
    plane.dx = (to_b * to_c_y - to_c * to_b_y) * per_area;
    plane.dy = (to_c * to_b_x - to_b * to_c_x) * per_area;
    constexpr float per_pixel = 1.0f / static_cast<float>(subpixels);
    plane.start = at_a + plane.dx * (static_cast<float>(first_x - a.x) * per_pixel) +
                  plane.dy * (static_cast<float>(first_y - a.y) * per_pixel);
    return plane;
}

void draw_triangle(tile_buffer& tile, const screen_vertex& a, const screen_vertex& b,
                   const screen_vertex& c, std::uint32_t color) {
    // Pixels whose centres lie in the bounding box, relative to the tile.
    constexpr std::int32_t half = subpixels / 2;
    const std::int32_t left = least(a.x, least(b.x, c.x)), right = greatest(a.x, greatest(b.x, c.x));
    const std::int32_t top = least(a.y, least(b.y, c.y)), bottom = greatest(a.y, greatest(b.y, c.y));
    const std::int32_t x0 = greatest(((left + half - 1) >> subpixel_bits) - tile.x, 0);
    const std::int32_t y0 = greatest(((top + half - 1) >> subpixel_bits) - tile.y, 0);
    const std::int32_t x1 = least(((right - half) >> subpixel_bits) - tile.x, tile_size - 1);
    const std::int32_t y1 = least(((bottom - half) >> subpixel_bits) - tile.y, tile_size - 1);
    if (x0 > x1 || y0 > y1) return;

    const std::int32_t first_x = (tile.x + x0) * subpixels + half;
    const std::int32_t first_y = (tile.y + y0) * subpixels + half;
    const edge_function ab = edge_function::between(a, b, first_x, first_y);
    const edge_function bc = edge_function::between(b, c, first_x, first_y);
    const edge_function ca = edge_function::between(c, a, first_x, first_y);
    if (ab.misses(x1 - x0, y1 - y0) || bc.misses(x1 - x0, y1 - y0) || ca.misses(x1 - x0, y1 - y0))
        return;
    const attribute_plane plane = plane_of(a, b, c, first_x, first_y);

    const lanes_i lane = lane_numbers();
    const lanes_i color_lanes = splat(static_cast<std::int32_t>(color));
    for (std::int32_t x = x0; x <= x1; x += lane_count) {
        const lanes_i column = lane + (x - x0);
        const lanes_f fx = to_float(column);
        lanes_i inside_ab = column * ab.dx + ab.start;
        lanes_i inside_bc = column * bc.dx + bc.start;
        lanes_i inside_ca = column * ca.dx + ca.start;
        const lanes_f depth_x = fx * plane.dx[3];
        const lanes_f normal_x = fx * plane.dx[0];
        const lanes_f normal_y = fx * plane.dx[1];
        const lanes_f normal_z = fx * plane.dx[2];
        std::int32_t at = y0 * tile_buffer::stride + x;
        for (std::int32_t y = y0; y <= y1; ++y, at += tile_buffer::stride) {
            const f32x4 row = plane.start + plane.dy * static_cast<float>(y - y0);
            const lanes_f depth = depth_x + row[3];
            const lanes_f nearest = load_f(tile.depth + at);
            const lanes_i outside = inside_ab | inside_bc | inside_ca;
            inside_ab += ab.dy;
            inside_bc += bc.dy;
            inside_ca += ca.dy;
            const lanes_i draw = ~(outside >> 31) & (depth > nearest);
            store(tile.depth + at, select(draw, depth, nearest));
            store(tile.normal_x + at, select(draw, normal_x + row[0], load_f(tile.normal_x + at)));
            store(tile.normal_y + at, select(draw, normal_y + row[1], load_f(tile.normal_y + at)));
            store(tile.normal_z + at, select(draw, normal_z + row[2], load_f(tile.normal_z + at)));
            store(tile.color + at, select(draw, color_lanes, load_i(tile.color + at)));
        }
    }
}

void draw_tile(const tile_input& in) {
    tile_buffer tile;
    tile.x = static_cast<std::int32_t>(in.tile) % in.view->tiles_x * tile_size;
    tile.y = static_cast<std::int32_t>(in.tile) / in.view->tiles_x * tile_size;
    for (float& depth : tile.depth) depth = 0.0f;

    // Parts are ranges of draw commands in order, and so are the entries of a part.
    for (std::uint32_t p = 0; p < in.part_count; ++p) {
        const geometry_output& part = in.parts[p];
        const std::uint32_t end = part.offsets[in.tile + 1];
        for (std::uint32_t i = part.offsets[in.tile]; i < end; ++i) {
            const binned_triangle& triangle = part.triangles[part.entries[i]];
            if (i + 3 < end)
                __builtin_prefetch(
                    part.vertices + part.triangles[part.entries[i + 3]].vertex[0]);
            draw_triangle(tile, part.vertices[triangle.vertex[0]],
                          part.vertices[triangle.vertex[1]], part.vertices[triangle.vertex[2]],
                          triangle.color);
        }
    }
    shade_tile(tile, in);
}

}  // namespace
}  // namespace arena
