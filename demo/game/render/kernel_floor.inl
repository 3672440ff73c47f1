// Kernel of the floor stage: light and shadow of floor_tile² texels. Included by kernels_*.cpp.
#pragma once

#include "render/kernels.hpp"
#include "render/lanes.hpp"
#include "render/look.hpp"

namespace arena {
namespace {

/// One floor tile under construction, with an apron for the blur and for whole vectors.
struct floor_scratch {
    static constexpr std::int32_t side = floor_tile + 2;
    static constexpr std::int32_t stride = floor_tile + 8;
    static constexpr std::int32_t full_shadow = 4096;

    std::int32_t shadow[side * stride];
    float contact[floor_tile * floor_tile];
    float origin_x, origin_z;  ///< world position of the corner of texel (0, 0)
    float texel;
};

/// Vertices leave their weight on the four texels around their shadow points.
inline void splat_shadow(floor_scratch& tile, const shadow_caster& caster) {
    const float texels_per_metre = 1.0f / tile.texel;
    const float slope_x = look::sun_direction[0] / look::sun_direction[1];
    const float slope_z = look::sun_direction[2] / look::sun_direction[1];
    constexpr float limit = floor_scratch::side - 1;
    for (std::uint32_t i = 0; i < caster.count; i += caster.step) {
        const skinned_vertex& vertex = caster.vertices[i];
        const float height = vertex.position.y > 0.0f ? vertex.position.y : 0.0f;
        const float u =
            (vertex.position.x - slope_x * height - tile.origin_x) * texels_per_metre + 0.5f;
        const float v =
            (vertex.position.z - slope_z * height - tile.origin_z) * texels_per_metre + 0.5f;
        if (!(u >= 0.0f && u < limit && v >= 0.0f && v < limit)) continue;  // or not a number
        const auto column = static_cast<std::int32_t>(u);
        const auto row = static_cast<std::int32_t>(v);
        const float right = u - static_cast<float>(column);
        const float down = v - static_cast<float>(row);
        const float lower = caster.weight * down;
        const float upper = caster.weight - lower;
        std::int32_t* at = tile.shadow + row * floor_scratch::stride + column;
        at[0] += static_cast<std::int32_t>(upper - upper * right);
        at[1] += static_cast<std::int32_t>(upper * right);
        at[floor_scratch::stride] += static_cast<std::int32_t>(lower - lower * right);
        at[floor_scratch::stride + 1] += static_cast<std::int32_t>(lower * right);
    }
}

inline std::int32_t clamp_texel(float texel) {
    if (!(texel > 0.0f)) return 0;
    return texel < static_cast<float>(floor_tile) ? static_cast<std::int32_t>(texel) : floor_tile;
}

inline void darken_contact(floor_scratch& tile, const ground_contact& contact) {
    const float to_texels = 1.0f / tile.texel;
    const float u = (contact.position.x - tile.origin_x) * to_texels;
    const float v = (contact.position.y - tile.origin_z) * to_texels;
    const float reach = contact.radius * to_texels;
    if (!(reach > 0.0f)) return;
    const std::int32_t first_row = clamp_texel(v - reach);
    const std::int32_t end_row = clamp_texel(v + reach + 1.0f);
    const std::int32_t first = clamp_texel(u - reach) & -lane_count;
    const std::int32_t end = clamp_texel(u + reach + 1.0f);
    const float scale = 1.0f / (reach * reach);
    for (std::int32_t row = first_row; row < end_row; ++row) {
        const float dv = static_cast<float>(row) + 0.5f - v;
        for (std::int32_t column = first; column < end; column += lane_count) {
            const lanes_f du = to_float(lane_numbers() + column) + (0.5f - u);
            const lanes_f inside = maximum(1.0f - (du * du + dv * dv) * scale, splat(0.0f));
            float* at = tile.contact + row * floor_tile + column;
            store(at, load_f(at) * (1.0f - contact.strength * inside * inside));
        }
    }
}

/// Share of the sun that passes the characters: 3 × 3 blur of what the vertices left.
inline lanes_f sun_through(const floor_scratch& tile, std::int32_t row, std::int32_t column) {
    const std::int32_t* at = tile.shadow + row * floor_scratch::stride + column;
    lanes_i sum{};
    for (std::int32_t r = 0; r < 3; ++r, at += floor_scratch::stride) {
        const lanes_i line = load_i(at) + load_i(at + 1) * 2 + load_i(at + 2);
        sum += r == 1 ? line * 2 : line;
    }
    const lanes_f share = to_float(sum) * (1.0f / (16.0f * floor_scratch::full_shadow));
    return 1.0f - minimum(share, splat(1.0f)) * 0.93f;
}

struct light_rgb {
    lanes_f red, green, blue;
};

inline void add_light(light_rgb& sum, const light_source& light, lanes_f x, float z) {
    const lanes_f dx = light.position[0] - x;
    const float dz = light.position[2] - z;
    const float height = light.position[1];
    const lanes_f distance_squared = dx * dx + (dz * dz + height * height);
    const lanes_f fade =
        maximum(1.0f - distance_squared * light.inverse_radius_squared, splat(0.0f));
    const lanes_f power = fade * fade * inverse_root(distance_squared) * height;
    sum.red += power * light.color[0];
    sum.green += power * light.color[1];
    sum.blue += power * light.color[2];
}

/// Root of a quarter of the light in 10 bits: fine steps where it is dark.
inline lanes_i encode_channel(lanes_f light) {
    const lanes_f root = square_root(minimum(light * 0.25f, splat(1.0f)));
    return truncate(root * 1023.0f + 0.5f);
}

inline void light_texels(const floor_scratch& tile, const floor_input& in,
                         const light_list& lights) {
    const std::int32_t first_texel = in.tile_z * floor_tile * floor_texels + in.tile_x * floor_tile;
    for (std::int32_t row = 0; row < floor_tile; ++row) {
        const float z = tile.origin_z + (static_cast<float>(row) + 0.5f) * tile.texel;
        for (std::int32_t column = 0; column < floor_tile; column += lane_count) {
            const lanes_f x =
                tile.origin_x + (to_float(lane_numbers() + column) + 0.5f) * tile.texel;
            const std::int32_t texel = first_texel + row * floor_texels + column;
            const lanes_i baked = load_i(in.floor.baked + texel);
            const lanes_f sun = to_float(baked & 255) * (look::sun_direction[1] / 255.0f) *
                                sun_through(tile, row, column);
            const lanes_f open = to_float((baked >> 8) & 255) * (1.0f / 255.0f);
            light_rgb sum{sun * look::sun_color[0] + open * look::sky_light[0],
                          sun * look::sun_color[1] + open * look::sky_light[1],
                          sun * look::sun_color[2] + open * look::sky_light[2]};
            for (std::uint32_t i = 0; i < lights.count; ++i)
                add_light(sum, in.lights[lights.index[i]], x, z);
            const lanes_f contact = load_f(tile.contact + row * floor_tile + column);
            store(in.floor.light + texel, encode_channel(sum.red * contact) |
                                              encode_channel(sum.green * contact) << 10 |
                                              encode_channel(sum.blue * contact) << 20);
        }
    }
}

/// Does a disc touch the tile's square?
inline bool touches(const floor_scratch& tile, float x, float z, float radius) {
    const float side = tile.texel * floor_tile;
    const float right = tile.origin_x + side;
    const float far = tile.origin_z + side;
    const float dx = x < tile.origin_x ? tile.origin_x - x : x > right ? x - right : 0.0f;
    const float dz = z < tile.origin_z ? tile.origin_z - z : z > far ? z - far : 0.0f;
    return dx * dx + dz * dz <= radius * radius;
}

void light_floor(const floor_input& in) {
    floor_scratch tile;
    tile.texel = 1.0f / in.floor.texels_per_metre;
    tile.origin_x = static_cast<float>(in.tile_x * floor_tile) * tile.texel - in.floor.half_extent;
    tile.origin_z = static_cast<float>(in.tile_z * floor_tile) * tile.texel - in.floor.half_extent;
    for (std::int32_t& shadow : tile.shadow) shadow = 0;
    for (float& contact : tile.contact) contact = 1.0f;

    const float side = tile.texel * floor_tile;
    for (std::uint32_t i = 0; i < in.caster_count; ++i) {
        const shadow_caster& caster = in.casters[i];
        if (caster.max_x > tile.origin_x - tile.texel &&
            caster.max_z > tile.origin_z - tile.texel &&
            caster.min_x < tile.origin_x + side + tile.texel &&
            caster.min_z < tile.origin_z + side + tile.texel)
            splat_shadow(tile, caster);
    }
    for (std::uint32_t i = 0; i < in.contact_count; ++i) {
        const ground_contact& contact = in.contacts[i];
        if (touches(tile, contact.position.x, contact.position.y, contact.radius))
            darken_contact(tile, contact);
    }

    light_list lights;
    lights.count = 0;
    for (std::uint32_t i = 0; i < in.light_count; ++i) {
        const light_source& light = in.lights[i];
        if (light.position[1] > 0.0f &&
            touches(tile, light.position[0], light.position[2], light.radius))
            lights.index[lights.count++] = static_cast<std::uint8_t>(i);
    }
    light_texels(tile, in, lights);
}

}  // namespace
}  // namespace arena
