#pragma once
// Internal: the generated geometry of the arena and the light that never changes.

#include <cstdint>
#include <vector>

#include <glm/vec3.hpp>

#include "render/kernels.hpp"
#include "render/scene.hpp"

namespace arena {

/// Culled as a whole by its sphere.
struct arena_piece {
    std::vector<skinned_vertex> vertices;
    std::vector<std::uint32_t> indices;
    std::vector<rgba8> colors;  ///< per triangle
    material kind = material::stone;
    glm::vec3 center{0.0f};
    float radius = 0.0f;
};

std::vector<arena_piece> make_arena();

/// floor_view::baked: where the sun reaches the floor, and how much sky it sees.
std::vector<std::uint32_t> bake_floor();

}  // namespace arena
