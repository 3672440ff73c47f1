#include "render/arena_mesh.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

#include "render/arena_layout.hpp"
#include "render/look.hpp"
#include "render/mesh_builder.hpp"

namespace arena {
namespace {

constexpr float wall_height = 3.0f;
constexpr float wall_depth = 1.0f;
constexpr float half = arena_half_extent;

constexpr rgba8 sandstone = make_rgba(164, 143, 118, 0);
constexpr rgba8 marble = make_rgba(196, 184, 166, 0);
constexpr rgba8 basalt = make_rgba(84, 84, 94, 0);
constexpr rgba8 wood = make_rgba(134, 94, 58, 0);
constexpr rgba8 bronze = make_rgba(120, 88, 56, 0);
constexpr rgba8 ember = make_rgba(255, 176, 84, 0);
constexpr rgba8 sand = make_rgba(150, 124, 98, 0);
constexpr rgba8 banners[] = {make_rgba(150, 38, 44, 0), make_rgba(34, 84, 132, 0),
                             make_rgba(170, 124, 38, 0), make_rgba(52, 104, 72, 0)};

/// Between low and high, the same for the same place.
float varied(int a, int b, float low, float high) {
    std::uint32_t hash =
        static_cast<std::uint32_t>(a) * 374761393u + static_cast<std::uint32_t>(b) * 668265263u;
    hash = (hash ^ (hash >> 13)) * 1274126177u;
    return low + (high - low) * static_cast<float>(hash >> 24) / 255.0f;
}

/// Along one side of the square: `along` runs to the right seen from the arena's middle, `away`
/// leads out of the arena.
struct wall_side {
    glm::vec3 along, away;

