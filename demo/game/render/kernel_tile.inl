// Kernel of the tiles stage: rasterises the bins of one tile into a small buffer of depth, normal
// and colour, then shades it. Included by kernels_*.cpp.
#pragma once

#include "render/kernel_shade.inl"
#include "render/kernels.hpp"
#include "render/lanes.hpp"
#include "render/tile_buffer.inl"

namespace arena {
namespace {

/// Edge functions ab, bc and ca at pixel centres: >= 0 inside. Exact: integers, and pixel centres
/// that lie on an edge belong to the triangle whose top or left edge it is. The fourth lane is
/// idle.
struct edge_functions {
    i32x4 start;  ///< at the first pixel
    i32x4 dx, dy;
    float area;  ///< twice, in subpixels; not 0

    /// Nothing inside of one edge among `width` × `height` pixels (counted from the first).
    bool miss(std::int32_t width, std::int32_t height) const {
        const i32x4 most = start + (dx & (dx > 0)) * width + (dy & (dy > 0)) * height;
        return (most[0] | most[1] | most[2]) < 0;
    }
};

inline edge_functions edges_of(const screen_vertex& a, const screen_vertex& b,
                               const screen_vertex& c, std::int32_t first_x, std::int32_t first_y,
                               bool small) {
    const i32x4 x{a.x, b.x, c.x, 0}, y{a.y, b.y, c.y, 0};
    const i32x4 next_x{b.x, c.x, a.x, 0}, next_y{b.y, c.y, a.y, 0};
    edge_functions edges;
    edges.dx = y - next_y;
    edges.dy = next_x - x;
    const i32x4 owned = (edges.dx > 0) | ((edges.dx == 0) & (edges.dy > 0));  // -1 where true
    if (small) {
        // Up to a tile's size all products fit into 31 bits.
        const i32x4 value = edges.dx * (first_x - x) + edges.dy * (first_y - y) - 1 - owned;
        edges.start = value >> subpixel_bits;
        edges.area = static_cast<float>(edges.dy[0] * edges.dx[2] - edges.dy[2] * edges.dx[0]);
        return edges;
    }
    edges.start = i32x4{};
    for (int i = 0; i < 3; ++i) {
        const std::int64_t value = std::int64_t{edges.dx[i]} * (first_x - x[i]) +
                                   std::int64_t{edges.dy[i]} * (first_y - y[i]) - 1 - owned[i];
        // Rounding down keeps the sign; steps inside of a tile stay below 2^29, so that the clamp
        // keeps it, too.
        constexpr std::int64_t limit = std::int64_t{1} << 30;
        const std::int64_t scaled = value >> subpixel_bits;
        edges.start[i] = static_cast<std::int32_t>(scaled > limit    ? limit
                                                   : scaled < -limit ? -limit
                                                                     : scaled);
    }
    edges.area = static_cast<float>(std::int64_t{edges.dy[0]} * edges.dx[2] -
                                    std::int64_t{edges.dy[2]} * edges.dx[0]);
    return edges;
}

inline std::int32_t least(std::int32_t a, std::int32_t b) { return a < b ? a : b; }
inline std::int32_t greatest(std::int32_t a, std::int32_t b) { return a > b ? a : b; }

/// Normal and inverse depth as linear functions of the pixel.
struct attribute_plane {
    f32x4 start, dx, dy;
};

inline attribute_plane plane_of(const screen_vertex& a, const screen_vertex& b,
                                const screen_vertex& c, const edge_functions& edges,
                                std::int32_t first_x, std::int32_t first_y) {
    const float per_area = static_cast<float>(subpixels) / edges.area;
    const f32x4 at_a = load<f32x4>(a.normal);
    const f32x4 to_b = (load<f32x4>(b.normal) - at_a) * per_area;
    const f32x4 to_c = (load<f32x4>(c.normal) - at_a) * per_area;
    const f32x4 edge_dx = __builtin_convertvector(edges.dx, f32x4);
    const f32x4 edge_dy = __builtin_convertvector(edges.dy, f32x4);
    attribute_plane plane;
    plane.dx = to_b * edge_dx[2] + to_c * edge_dx[0];
    plane.dy = to_b * edge_dy[2] + to_c * edge_dy[0];
    constexpr float per_pixel = 1.0f / static_cast<float>(subpixels);
    plane.start = at_a + plane.dx * (static_cast<float>(first_x - a.x) * per_pixel) +
                  plane.dy * (static_cast<float>(first_y - a.y) * per_pixel);
    return plane;
}

void draw_triangle(tile_buffer& tile, const screen_vertex& a, const screen_vertex& b,
                   const screen_vertex& c, std::uint32_t color) {
    // Pixels whose centres lie in the bounding box, relative to the tile.
    constexpr std::int32_t half = subpixels / 2;
    const std::int32_t left = least(a.x, least(b.x, c.x)),
                       right = greatest(a.x, greatest(b.x, c.x));
    const std::int32_t top = least(a.y, least(b.y, c.y)),
                       bottom = greatest(a.y, greatest(b.y, c.y));
    const std::int32_t x0 = greatest(((left + half - 1) >> subpixel_bits) - tile.x, 0);
    const std::int32_t y0 = greatest(((top + half - 1) >> subpixel_bits) - tile.y, 0);
    const std::int32_t x1 = least(((right - half) >> subpixel_bits) - tile.x, tile_size - 1);
    const std::int32_t y1 = least(((bottom - half) >> subpixel_bits) - tile.y, tile_size - 1);
    if (x0 > x1 || y0 > y1) return;

    const std::int32_t first_x = (tile.x + x0) * subpixels + half;
    const std::int32_t first_y = (tile.y + y0) * subpixels + half;
    constexpr std::int32_t small = tile_size * subpixels;
    const edge_functions edges =
        edges_of(a, b, c, first_x, first_y, right - left <= small && bottom - top <= small);
    if (edges.miss(x1 - x0, y1 - y0)) return;
    const attribute_plane plane = plane_of(a, b, c, edges, first_x, first_y);

    const lanes_i lane = lane_numbers();
    const lanes_i color_lanes = splat(static_cast<std::int32_t>(color));
    for (std::int32_t x = x0; x <= x1; x += lane_count) {
        const lanes_i column = lane + (x - x0);
        const lanes_f fx = to_float(column);
        lanes_i inside_ab = column * edges.dx[0] + edges.start[0];
        lanes_i inside_bc = column * edges.dx[1] + edges.start[1];
        lanes_i inside_ca = column * edges.dx[2] + edges.start[2];
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
            inside_ab += edges.dy[0];
            inside_bc += edges.dy[1];
            inside_ca += edges.dy[2];
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
                __builtin_prefetch(part.vertices + part.triangles[part.entries[i + 3]].vertex[0]);
            draw_triangle(tile, part.vertices[triangle.vertex[0]],
                          part.vertices[triangle.vertex[1]], part.vertices[triangle.vertex[2]],
                          triangle.color);
        }
    }
    shade_tile(tile, in);
}

}  // namespace
}  // namespace arena
