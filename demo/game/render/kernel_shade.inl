// Second half of the tiles stage: turns depth, normal and colour into light. Included by
// kernel_tile.inl.
#pragma once

#include "render/kernels.hpp"
#include "render/lanes.hpp"
#include "render/look.hpp"
#include "render/tile_buffer.inl"

namespace arena {
namespace {

struct lanes_3 {
    lanes_f x, y, z;
};

inline lanes_3 operator+(lanes_3 a, lanes_3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline lanes_3 operator*(lanes_3 a, lanes_f s) { return {a.x * s, a.y * s, a.z * s}; }
inline lanes_3 operator*(lanes_3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
inline lanes_3 operator*(lanes_3 a, lanes_3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
inline lanes_f dot(lanes_3 a, lanes_3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline lanes_f dot(lanes_3 a, const float* b) { return a.x * b[0] + a.y * b[1] + a.z * b[2]; }
inline lanes_3 scaled(const float* color, lanes_f by) {
    return {by * color[0], by * color[1], by * color[2]};
}
inline lanes_3 mix(lanes_3 a, lanes_3 b, lanes_f t) {
    return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t, a.z + (b.z - a.z) * t};
}
inline lanes_3 mix(const float* a, const float* b, lanes_f t) {
    return {a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])};
}
inline lanes_3 select(lanes_i mask, lanes_3 yes, lanes_3 no) {
    return {select(mask, yes.x, no.x), select(mask, yes.y, no.y), select(mask, yes.z, no.z)};
}
inline lanes_f squared(lanes_f value) { return value * value; }

/// One vector of pixels on its way through the shading.
struct fragment {
    lanes_f depth;      ///< view depth
    lanes_3 ray;        ///< of unit depth, from the eye
    lanes_3 direction;  ///< unit length
    lanes_3 position;
    lanes_i material_id;
    lanes_3 albedo;
};

/// What shading a tile looks up once.
struct shading {
    explicit shading(const tile_input& input) : in(input) {}

    const tile_input& in;
    std::uint32_t near_count = 0;  ///< lights that reach something in the tile
    std::uint32_t halo_count = 0;  ///< lights whose glow touches the tile
    std::uint8_t near[max_lights];
    std::uint8_t halo[max_lights];
};

inline lanes_i is(const fragment& f, material m) {
    return f.material_id == static_cast<std::int32_t>(m);
}

/// The root of what linear light a byte of colour stands for is the byte itself: gamma 2.
inline lanes_3 albedo_of(lanes_i color) {
    const lanes_f r = to_float(color & 255) * (1.0f / 255.0f);
    const lanes_f g = to_float((color >> 8) & 255) * (1.0f / 255.0f);
    const lanes_f b = to_float((color >> 16) & 255) * (1.0f / 255.0f);
    return {r * r, g * g, b * b};
}

inline lanes_3 sky(lanes_3 direction) {
    const lanes_f towards_sun = maximum(dot(direction, look::sun_direction), splat(0.0f));
    const lanes_f height = saturate(direction.y * 2.2f + 0.04f);
    const lanes_f low = saturate(height * 3.0f);
    lanes_3 color = mix(mix(look::sky_horizon, look::sky_middle, low),
                        scaled(look::sky_zenith, splat(1.0f)), height * (2.0f - height));
    const lanes_f glow = squared(squared(squared(towards_sun)));
    const lanes_f disc = saturate((towards_sun - 0.9991f) * 2500.0f);
    color = color + scaled(look::sun_color, glow * 0.28f + disc * 3.0f);
    return color;
}

/// 1 inside of a border at distance 0, 0 outside, soft over the footprint of a pixel.
inline lanes_f coverage(lanes_f inside, lanes_f per_footprint) {
    return saturate(inside * per_footprint + 0.5f);
}

constexpr float rose_radius = 7.5f;

/// The compass rose in the arena's middle, on a disc of slate.
inline lanes_3 rose(lanes_3 albedo, lanes_f& paint, lanes_f x, lanes_f z, lanes_f radius,
                    lanes_f per_footprint) {
    const lanes_f along = maximum(absolute(x), absolute(z));
    const lanes_f across = minimum(absolute(x), absolute(z));
    const lanes_f star = coverage(5.6f - along - across * 4.0f, per_footprint * 0.24f);
    const lanes_f diagonal = (along + across) * 0.70711f, off = (along - across) * 0.70711f;
    const lanes_f small_star = coverage(3.9f - diagonal - off * 4.0f, per_footprint * 0.24f);
    lanes_f lines = maximum(star, coverage(0.16f - absolute(radius - 7.0f), per_footprint));
    lines = maximum(lines, coverage(0.07f - absolute(radius - 6.4f), per_footprint));
    // Outside of it nothing changes, whichever pixels share the vector.
    paint = select(radius < rose_radius, maximum(paint, lines), paint);
    constexpr float slate[3] = {0.095f, 0.11f, 0.145f};
    constexpr float ochre[3] = {0.40f, 0.19f, 0.07f};
    lanes_3 painted =
        mix(albedo, scaled(slate, splat(1.0f)), coverage(6.9f - radius, per_footprint));
    painted = mix(painted, scaled(ochre, splat(1.0f)), small_star);
    return select(radius < rose_radius, painted, albedo);
}

/// Slabs of stone, painted rings, the rose.
inline lanes_3 floor_albedo(const fragment& f, float pixel_angle) {
    const lanes_f x = f.position.x, z = f.position.z;
    const lanes_f footprint =
        f.depth * (pixel_angle * 0.7f) / maximum(absolute(f.direction.y), splat(0.25f));
    const lanes_f per_footprint = 1.0f / footprint;

    const lanes_f cell_x = floor_of(x * 0.5f), cell_z = floor_of(z * 0.5f);
    lanes_u hash =
        as_unsigned(truncate(cell_x)) * 374761393u + as_unsigned(truncate(cell_z)) * 668265263u;
    hash = (hash ^ (hash >> 13)) * 1274126177u;
    const lanes_f tone = 0.80f + to_float(as_signed(hash >> 24)) * (0.34f / 255.0f);
    const lanes_f in_x = x - cell_x * 2.0f, in_z = z - cell_z * 2.0f;
    const lanes_f seam = minimum(minimum(in_x, 2.0f - in_x), minimum(in_z, 2.0f - in_z));
    const lanes_f joint =
        coverage(0.022f - seam, per_footprint) * minimum(0.05f * per_footprint, splat(1.0f));

    const lanes_f radius = square_root(x * x + z * z);
    const lanes_f along = maximum(absolute(x), absolute(z));
    lanes_f paint = maximum(coverage(0.10f - absolute(radius - 17.0f), per_footprint),
                            coverage(0.22f - absolute(along - 28.5f), per_footprint));
    constexpr float stone[3] = {0.225f, 0.20f, 0.18f};
    constexpr float ivory[3] = {0.46f, 0.41f, 0.33f};
    lanes_3 albedo = scaled(stone, splat(1.0f));
    if (any(radius < rose_radius)) albedo = rose(albedo, paint, x, z, radius, per_footprint);
    albedo = mix(albedo, scaled(ivory, splat(1.0f)), paint);
    return albedo * (tone * (1.0f - joint * 0.55f));
}

struct channels {
    lanes_f red, green, blue;
};

inline channels unpack_light(lanes_i texel) {
    return {to_float(texel & 1023), to_float((texel >> 10) & 1023),
            to_float(logical_shift_right(texel, 20))};
}

inline channels blend(const channels& a, const channels& b, lanes_f t) {
    return {a.red + (b.red - a.red) * t, a.green + (b.green - a.green) * t,
            a.blue + (b.blue - a.blue) * t};
}

/// Texel coordinates, kept inside the map.
inline lanes_f texel_coordinate(lanes_f world, const floor_view& floor) {
    const lanes_f texel = (world + floor.half_extent) * floor.texels_per_metre - 0.5f;
    return minimum(maximum(texel, splat(0.0f)), splat(static_cast<float>(floor_texels) - 1.002f));
}

/// Light on the floor from the map of the floor stage, between four texels.
inline lanes_3 floor_light(const fragment& f, const floor_view& floor) {
    const lanes_f u = texel_coordinate(f.position.x, floor);
    const lanes_f v = texel_coordinate(f.position.z, floor);
    const lanes_i column = truncate(u), row = truncate(v);
    const lanes_f right = u - to_float(column), down = v - to_float(row);
    const lanes_i at = row * floor_texels + column;
    const channels upper = blend(unpack_light(gather(floor.light, at)),
                                 unpack_light(gather(floor.light + 1, at)), right);
    const channels lower = blend(unpack_light(gather(floor.light + floor_texels, at)),
                                 unpack_light(gather(floor.light + floor_texels + 1, at)), right);
    const channels root = blend(upper, lower, down);
    constexpr float scale = 4.0f / (1023.0f * 1023.0f);
    return {squared(root.red) * scale, squared(root.green) * scale, squared(root.blue) * scale};
}

/// Does the sun reach this point past pillars and walls? Where the ray from the sun through the
/// point meets the floor, the baked map knows.
inline lanes_f sun_reaches(const fragment& f, const floor_view& floor) {
    const float slope_x = look::sun_direction[0] / look::sun_direction[1];
    const float slope_z = look::sun_direction[2] / look::sun_direction[1];
    const lanes_i column =
        truncate(texel_coordinate(f.position.x - f.position.y * slope_x, floor) + 0.5f);
    const lanes_i row =
        truncate(texel_coordinate(f.position.z - f.position.y * slope_z, floor) + 0.5f);
    const lanes_i texel = gather(floor.baked, row * floor_texels + column);
    return to_float(texel & 255) * (1.0f / 255.0f);
}

inline void add_point_light(lanes_3& sum, const fragment& f, lanes_3 normal,
                            const light_source& light) {
    const lanes_3 to_light{light.position[0] - f.position.x, light.position[1] - f.position.y,
                           light.position[2] - f.position.z};
    const lanes_f distance_squared = dot(to_light, to_light);
    const lanes_f fade = 1.0f - distance_squared * light.inverse_radius_squared;
    if (!any(fade > 0.0f)) return;
    // Some light wraps around: the lights are balls, not points.
    const lanes_f facing = dot(normal, to_light) * inverse_root(distance_squared + 0.01f);
    const lanes_f power =
        squared(maximum(fade, splat(0.0f))) * maximum(facing * 0.8f + 0.2f, splat(0.0f));
    sum = sum + scaled(light.color, power);
}

/// Light from characters and stone towards the eye.
inline lanes_3 surface_light(const fragment& f, lanes_3 normal, const shading& s) {
    const floor_view& floor = s.in.floor;
    const lanes_i character = f.material_id < static_cast<std::int32_t>(material::stone);
    lanes_f sun = maximum(dot(normal, look::sun_direction), splat(0.0f));
    lanes_f visible = splat(1.0f);
    if (floor.half_extent > 0.0f && any(character)) {
        visible = select(character, sun_reaches(f, floor), visible);
        sun = sun * visible;
    }
    // The floor hides half of the sky from what is near to it.
    const lanes_f near_floor = 0.5f + 0.5f * saturate(f.position.y * 0.9f);
    lanes_3 light = mix(look::ground_light, look::sky_light, normal.y * 0.5f + 0.5f) * near_floor +
                    scaled(look::sun_color, sun);
    for (std::uint32_t i = 0; i < s.near_count; ++i)
        add_point_light(light, f, normal, s.in.lights[s.near[i]]);
    lanes_3 color = light * f.albedo;

    const lanes_f facing = -dot(normal, f.direction);
    const lanes_f grazing = squared(1.0f - saturate(facing));
    const lanes_f rim = grazing * saturate(normal.y + 0.55f) * near_floor;
    color = color + scaled(look::rim_light,
                           select(character, rim * 0.38f, grazing * squared(grazing) * 0.15f));

    const lanes_i armor = is(f, material::armor);
    if (any(armor)) {
        const lanes_3 half_way{look::sun_direction[0] - f.direction.x,
                               look::sun_direction[1] - f.direction.y,
                               look::sun_direction[2] - f.direction.z};
        lanes_f shine =
            maximum(dot(normal, half_way) * inverse_root(dot(half_way, half_way)), splat(0.0f));
        shine = squared(squared(squared(squared(squared(shine)))));
        const lanes_f mirror_up = saturate(normal.y * facing * 2.0f - f.direction.y);
        const lanes_3 gleam = scaled(look::sun_color, shine * visible * 1.6f) +
                              scaled(look::sky_light, mirror_up * 0.35f);
        color = select(armor, color + gleam, color);
    }
    return select(is(f, material::glowing), f.albedo * 2.4f, color);
}

/// Glowing balls, seen in front of what lies behind them.
inline lanes_3 halos(lanes_3 color, const fragment& f, lanes_f x, float y, std::int32_t first_x,
                     const shading& s) {
    for (std::uint32_t i = 0; i < s.halo_count; ++i) {
        const light_source& light = s.in.lights[s.halo[i]];
        const float dy = y - light.screen_y;
        const float reach = light.screen_radius;
        if (dy > reach || dy < -reach) continue;
        const float left = static_cast<float>(first_x) - light.screen_x;
        if (left > reach || left + static_cast<float>(lane_count) < -reach) continue;
        const lanes_f dx = x - light.screen_x;
        const lanes_f distance = (dx * dx + dy * dy) * (1.0f / (reach * reach));
        const lanes_f fade = maximum(1.0f - distance, splat(0.0f));
        constexpr float core = look::light_ball_radius / look::light_halo_radius;
        const lanes_f ball = saturate((core * core * 1.2f - distance) * (6.0f / (core * core)));
        // Fades out where the ball would cut into something.
        const lanes_f in_front = saturate((f.depth - light.depth) * 4.0f + 1.0f);
        const lanes_f glow = squared(squared(fade)) * 0.34f * in_front;
        color = color + scaled(light.color, glow + ball * in_front * 1.5f) +
                lanes_3{ball, ball, ball} * (in_front * 0.9f);
    }
    return color;
}

/// Filmic curve, then gamma 2; 0 … 255 before rounding. One division serves three channels.
inline lanes_3 to_display(lanes_3 light) {
    const auto exposed = [](lanes_f channel) {
        return minimum(maximum(channel * look::exposure, splat(0.0f)), splat(64.0f));
    };
    const auto above = [](lanes_f x) { return x * (2.51f * x + 0.03f); };
    const auto below = [](lanes_f x) { return x * (2.43f * x + 0.59f) + 0.14f; };
    const lanes_3 x{exposed(light.x), exposed(light.y), exposed(light.z)};
    const lanes_3 divisor{below(x.x), below(x.y), below(x.z)};
    const lanes_f xy = divisor.x * divisor.y;
    const lanes_f inverse = (255.0f * 255.0f) / (xy * divisor.z);
    const lanes_f inverse_z = inverse * divisor.z;
    return {square_root(above(x.x) * divisor.y * inverse_z),
            square_root(above(x.y) * divisor.x * inverse_z),
            square_root(above(x.z) * xy * inverse)};
}

/// Thresholds of an 8 × 8 ordered dither, against bands in sky and fog.
constexpr float dither_rows[8][8] = {
    {0, 32, 8, 40, 2, 34, 10, 42},  {48, 16, 56, 24, 50, 18, 58, 26},
    {12, 44, 4, 36, 14, 46, 6, 38}, {60, 28, 52, 20, 62, 30, 54, 22},
    {3, 35, 11, 43, 1, 33, 9, 41},  {51, 19, 59, 27, 49, 17, 57, 25},
    {15, 47, 7, 39, 13, 45, 5, 37}, {63, 31, 55, 23, 61, 29, 53, 21}};

/// 8 bits per channel; alpha is the brightness, for the resolve stage.
inline lanes_i to_pixels(lanes_3 color, std::int32_t x, std::int32_t y) {
    const lanes_f dither = load_f(&dither_rows[y & 7][x & 7]) * (1.0f / 64.0f);
    const lanes_3 display = to_display(color);
    const lanes_i r = truncate(minimum(display.x + dither, splat(255.0f)));
    const lanes_i g = truncate(minimum(display.y + dither, splat(255.0f)));
    const lanes_i b = truncate(minimum(display.z + dither, splat(255.0f)));
    return r | g << 8 | b << 16 | (r * 77 + g * 150 + b * 29) >> 8 << 24;
}

inline lanes_i shade(const tile_buffer& tile, const shading& s, std::int32_t column,
                     std::int32_t row) {
    const view_setup& view = *s.in.view;
    const std::int32_t at = row * tile_buffer::stride + column;
    const lanes_f x = to_float(lane_numbers() + (tile.x + column)) + 0.5f;
    const float y = static_cast<float>(tile.y + row) + 0.5f;
    const lanes_f inverse_depth = load_f(tile.depth + at);
    const lanes_i covered = inverse_depth > 0.0f;

    fragment f;
    f.ray = {x * view.ray_dx[0] + (view.ray_origin[0] + y * view.ray_dy[0]),
             x * view.ray_dx[1] + (view.ray_origin[1] + y * view.ray_dy[1]),
             x * view.ray_dx[2] + (view.ray_origin[2] + y * view.ray_dy[2])};
    f.direction = f.ray * inverse_root(dot(f.ray, f.ray));
    f.depth = 1.0f / maximum(inverse_depth, splat(1e-5f));

    lanes_3 color{};
    if (any(covered)) {
        f.position =
            lanes_3{splat(view.eye[0]), splat(view.eye[1]), splat(view.eye[2])} + f.ray * f.depth;
        const lanes_i packed = load_i(tile.color + at);
        f.material_id = logical_shift_right(packed, 24);
        const lanes_i floor = is(f, material::floor) & covered;
        if (any(floor)) color = floor_albedo(f, view.pixel_angle) * floor_light(f, s.in.floor);
        if (any(covered & ~floor)) {
            lanes_3 normal{load_f(tile.normal_x + at), load_f(tile.normal_y + at),
                           load_f(tile.normal_z + at)};
            normal = normal * inverse_root(dot(normal, normal) + 1e-30f);
            f.albedo = albedo_of(packed);
            color = select(floor, color, surface_light(f, normal, s));
        }
        const lanes_f far = saturate((f.depth - look::fog_start) * (1.0f / look::fog_length));
        color =
            mix(color, scaled(look::fog_color, splat(1.0f)), far * (2.0f - far) * look::fog_most);
    }
    if (!all(covered)) color = select(covered, color, sky(f.direction));
    if (s.halo_count != 0) color = halos(color, f, x, y, tile.x + column, s);
    return to_pixels(color, tile.x + column, tile.y + row);
}

/// Keeps the lights whose depth range meets what was drawn.
inline void choose_lights(shading& s, const tile_buffer& tile) {
    lanes_f nearest{}, farthest = splat(1e30f);
    for (std::int32_t row = 0; row < tile_size; ++row) {
        for (std::int32_t column = 0; column < tile_size; column += lane_count) {
            const lanes_f depth = load_f(tile.depth + row * tile_buffer::stride + column);
            nearest = maximum(nearest, depth);
            farthest = select(depth > 0.0f, minimum(farthest, depth), farthest);
        }
    }
    float least_inverse = 1e30f, greatest_inverse = 0.0f;
    for (int i = 0; i < lane_count; ++i) {
        if (nearest[i] > greatest_inverse) greatest_inverse = nearest[i];
        if (farthest[i] < least_inverse) least_inverse = farthest[i];
    }
    const light_list& list = *s.in.tile_lights;
    for (std::uint32_t i = 0; i < list.count; ++i) {
        const light_source& light = s.in.lights[list.index[i]];
        const float front = light.depth - light.radius, back = light.depth + light.radius;
        // front <= farthest depth and back >= nearest depth
        if (front * least_inverse <= 1.0f && back * greatest_inverse >= 1.0f)
            s.near[s.near_count++] = list.index[i];
    }
    for (std::uint32_t i = 0; i < s.in.light_count; ++i) {
        const light_source& light = s.in.lights[i];
        constexpr float size = tile_size;
        const float left = static_cast<float>(tile.x), top = static_cast<float>(tile.y);
        if (light.screen_radius > 0.0f && light.screen_x + light.screen_radius > left &&
            light.screen_x - light.screen_radius < left + size &&
            light.screen_y + light.screen_radius > top &&
            light.screen_y - light.screen_radius < top + size)
            s.halo[s.halo_count++] = static_cast<std::uint8_t>(i);
    }
}

void shade_tile(const tile_buffer& tile, const tile_input& in) {
    shading s(in);
    choose_lights(s, tile);
    const view_setup& view = *in.view;
    const std::int32_t rows = tile_size < view.height - tile.y ? tile_size : view.height - tile.y;
    const std::int32_t columns = tile_size < view.width - tile.x ? tile_size : view.width - tile.x;
    for (std::int32_t row = 0; row < rows; ++row) {
        rgba8* out = in.picture + std::int64_t{tile.y + row} * view.width + tile.x;
        std::int32_t column = 0;
        for (; column + lane_count <= columns; column += lane_count)
            store(out + column, shade(tile, s, column, row));
        if (column < columns) {
            const lanes_i rest = shade(tile, s, column, row);
            for (int i = 0; column + i < columns; ++i)
                out[column + i] = static_cast<rgba8>(rest[i]);
        }
    }
}

}  // namespace
}  // namespace arena
