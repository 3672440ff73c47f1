#pragma once
// Internal: solids out of flat and round faces, wound counter-clockwise seen from outside.

#include <cstdint>

#include <glm/vec3.hpp>

#include "render/arena_mesh.hpp"

namespace arena {

class mesh_builder {
public:
    explicit mesh_builder(material kind) { piece_.kind = kind; }

    /// Corners counter-clockwise.
    void quad(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c, const glm::vec3& d,
              rgba8 color);

    /// Turned around the vertical axis; without its lower side.
    void box(const glm::vec3& center, const glm::vec3& half_size, float turn, rgba8 side,
             rgba8 top);

    /// Around the vertical axis, smooth sides, open below; a top when `top_radius` > 0.
    void cone(const glm::vec3& base, float height, float base_radius, float top_radius, int sides,
              rgba8 side, rgba8 top);

    void sphere(const glm::vec3& center, float radius, int sides, rgba8 color);

    /// The piece with its bounds; the builder starts anew.
    arena_piece take();

private:
    std::uint32_t vertex(const glm::vec3& position, const glm::vec3& normal);
    void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, rgba8 color);

    arena_piece piece_;
};

/// The same colour, brighter or darker, not tintable.
rgba8 shade_of(rgba8 color, float factor);

}  // namespace arena
