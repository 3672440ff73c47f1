// Which pixels a triangle covers, and which of several triangles a pixel shows.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "scene_fixture.hpp"

namespace {

using namespace scene;

class Raster : public ::testing::TestWithParam<bool> {
protected:
    /// Draws the meshes in order; the picture is then read by hue.
    void draw(const std::vector<mesh>& meshes) {
        std::vector<arena::draw_command> draws;
        for (std::uint32_t i = 0; i < meshes.size(); ++i) draws.push_back(meshes[i].command(i));
        arena::frame_input input;
        input.eye = straight_camera();
        input.draws = draws;
        render(renderer, input);
    }

    char at(std::uint32_t x, std::uint32_t y) const { return hue(renderer.pixels()[y * side + x]); }

    std::uint32_t count(char color) const {
        std::uint32_t pixels = 0;
        for (std::uint32_t y = 0; y < side; ++y)
            for (std::uint32_t x = 0; x < side; ++x) pixels += at(x, y) == color ? 1u : 0u;
        return pixels;
    }

    arena::renderer renderer{{.width = side,
                              .height = side,
                              .draw_arena = false,
                              .smooth_edges = false,
                              .portable_kernels = GetParam()}};
};

INSTANTIATE_TEST_SUITE_P(Kernels, Raster, ::testing::Values(false, true), [](const auto& kernels) {
    return std::string(kernels.param ? "Portable" : "Best");
});

void square(mesh& out, float left, float top, float right, float bottom, float depth,
            arena::rgba8 color) {
    const glm::vec3 a = at_pixel(left, top, depth), b = at_pixel(left, bottom, depth);
    const glm::vec3 c = at_pixel(right, bottom, depth), d = at_pixel(right, top, depth);
    out.triangle(a, b, c, color);
    out.triangle(a, c, d, color);
}

TEST_P(Raster, SquareCoversItsPixelsAcrossTiles) {
    mesh m;
    square(m, 20.0f, 30.0f, 100.0f, 90.0f, 4.0f, red);
    draw({m});
    for (std::uint32_t y = 0; y < side; ++y)
        for (std::uint32_t x = 0; x < side; ++x) {
            const bool inside = x >= 20 && x < 100 && y >= 30 && y < 90;
            ASSERT_EQ(at(x, y), inside ? 'r' : '.') << x << ' ' << y;
        }
}

TEST_P(Raster, ClockwiseTrianglesAreCulled) {
    mesh m;
    m.triangle(at_pixel(20, 20), at_pixel(100, 20), at_pixel(60, 100), red);
    draw({m});
    EXPECT_EQ(count('r'), 0u);
    EXPECT_EQ(renderer.statistics().triangles_binned, 0u);
}

TEST_P(Raster, NearerTriangleWinsWhateverTheOrder) {
    mesh front, back;
    square(front, 40.0f, 40.0f, 80.0f, 80.0f, 2.0f, green);
    square(back, 20.0f, 20.0f, 100.0f, 100.0f, 6.0f, red);
    draw({front, back});
    const std::vector<arena::rgba8> first(renderer.pixels().begin(), renderer.pixels().end());
    EXPECT_EQ(at(60, 60), 'g');
    EXPECT_EQ(at(30, 30), 'r');
    draw({back, front});
    EXPECT_TRUE(std::equal(first.begin(), first.end(), renderer.pixels().begin()));
}

TEST_P(Raster, EqualDepthGoesToTheLowerDrawId) {
    mesh one, two;
    square(one, 20.0f, 20.0f, 100.0f, 100.0f, 4.0f, red);
    square(two, 20.0f, 20.0f, 100.0f, 100.0f, 4.0f, blue);
    draw({one, two});
    EXPECT_EQ(at(64, 64), 'r');
    EXPECT_EQ(count('b'), 0u);
    draw({two, one});
    EXPECT_EQ(at(64, 64), 'b');
    EXPECT_EQ(count('r'), 0u);
}

TEST_P(Raster, InterpenetratingTrianglesMeetWhereTheirDepthsDo) {
    // Depth 4 throughout against a plane from 2 (left) to 8 (right): linear in 1 / depth, so they
    // meet where 1/2 + (1/8 - 1/2) t = 1/4, t = 2/3.
    mesh flat, slanted;
    square(flat, 10.0f, 40.0f, 118.0f, 88.0f, 4.0f, red);
    const glm::vec3 a = at_pixel(10, 40, 2), b = at_pixel(10, 88, 2);
    const glm::vec3 c = at_pixel(118, 88, 8), d = at_pixel(118, 40, 8);
    slanted.triangle(a, b, c, blue);
    slanted.triangle(a, c, d, blue);
    draw({flat, slanted});
    EXPECT_EQ(at(78, 64), 'b');
    EXPECT_EQ(at(85, 64), 'r');
}

TEST_P(Raster, CentresOnTheDiagonalBelongToOneHalfOnly) {
    // The diagonal of a square of whole pixels runs through pixel centres.
    mesh upper, lower;
    upper.triangle(at_pixel(16, 16), at_pixel(48, 48), at_pixel(48, 16), red);
    lower.triangle(at_pixel(16, 16), at_pixel(16, 48), at_pixel(48, 48), red);
    draw({upper});
    const std::uint32_t above = count('r');
    draw({lower});
    const std::uint32_t below = count('r');
    EXPECT_EQ(above + below, 32u * 32u);
    EXPECT_EQ(above, 32u * 31u / 2u + 32u) << "left and top edges own their centres";
}

/// A fan of triangles covers the picture: drawn one at a time, each pixel must be hit once.
TEST_P(Raster, SharedEdgesBelongToExactlyOneTriangle) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> place(0.0f, static_cast<float>(side));
    for (int round = 0; round < 12; ++round) {
        // Whole picture as a fan around a random point; corners on and off pixel centres.
        glm::vec2 middle(place(random), place(random));
        if (round % 2 == 1) middle = glm::floor(middle) + 0.5f;
        const std::vector<glm::vec2> rim{{-40, -40}, {-40, 60.5f}, {-40, 168}, {33.25f, 168},
                                         {168, 168}, {168, 17.5f}, {168, -40}, {64.5f, -40}};
        std::array<int, side * side> covered{};
        for (std::size_t i = 0; i < rim.size(); ++i) {
            mesh m;
            const glm::vec2 p = rim[i], q = rim[(i + 1) % rim.size()];
            m.triangle(at_pixel(middle.x, middle.y), at_pixel(p.x, p.y), at_pixel(q.x, q.y), red);
            draw({m});
            for (std::size_t k = 0; k < covered.size(); ++k)
                covered[k] += hue(renderer.pixels()[k]) == 'r' ? 1 : 0;
        }
        for (std::size_t k = 0; k < covered.size(); ++k)
            ASSERT_EQ(covered[k], 1)
                << "pixel " << k % side << ' ' << k / side << " round " << round;
    }
}

}  // namespace
