#pragma once
// Internal: the data that geometry, floor and light stages hand to the pixel kernels, and the table
// of kernels. Plain structures, no functions: kernels are compiled once per processor generation.

#include <cstdint>

#include "render/scene.hpp"

namespace arena {

constexpr std::int32_t tile_size = 64;  ///< pixels; a power of two
constexpr std::int32_t subpixel_bits = 8;
constexpr std::int32_t subpixels = 1 << subpixel_bits;

/// Materials of pixels: enum surface, then what only the arena itself is made of.
enum class material : std::uint8_t { cloth, armor, glowing, stone, floor };

/// A vertex inside the guard band. Normal and inverse depth vary linearly over the screen.
struct screen_vertex {
    float normal[3];      ///< times inverse_depth
    float inverse_depth;  ///< 1 / view depth; 0 marks a vertex that needs clipping
    std::int32_t x, y;    ///< 1 / subpixels of a pixel, y down
};

/// Counter-clockwise on the screen as seen with y up; `color` has the material in its high byte.
struct binned_triangle {
    std::uint32_t vertex[3];
    std::uint32_t color;
};

/// What one geometry part left for a tile: entries[offsets[tile]] … entries[offsets[tile + 1] - 1]
/// are triangles in drawing order.
struct geometry_output {
    const screen_vertex* vertices;
    const binned_triangle* triangles;
    const std::uint32_t* entries;
    const std::uint32_t* offsets;
};

struct view_setup {
    float to_pixel[3][4];  ///< rows: world position to pixel x * depth, pixel y * depth, depth
    float eye[3];
    float ray_origin[3];  ///< world ray of unit depth through the corner of pixel (0, 0)
    float ray_dx[3];      ///< added per pixel to the right
    float ray_dy[3];      ///< added per pixel down
    float pixel_angle;    ///< width of a pixel at unit depth
    std::int32_t width, height;
    std::int32_t tiles_x, tiles_y;
};

struct light_source {
    float position[3];
    float radius;
    float color[3];
    float inverse_radius_squared;
    /// Screen circle of the glowing ball and its halo; depth <= 0: not in view.
    float screen_x, screen_y, screen_radius, depth;
};

struct light_list {
    std::uint32_t count;
    std::uint8_t index[max_lights];
};

/// Light arriving at the floor, texel centres at (i + 0.5) * texel.
constexpr std::int32_t floor_texels = 512;
constexpr std::int32_t floor_tile = 64;  ///< texels per side of one part
constexpr std::int32_t floor_tiles = floor_texels / floor_tile;

struct floor_view {
    std::uint32_t* light;        ///< floor_texels², square roots of r, g, b / 4 in 10 bits each
    const std::uint32_t* baked;  ///< floor_texels², low byte: sun reaches the floor, next: open sky
    float texels_per_metre;
    float half_extent;  ///< metres; 0: there is no floor map
};

struct tile_input {
    const view_setup* view;
    const geometry_output* parts;
    std::uint32_t part_count;
    const light_source* lights;
    std::uint32_t light_count;
    const light_list* tile_lights;  ///< of this tile
    floor_view floor;
    std::uint32_t tile;
    rgba8* picture;  ///< width * height; alpha receives the brightness for the resolve stage
};

/// A character as the floor's shadow splatter sees it.
struct shadow_caster {
    const skinned_vertex* vertices;
    std::uint32_t count;
    std::uint32_t step;  ///< every step-th vertex casts
    float weight;        ///< of one vertex; floor_scratch::full_shadow darkens a texel fully
    float min_x, max_x, min_z, max_z;  ///< of the shadow on the floor
};

struct floor_input {
    floor_view floor;
    const light_source* lights;
    std::uint32_t light_count;
    const shadow_caster* casters;
    std::uint32_t caster_count;
    const ground_contact* contacts;
    std::uint32_t contact_count;
    std::int32_t tile_x, tile_z;
};

struct resolve_input {
    const rgba8* source;
    rgba8* target;
    std::int32_t width, height;
    std::int32_t first_row, end_row;
    bool smooth;  ///< otherwise only copies
};

struct kernel_table {
    void (*draw_tile)(const tile_input&);
    void (*light_floor)(const floor_input&);
    void (*resolve_rows)(const resolve_input&);
};

extern const kernel_table portable_kernels;
#if defined(ARENA_AVX2_KERNELS)
extern const kernel_table avx2_kernels;
#endif

/// The fastest that this processor runs.
const kernel_table& best_kernels();

}  // namespace arena
