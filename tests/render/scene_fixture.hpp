#pragma once
// Scenes for the renderer's tests: flat triangles placed by pixel, and a small busy frame.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <glm/ext/matrix_clip_space.hpp>
#include <glm/ext/matrix_transform.hpp>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>

#include "render/renderer.hpp"

namespace scene {

constexpr std::uint32_t side = 128;  ///< pixels of the small square pictures

/// Looks along -z from the origin; at depth d the picture is 2 d wide.
inline arena::camera straight_camera() {
    return {glm::mat4(1.0f), glm::perspective(glm::radians(90.0f), 1.0f, 0.1f, 100.0f)};
}

/// The point that projects to pixel coordinates x, y (y down) at a view depth.
inline glm::vec3 at_pixel(float x, float y, float depth = 4.0f) {
    constexpr auto size = static_cast<float>(side);
    return {(x / size * 2.0f - 1.0f) * depth, (1.0f - y / size * 2.0f) * depth, -depth};
}

/// Owns what draw commands point to.
struct mesh {
    std::vector<arena::skinned_vertex> vertices;
    std::vector<std::uint32_t> indices;
    std::vector<arena::rgba8> colors;

    void triangle(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c, arena::rgba8 color) {
        for (const glm::vec3& corner : {a, b, c}) {
            indices.push_back(static_cast<std::uint32_t>(vertices.size()));
            vertices.push_back({corner, {0.0f, 0.0f, 1.0f}});
        }
        colors.push_back(color & 0x00ffffffu);
    }

    /// Glowing, so that the colour on the screen depends on the triangle's colour alone.
    arena::draw_command command(std::uint32_t id) const {
        arena::draw_command draw;
        draw.id = id;
        draw.vertices = vertices;
        draw.indices = indices;
        draw.triangle_colors = colors;
        draw.material = arena::surface::glowing;
        draw.radius = 1e6f;
        return draw;
    }
};

constexpr arena::rgba8 red = arena::make_rgba(255, 0, 0), green = arena::make_rgba(0, 255, 0),
                       blue = arena::make_rgba(0, 0, 255);

/// The strongest channel of a pixel: what colour a glowing triangle gave it.
inline char hue(arena::rgba8 pixel) {
    const unsigned r = pixel & 255u, g = pixel >> 8 & 255u, b = pixel >> 16 & 255u;
    if (r > 2 * g && r > 2 * b && r > 150) return 'r';
    if (g > 2 * r && g > 2 * b && g > 150) return 'g';
    if (b > 2 * r && b > 2 * g && b > 150) return 'b';
    return '.';
}

inline void run_stage(arena::renderer& renderer, arena::render_stage stage) {
    for (std::uint32_t part = 0; part < renderer.parts(stage); ++part) renderer.run(stage, part);
}

inline void render(arena::renderer& renderer, const arena::frame_input& input) {
    renderer.begin_frame(input);
    for (const arena::render_stage stage : arena::all_render_stages) run_stage(renderer, stage);
}

/// As `render`, with the parts of each stage in a random order, and the three first stages mixed.
inline void render_shuffled(arena::renderer& renderer, const arena::frame_input& input,
                            std::uint32_t seed) {
    using arena::render_stage;
    std::mt19937 random(seed);
    renderer.begin_frame(input);
    const std::vector<std::vector<render_stage>> groups{
        {render_stage::lights, render_stage::floor, render_stage::geometry},
        {render_stage::tiles},
        {render_stage::resolve},
        {render_stage::hash}};
    for (const std::vector<render_stage>& group : groups) {
        std::vector<std::pair<render_stage, std::uint32_t>> work;
        for (const render_stage stage : group)
            for (std::uint32_t part = 0; part < renderer.parts(stage); ++part)
                work.emplace_back(stage, part);
        std::shuffle(work.begin(), work.end(), random);
        for (const auto& [stage, part] : work) renderer.run(stage, part);
    }
}

/// A crowd of tumbling tetrahedra with lights, contacts and text: every code path at once.
struct busy_scene {
    explicit busy_scene(std::uint32_t seed, std::uint32_t count = 60) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<float> unit(-1.0f, 1.0f);
        meshes.resize(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            const glm::vec3 center(unit(random) * 20.0f, 1.0f, unit(random) * 20.0f);
            for (int t = 0; t < 40; ++t) {
                const auto corner = [&] {
                    return center + glm::vec3(unit(random), unit(random), unit(random)) * 0.9f;
                };
                const glm::vec3 a = corner(), b = corner(), c = corner();
                meshes[i].triangle(a, b, c, static_cast<arena::rgba8>(random()));
            }
            arena::draw_command draw = meshes[i].command(i);
            draw.material = static_cast<arena::surface>(i % 3);
            draw.center = center;
            draw.radius = 1.6f;
            draws.push_back(draw);
            contacts.push_back({{center.x, center.z}, 0.6f, 0.7f});
        }
        for (std::uint32_t i = 0; i < arena::max_lights; ++i)
            lights.push_back({{unit(random) * 25.0f, 2.0f + unit(random), unit(random) * 25.0f},
                              5.0f,
                              {1.0f + unit(random), 1.0f + unit(random), 1.0f + unit(random)}});
        input.eye.view = glm::lookAt(glm::vec3(18.0f, 6.0f, 12.0f), glm::vec3(0.0f, 1.0f, 0.0f),
                                     glm::vec3(0.0f, 1.0f, 0.0f));
        input.eye.projection = glm::perspective(glm::radians(60.0f), 16.0f / 9.0f, 0.1f, 200.0f);
        boxes.push_back({10.0f, 10.0f, 120.0f, 30.0f, arena::make_rgba(0, 0, 0, 128)});
        texts.push_back({14.0f, 14.0f, 2.0f, arena::make_rgba(255, 255, 255), "Braid"});
        input.draws = draws;
        input.lights = lights;
        input.contacts = contacts;
        input.boxes = boxes;
        input.texts = texts;
    }
    busy_scene(const busy_scene&) = delete;
    busy_scene& operator=(const busy_scene&) = delete;

    std::vector<mesh> meshes;
    std::vector<arena::draw_command> draws;
    std::vector<arena::ground_contact> contacts;
    std::vector<arena::point_light> lights;
    std::vector<arena::ui_box> boxes;
    std::vector<arena::ui_text> texts;
    arena::frame_input input;
};

}  // namespace scene
