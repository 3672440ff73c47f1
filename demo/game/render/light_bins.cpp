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

void bin_lights(const view_setup& view, const light_source* lights, std::uint32_t count,
                std::int32_t tile_row, light_list* lists) {
    const auto top = static_cast<float>(tile_row * tile_size);
    const float bottom = top + static_cast<float>(tile_size);
    for (std::int32_t column = 0; column < view.tiles_x; ++column) {
        const auto left = static_cast<float>(column * tile_size);
        const float right = left + static_cast<float>(tile_size);
        const glm::vec3 corner[4] = {ray_through(view, left, top), ray_through(view, right, top),
                                     ray_through(view, right, bottom),
                                     ray_through(view, left, bottom)};
        glm::vec3 sides[4];
        for (int i = 0; i < 4; ++i) sides[i] = side(corner[i], corner[(i + 1) % 4]);
        // Whatever way the axes run, the tile's middle is inside of its sides.
        const glm::vec3 middle = corner[0] + corner[2];
        light_list& list = lists[tile_row * view.tiles_x + column];
        list.count = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            const light_source& light = lights[i];
            const glm::vec3 from_eye(light.position[0] - view.eye[0],
                                     light.position[1] - view.eye[1],
                                     light.position[2] - view.eye[2]);
            bool reaches = light.depth > -light.radius;
            for (const glm::vec3& normal : sides) {
                const float inward = glm::dot(normal, middle) < 0.0f ? -1.0f : 1.0f;
                reaches = reaches && inward * glm::dot(normal, from_eye) > -light.radius;
            }
            if (reaches) list.index[list.count++] = static_cast<std::uint8_t>(i);
        }
    }
}

}  // namespace arena
