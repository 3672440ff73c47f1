#pragma once
// Where things stand in the arena: shared by the game (steering, collision) and the renderer.

#include <cstdint>
#include <span>

#include <glm/vec2.hpp>

namespace arena {

/// The floor spans [-arena_half_extent, +arena_half_extent] in x and z; the walls stand just
/// outside of it.
constexpr float arena_half_extent = 32.0f;

enum class prop_kind : std::uint8_t { pillar, brazier, crate, obelisk };

/// Seen from above every prop is a disc that nobody may enter.
struct obstacle {
    glm::vec2 center;  ///< x, z
    float radius;
    float height;
    prop_kind kind;
};

/// The same list in every run; static storage.
std::span<const obstacle> arena_obstacles();

}  // namespace arena
