#include "render/light_bins.hpp"

#include <algorithm>

#include <glm/geometric.hpp>

#include "render/look.hpp"

namespace arena {
namespace {

/// The world ray of unit depth through a point of the picture.
glm::vec3 ray_through(const view_setup& view, float x, float y) {
    glm::vec3 ray;
    for (int i = 0; i < 3; ++i)
        ray[i] = view.ray_origin[i] + x * view.ray_dx[i] + y * view.ray_dy[i];
    return ray;
}

/// Normal of the plane through the eye and two rays; points to the left of a → b.
glm::vec3 side(const glm::vec3& a, const glm::vec3& b) { return glm::normalize(glm::cross(a, b)); }

}  // namespace

light_source place_light(const point_light& light, const view_setup& view) {
    light_source placed{};
    const float radius = std::max(light.radius, 0.001f);
    placed.radius = radius;
    placed.inverse_radius_squared = 1.0f / (radius * radius);
    float projected[3];
    for (int i = 0; i < 3; ++i) {
        placed.position[i] = light.position[i];
        placed.color[i] = light.color[i];
        projected[i] = view.to_pixel[i][0] * light.position.x +
                       view.to_pixel[i][1] * light.position.y +
                       view.to_pixel[i][2] * light.position.z + view.to_pixel[i][3];
    }
    placed.depth = projected[2];
    if (placed.depth > look::light_halo_radius) {
        placed.screen_x = projected[0] / placed.depth;
        placed.screen_y = projected[1] / placed.depth;
        placed.screen_radius = look::light_halo_radius / (placed.depth * view.pixel_angle);
    }
    return placed;
}

tile_sides sides_of(const view_setup& view, std::int32_t column, std::int32_t row) {
    const auto left = static_cast<float>(column * tile_size);
    const auto top = static_cast<float>(row * tile_size);
    const float right = left + static_cast<float>(tile_size);
    const float bottom = top + static_cast<float>(tile_size);
    const glm::vec3 corner[4] = {ray_through(view, left, top), ray_through(view, right, top),
                                 ray_through(view, right, bottom), ray_through(view, left, bottom)};
    // Whatever way the axes run, the tile's middle is inside of its sides.
    const glm::vec3 middle = corner[0] + corner[2];
    tile_sides sides{};
    for (int i = 0; i < 4; ++i) {
        glm::vec3 normal = side(corner[i], corner[(i + 1) % 4]);
        if (glm::dot(normal, middle) < 0.0f) normal = -normal;
        for (int c = 0; c < 3; ++c) sides.normal[i][c] = normal[c];
    }
    return sides;
}

seen_light look_at(const light_source& light, const view_setup& view) {
    seen_light seen{.from_eye = {}, .radius = light.radius, .depth = light.depth, .unused = {}};
    for (int i = 0; i < 3; ++i) seen.from_eye[i] = light.position[i] - view.eye[i];
    return seen;
}

void list_lights(const tile_sides& sides, std::span<const seen_light> lights, light_list& list) {
    list.count = 0;
    for (std::size_t i = 0; i < lights.size(); ++i) {
        const seen_light& light = lights[i];
        const float* const at = light.from_eye;
        bool reaches = light.depth > -light.radius;
        for (const auto& normal : sides.normal) {
            const float inwards = normal[0] * at[0] + normal[1] * at[1] + normal[2] * at[2];
            reaches = reaches && inwards > -light.radius;
        }
        if (reaches) list.index[list.count++] = static_cast<std::uint8_t>(i);
    }
}

}  // namespace arena
