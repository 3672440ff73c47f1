#pragma once
// What the renderer is told about one frame. Plain views: the caller owns the memory and keeps it
// unchanged from renderer::begin_frame until the last stage of that frame has run.
//
// World: metres, right-handed, y up, floor at y = 0. Colours: linear light unless named rgba8.

#include <cstdint>
#include <span>
#include <string_view>

#include <glm/mat4x4.hpp>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

namespace arena {

/// Bytes R, G, B, A in memory order (R in the low byte), sRGB.
using rgba8 = std::uint32_t;

constexpr rgba8 make_rgba(unsigned r, unsigned g, unsigned b, unsigned a = 255) {
    return (r & 255u) | (g & 255u) << 8 | (b & 255u) << 16 | (a & 255u) << 24;
}

/// World space, after skinning. The normal need not have unit length.
struct skinned_vertex {
    glm::vec3 position;
    glm::vec3 normal;
};

enum class surface : std::uint8_t {
    cloth,    ///< matte with a rim
    armor,    ///< highlights of sun and lights
    glowing,  ///< colour is emitted, no light needed
};

/// One character or prop. Triangles wind counter-clockwise seen from outside; others are culled.
struct draw_command {
    std::uint32_t id = 0;  ///< ascending in frame_input::draws; the lower id wins at equal depth
    std::span<const skinned_vertex> vertices;
    std::span<const std::uint32_t> indices;  ///< 3 per triangle, each < vertices.size()
    /// One per triangle, shared by all instances of a mesh; empty: all white and fully tinted.
    /// The alpha byte says how much of `tint` applies: 0 keeps the colour, 255 multiplies by it.
    std::span<const rgba8> triangle_colors;
    rgba8 tint = make_rgba(255, 255, 255);
    surface material = surface::cloth;
    bool casts_shadow = true;  ///< sun shadow on the floor, from the vertices
    glm::vec3 center{0.0f};    ///< bounding sphere of the vertices; culls draws and shadows
    float radius = 0.0f;
};

/// Darkens the floor around the feet. Also for characters outside the view: it needs no vertices.
struct ground_contact {
    glm::vec2 position;  ///< x, z
    float radius;        ///< where the darkening ends
    float strength;      ///< 0 … 1 in the middle
};

/// Falls smoothly to zero at `radius`. Drawn as a small glowing ball, too.
struct point_light {
    glm::vec3 position;
    float radius;
    glm::vec3 color;
};

struct camera {
    glm::mat4 view{1.0f};
    /// A perspective projection (glm::perspective, glm::frustum): clip w is the view depth.
    glm::mat4 projection{1.0f};
};

/// Filled rectangle in pixels, blended by alpha.
struct ui_box {
    float x, y, width, height;
    rgba8 color;
};

/// One line of ASCII; x, y is the top left corner in pixels, a line is 12 * scale pixels high.
struct ui_text {
    float x, y;
    float scale;
    rgba8 color;
    std::string_view text;
};

struct frame_input {
    camera eye;
    std::span<const draw_command> draws;
    std::span<const point_light> lights;  ///< at most max_lights; the rest is ignored
    std::span<const ground_contact> contacts;
    std::span<const ui_box> boxes;  ///< painted in order, before all texts
    std::span<const ui_text> texts;
    float time = 0.0f;  ///< seconds, for what glows and flickers in the arena itself
};

constexpr std::uint32_t max_lights = 64;

}  // namespace arena
