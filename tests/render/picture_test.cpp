// Light, shadow and fog do what their names say.

#include <gtest/gtest.h>

#include <string>

#include "render/arena_layout.hpp"
#include "scene_fixture.hpp"

namespace {

using namespace scene;

constexpr std::uint32_t width = 320, height = 180;

unsigned brightness(arena::rgba8 pixel) {
    return (pixel & 255u) + (pixel >> 8 & 255u) + (pixel >> 16 & 255u);
}

/// Looks straight down at a spot of the floor that neither props nor their shadows touch.
class FloorFromAbove : public ::testing::Test {
protected:
    static constexpr glm::vec3 spot{4.0f, 0.0f, -27.0f};

    FloorFromAbove() {
        input.eye.view = glm::lookAt(spot + glm::vec3(0.0f, 12.0f, 0.0f), spot, {0, 0, -1});
        input.eye.projection = glm::perspective(glm::radians(60.0f), 16.0f / 9.0f, 0.1f, 100.0f);
    }

    /// Mean brightness of the floor around a point.
    double floor_at(const glm::vec3& point, float size = 0.3f) {
        double sum = 0.0;
        int count = 0;
        for (float dz = -size; dz <= size; dz += size * 0.25f)
            for (float dx = -size; dx <= size; dx += size * 0.25f) {
                const glm::vec4 clip = input.eye.projection * input.eye.view *
                                       glm::vec4(point + glm::vec3(dx, 0.0f, dz), 1.0f);
                const auto x = static_cast<std::uint32_t>((clip.x / clip.w * 0.5f + 0.5f) * width);
                const auto y = static_cast<std::uint32_t>((0.5f - clip.y / clip.w * 0.5f) * height);
                sum += brightness(renderer.pixels()[y * width + x]);
                ++count;
            }
        return sum / count;
    }

    arena::frame_input input;
    arena::renderer renderer{{.width = width, .height = height}};
};

TEST_F(FloorFromAbove, LightMakesAPool) {
    render(renderer, input);
    const double before = floor_at(spot), before_far = floor_at(spot + glm::vec3(5.0f, 0, 0));
    const arena::point_light light{spot + glm::vec3(0.0f, 1.5f, 1.0f), 4.0f, {0.2f, 0.4f, 1.5f}};
    input.lights = {&light, 1};
    render(renderer, input);
    EXPECT_GT(floor_at(spot), before * 1.1);
    EXPECT_NEAR(floor_at(spot + glm::vec3(5.0f, 0, 0)), before_far, 1.0) << "beyond its radius";
}

TEST_F(FloorFromAbove, CharactersStandInTheirContact) {
    render(renderer, input);
    const double before = floor_at(spot);
    const arena::ground_contact contact{{spot.x, spot.z}, 0.8f, 0.8f};
    input.contacts = {&contact, 1};
    render(renderer, input);
    EXPECT_LT(floor_at(spot, 0.2f), before * 0.8);
    EXPECT_GT(floor_at(spot + glm::vec3(3.0f, 0, 0)), before * 0.8);
}

TEST_F(FloorFromAbove, ShadowFallsAwayFromTheSun) {
    render(renderer, input);
    // A curtain of vertices, 2 m high; the sun stands at -x, +z, so its shadow falls to +x, -z.
    mesh curtain;
    for (int i = 0; i < 400; ++i) {
        const glm::vec3 p = spot + glm::vec3(static_cast<float>(i % 20) * 0.02f - 0.2f,
                                             static_cast<float>(i / 20) * 0.1f, 0.0f);
        curtain.vertices.push_back({p, {0, 1, 0}});
    }
    const glm::vec3 shaded = spot + glm::vec3(0.86f, 0.0f, -0.84f);
    const glm::vec3 sunny = spot + glm::vec3(-0.86f, 0.0f, 0.84f);
    const double shaded_before = floor_at(shaded, 0.1f), sunny_before = floor_at(sunny, 0.1f);
    arena::draw_command command = curtain.command(0);
    command.center = spot + glm::vec3(0.0f, 1.0f, 0.0f);
    command.radius = 1.2f;
    input.draws = {&command, 1};
    render(renderer, input);
    EXPECT_LT(floor_at(shaded, 0.1f), shaded_before * 0.85);
    EXPECT_NEAR(floor_at(sunny, 0.1f), sunny_before, 2.0);
    command.casts_shadow = false;
    render(renderer, input);
    EXPECT_NEAR(floor_at(shaded, 0.1f), shaded_before, 2.0);
}

TEST(Picture, TintAppliesAsFarAsTheColourLetsIt) {
    mesh m;
    m.triangle(at_pixel(10, 10), at_pixel(10, 110), at_pixel(110, 60),
               arena::make_rgba(255, 255, 255));
    m.colors[0] = arena::make_rgba(255, 255, 255, 255);
    arena::draw_command command = m.command(0);
    command.tint = arena::make_rgba(255, 0, 0);
    arena::frame_input input;
    input.eye = straight_camera();
    input.draws = {&command, 1};
    arena::renderer renderer({.width = side, .height = side, .draw_arena = false});
    render(renderer, input);
    EXPECT_EQ(hue(renderer.pixels()[60 * side + 40]), 'r');
    m.colors[0] = arena::make_rgba(0, 255, 0, 0);
    render(renderer, input);
    EXPECT_EQ(hue(renderer.pixels()[60 * side + 40]), 'g');
}

TEST(Picture, LightsBrightenCharactersInTheirReachOnly) {
    mesh m;
    m.triangle(at_pixel(10, 10), at_pixel(10, 110), at_pixel(110, 60),
               arena::make_rgba(90, 90, 90));
    arena::draw_command command = m.command(0);
    command.material = arena::surface::cloth;
    arena::frame_input input;
    input.eye = straight_camera();
    input.draws = {&command, 1};
    arena::renderer renderer({.width = side, .height = side, .draw_arena = false});
    const std::uint32_t pixel = 60 * side + 40;
    render(renderer, input);
    const unsigned dark = brightness(renderer.pixels()[pixel]);
    arena::point_light light{{1.0f, 1.0f, -2.0f}, 6.0f, {1.0f, 1.0f, 1.0f}};
    input.lights = {&light, 1};
    render(renderer, input);
    EXPECT_GT(brightness(renderer.pixels()[pixel]), dark + 60);
    light.radius = 1.0f;
    render(renderer, input);
    EXPECT_EQ(brightness(renderer.pixels()[pixel]), dark);
}

TEST(Arena, ObstaclesStandInsideAndApart) {
    const std::span<const arena::obstacle> all = arena::arena_obstacles();
    ASSERT_FALSE(all.empty());
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_LT(std::fabs(all[i].center.x) + all[i].radius, arena::arena_half_extent);
        EXPECT_LT(std::fabs(all[i].center.y) + all[i].radius, arena::arena_half_extent);
        for (std::size_t k = 0; k < i; ++k)
            EXPECT_GT(glm::distance(all[i].center, all[k].center),
                      all[i].radius + all[k].radius - 0.05f);
    }
}

}  // namespace