    glm::vec3 at(float right, float height, float out) const {
        return along * right + away * (half + out) + glm::vec3(0.0f, height, 0.0f);
    }
};

constexpr int side_count = 4;

wall_side side_of(int index) {
    static const glm::vec3 directions[side_count] = {
        {0.0f, 0.0f, -1.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 1.0f}, {-1.0f, 0.0f, 0.0f}};
    const glm::vec3 away = directions[index];
    return {glm::cross(away, glm::vec3(0.0f, 1.0f, 0.0f)), away};
}

void add_floor(std::vector<arena_piece>& pieces) {
    constexpr float cell = 8.0f;
    for (float z = -half; z < half; z += cell * 2.0f) {
        for (float x = -half; x < half; x += cell * 2.0f) {
            mesh_builder builder(material::floor);
            for (int i = 0; i < 4; ++i) {
                const float left = x + (i % 2 == 0 ? 0.0f : cell);
                const float top = z + (i / 2 == 0 ? 0.0f : cell);
                builder.quad({left, 0.0f, top + cell}, {left + cell, 0.0f, top + cell},
                             {left + cell, 0.0f, top}, {left, 0.0f, top}, marble);
            }
            pieces.push_back(builder.take());
        }
    }
}

/// Blocks of stone in three courses, a coping, banners.
arena_piece make_wall(int index) {
    const wall_side side = side_of(index);
    mesh_builder builder(material::stone);
    constexpr float block = 2.0f;
    for (int course = 0; course < 3; ++course) {
        const float low = static_cast<float>(course) * wall_height / 3.0f;
        const float high = low + wall_height / 3.0f;
        const float shift = course % 2 == 0 ? 0.0f : -block * 0.5f;
        int number = 0;
        for (float x = -half + shift; x < half; x += block, ++number) {
            const float left = std::max(x, -half), right = std::min(x + block, half);
            const float tone = varied(number, course + index * 8, 0.80f, 1.04f);
            builder.quad(side.at(left, low, 0.0f), side.at(right, low, 0.0f),
                         side.at(right, high, 0.0f), side.at(left, high, 0.0f),
                         shade_of(sandstone, tone));
        }
    }
    builder.quad(side.at(-half - wall_depth, wall_height, -0.12f),
                 side.at(half + wall_depth, wall_height, -0.12f),
                 side.at(half + wall_depth, wall_height + 0.3f, -0.12f),
                 side.at(-half - wall_depth, wall_height + 0.3f, -0.12f), marble);
    builder.quad(side.at(-half - wall_depth, wall_height + 0.3f, -0.12f),
                 side.at(half + wall_depth, wall_height + 0.3f, -0.12f),
                 side.at(half + wall_depth, wall_height + 0.3f, wall_depth),
                 side.at(-half - wall_depth, wall_height + 0.3f, wall_depth),
                 shade_of(marble, 0.92f));
    int number = index;
    for (float x = -28.0f; x <= 28.0f; x += 8.0f, ++number) {
        const rgba8 cloth = banners[number % 4];
        builder.quad(side.at(x - 0.7f, 0.7f, -0.06f), side.at(x + 0.7f, 0.7f, -0.06f),
                     side.at(x + 0.7f, 2.75f, -0.06f), side.at(x - 0.7f, 2.75f, -0.06f), cloth);
        builder.quad(side.at(x - 0.7f, 0.9f, -0.07f), side.at(x + 0.7f, 0.9f, -0.07f),
                     side.at(x + 0.7f, 1.05f, -0.07f), side.at(x - 0.7f, 1.05f, -0.07f),
                     shade_of(ember, 0.8f));
    }
    return builder.take();
}

/// Steps for spectators behind a wall.
arena_piece make_stand(int index) {
    const wall_side side = side_of(index);
    mesh_builder builder(material::stone);
    for (int step = 0; step < 6; ++step) {
        const float out = wall_depth + static_cast<float>(step) * 1.5f;
        const float low = wall_height + 0.3f + static_cast<float>(step) * 0.85f;
        const float high = low + 0.85f;
        const float reach = half + out + 1.5f;
        int number = 0;
        for (float x = -reach; x < reach; x += 8.0f, ++number) {
            const float right = std::min(x + 8.0f, reach);
            const float tone = varied(number, step + 40 + index * 8, 0.86f, 1.02f);
            builder.quad(side.at(x, low, out), side.at(right, low, out), side.at(right, high, out),
                         side.at(x, high, out), shade_of(sandstone, tone * 0.85f));
            builder.quad(side.at(x, high, out), side.at(right, high, out),
                         side.at(right, high, out + 1.5f), side.at(x, high, out + 1.5f),
                         shade_of(sandstone, tone));
        }
    }
    return builder.take();
}

arena_piece make_tower(float x, float z) {
    mesh_builder builder(material::stone);
    builder.cone({x, -1.0f, z}, 13.0f, 3.6f, 3.1f, 20, sandstone, sandstone);
    builder.cone({x, 12.0f, z}, 1.2f, 3.6f, 3.7f, 20, marble, marble);
    builder.cone({x, 13.2f, z}, 4.2f, 3.9f, 0.0f, 20, banners[0], banners[0]);
    return builder.take();
}

void add_surroundings(std::vector<arena_piece>& pieces) {
    for (int index = 0; index < side_count; ++index) {
        pieces.push_back(make_wall(index));
        pieces.push_back(make_stand(index));
        const wall_side side = side_of(index);
        mesh_builder ground(material::stone);
        constexpr float far = 260.0f;
        for (float x = -far; x < far; x += 65.0f)
            ground.quad(side.at(x, -0.5f, 4.0f), side.at(x + 65.0f, -0.5f, 4.0f),
                        side.at(x + 65.0f, -0.5f, far), side.at(x, -0.5f, far), sand);
        pieces.push_back(ground.take());
    }
    for (const float x : {-1.0f, 1.0f})
        for (const float z : {-1.0f, 1.0f}) pieces.push_back(make_tower(x * 42.5f, z * 42.5f));
}

void add_pillar(mesh_builder& builder, const obstacle& o, const glm::vec3& foot) {
    builder.box(foot + glm::vec3(0.0f, 0.2f, 0.0f), {o.radius, 0.2f, o.radius}, 0.0f,
                shade_of(marble, 0.8f), shade_of(marble, 0.9f));
    builder.cone(foot + glm::vec3(0.0f, 0.4f, 0.0f), 0.25f, o.radius * 0.9f, o.radius * 0.74f, 24,
                 marble, marble);
    builder.cone(foot + glm::vec3(0.0f, 0.65f, 0.0f), o.height - 1.35f, o.radius * 0.70f,
                 o.radius * 0.60f, 24, marble, marble);
    const float capital = o.height - 0.7f;
    builder.cone(foot + glm::vec3(0.0f, capital, 0.0f), 0.4f, o.radius * 0.62f, o.radius * 0.95f,
                 24, shade_of(marble, 0.95f), marble);
    builder.box(foot + glm::vec3(0.0f, capital + 0.55f, 0.0f), {o.radius, 0.15f, o.radius}, 0.0f,
                shade_of(marble, 0.9f), marble);
}

void add_brazier(mesh_builder& builder, const obstacle& o, const glm::vec3& foot) {
    builder.cone(foot, 0.18f, o.radius, o.radius * 0.75f, 14, basalt, basalt);
    builder.cone(foot + glm::vec3(0.0f, 0.18f, 0.0f), 0.62f, 0.16f, 0.12f, 10, bronze, bronze);
    builder.cone(foot + glm::vec3(0.0f, 0.8f, 0.0f), o.height - 0.8f, 0.18f, o.radius, 14, bronze,
                 shade_of(bronze, 0.4f));
}

void add_obelisk(mesh_builder& builder, const obstacle& o, const glm::vec3& foot) {
    builder.cone(foot, 0.35f, o.radius, o.radius * 0.95f, 32, shade_of(basalt, 1.2f),
                 shade_of(basalt, 1.3f));
    builder.box(foot + glm::vec3(0.0f, 0.75f, 0.0f), {0.85f, 0.4f, 0.85f}, 0.785f, basalt,
                shade_of(basalt, 1.15f));
    const float low = 1.15f, high = o.height - 0.7f;
    const glm::vec3 tip = foot + glm::vec3(0.0f, o.height, 0.0f);
    for (int i = 0; i < 4; ++i) {
        const float angle = 0.785398f * static_cast<float>(2 * i + 1);
        const glm::vec3 out(std::cos(angle), 0.0f, std::sin(angle));
        const glm::vec3 next(-out.z, 0.0f, out.x);
        const glm::vec3 a = foot + out * 0.85f + glm::vec3(0.0f, low, 0.0f);
        const glm::vec3 b = foot + next * 0.85f + glm::vec3(0.0f, low, 0.0f);
        const glm::vec3 c = foot + next * 0.5f + glm::vec3(0.0f, high, 0.0f);
        const glm::vec3 d = foot + out * 0.5f + glm::vec3(0.0f, high, 0.0f);
        builder.quad(a, d, c, b, shade_of(basalt, 1.1f));
        builder.quad(d, tip, tip + (c - d) * 0.01f, c, shade_of(ember, 0.75f));
    }
}

void add_props(std::vector<arena_piece>& pieces) {
    mesh_builder embers(material::glowing);
    int number = 0;
    for (const obstacle& o : arena_obstacles()) {
        mesh_builder builder(material::stone);
        const glm::vec3 foot(o.center.x, 0.0f, o.center.y);
        switch (o.kind) {
            case prop_kind::pillar:
                add_pillar(builder, o, foot);
                break;
            case prop_kind::brazier:
                add_brazier(builder, o, foot);
                embers.sphere(foot + glm::vec3(0.0f, o.height - 0.12f, 0.0f), o.radius * 0.62f, 12,
                              ember);
                break;
            case prop_kind::crate: {
                const float turn = varied(number, 7, -0.5f, 0.5f);
                const float size = o.radius * 0.72f;
                builder.box(foot + glm::vec3(0.0f, o.height * 0.5f, 0.0f),
                            {size, o.height * 0.5f, size}, turn, wood, shade_of(wood, 1.12f));
                builder.box(foot + glm::vec3(0.0f, o.height * 0.5f, 0.0f),
                            {size * 1.04f, o.height * 0.08f, size * 1.04f}, turn,
                            shade_of(wood, 0.7f), shade_of(wood, 0.7f));
                break;
            }
            case prop_kind::obelisk:
                add_obelisk(builder, o, foot);
                break;
        }
        ++number;
        pieces.push_back(builder.take());
    }
    pieces.push_back(embers.take());
}

float soft_step(float x) {
    const float t = std::clamp(x, 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

/// Share of the sun that an obstacle leaves to a point of the floor; softer with distance.
float sun_past(const obstacle& o, glm::vec2 point) {
    const glm::vec2 sun(look::sun_direction[0], look::sun_direction[2]);
    const float length = glm::length(sun);
    const glm::vec2 towards_sun = sun / length;
    const glm::vec2 to_center = o.center - point;
    const float along = glm::dot(to_center, towards_sun);
    if (along < -o.radius) return 1.0f;
    const float off = std::fabs(to_center.x * towards_sun.y - to_center.y * towards_sun.x);
    const float radius = o.kind == prop_kind::pillar    ? o.radius * 0.8f
                         : o.kind == prop_kind::obelisk ? o.radius * 0.62f
                                                        : o.radius * 0.9f;
    const float softness = 0.12f + 0.05f * std::max(along, 0.0f);
    const float height = std::max(along, 0.0f) * look::sun_direction[1] / length;
    const float wide = soft_step((radius - off) / softness + 0.5f);
    const float high = soft_step((o.height - height) / softness + 0.5f);
    const float before = soft_step(along / 0.3f + 1.0f);
    return 1.0f - wide * high * before;
}

float open_sky(glm::vec2 point) {
    const float to_wall = half - std::max(std::fabs(point.x), std::fabs(point.y));
    float open = 1.0f - 0.5f * soft_step(1.0f - to_wall / 3.0f);
    for (const obstacle& o : arena_obstacles()) {
        const float gap = glm::distance(point, o.center) - o.radius * 0.85f;
        if (gap < 1.3f) open *= 1.0f - 0.6f * soft_step(1.0f - gap / 1.3f);
    }
    return open;
}

/// Share of the sun that clears the walls.
float sun_over_walls(glm::vec2 point) {
    float clear = 1.0f;
    const float position[2] = {point.x, point.y};
    const float towards[2] = {look::sun_direction[0], look::sun_direction[2]};
    for (int axis = 0; axis < 2; ++axis) {
        const float to_wall = towards[axis] > 0.0f ? half - position[axis] : half + position[axis];
        const float height = to_wall / std::fabs(towards[axis]) * look::sun_direction[1];
        clear *= 1.0f - soft_step((wall_height + 0.3f - height) / 0.5f + 0.5f);
    }
    return clear;
}

}  // namespace

std::vector<arena_piece> make_arena() {
    std::vector<arena_piece> pieces;
    add_props(pieces);
    add_floor(pieces);
    add_surroundings(pieces);
    return pieces;
}

std::vector<std::uint32_t> bake_floor() {
    std::vector<std::uint32_t> baked(std::size_t{floor_texels} * floor_texels);
    constexpr float texel = 2.0f * half / static_cast<float>(floor_texels);
    for (std::int32_t row = 0; row < floor_texels; ++row) {
        for (std::int32_t column = 0; column < floor_texels; ++column) {
            const glm::vec2 point(-half + (static_cast<float>(column) + 0.5f) * texel,
                                  -half + (static_cast<float>(row) + 0.5f) * texel);
            float sun = sun_over_walls(point);
            for (const obstacle& o : arena_obstacles()) sun *= sun_past(o, point);
            baked[static_cast<std::size_t>(row * floor_texels + column)] =
                static_cast<std::uint32_t>(sun * 255.0f + 0.5f) |
                static_cast<std::uint32_t>(open_sky(point) * 255.0f + 0.5f) << 8;
        }
    }
    return baked;
}

}  // namespace arena
