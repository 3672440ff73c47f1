// Triangles that leave the picture, cross the eye's plane or are no triangles at all. Runs under
// AddressSanitizer too, which sees every write outside of a buffer.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "scene_fixture.hpp"

namespace {

using namespace scene;

class Robustness : public ::testing::TestWithParam<bool> {
protected:
    void draw(const mesh& m) {
        const arena::draw_command command = m.command(0);
        arena::frame_input input;
        input.eye = straight_camera();
        input.draws = {&command, 1};
        render(renderer, input);
    }
    char at(std::uint32_t x, std::uint32_t y) const { return hue(renderer.pixels()[y * side + x]); }
    std::uint32_t count(char color) const {
        std::uint32_t pixels = 0;
        for (const arena::rgba8 pixel : renderer.pixels()) pixels += hue(pixel) == color ? 1u : 0u;
        return pixels;
    }

    arena::renderer renderer{{.width = side,
                              .height = side,
                              .draw_arena = false,
                              .smooth_edges = false,
                              .portable_kernels = GetParam()}};
};

INSTANTIATE_TEST_SUITE_P(Kernels, Robustness, ::testing::Values(false, true),
                         [](const auto& kernels) {
                             return std::string(kernels.param ? "Portable" : "Best");
                         });

TEST_P(Robustness, HugeTrianglesAreClippedToThePicture) {
    mesh m;
    m.triangle({-1e6f, -1e6f, -5.0f}, {1e6f, -1e6f, -5.0f}, {0.0f, 1e6f, -5.0f}, red);
    draw(m);
    EXPECT_EQ(count('r'), side * side);
}

TEST_P(Robustness, ClippingMovesNoEdge) {
    // Its upper edge runs through the middle of the picture, its corners lie far outside.
    mesh m;
    m.triangle({-900.0f, 0.0f, -4.0f}, {0.0f, -900.0f, -4.0f}, {900.0f, 0.0f, -4.0f}, red);
    draw(m);
    for (std::uint32_t x = 0; x < side; ++x) {
        EXPECT_EQ(at(x, side / 2 - 1), '.') << x;
        EXPECT_EQ(at(x, side / 2), 'r') << x;
    }
}

TEST_P(Robustness, HugeTrianglesCoverWhatGeometrySays) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> angle(0.0f, 6.2831853f), shift(-40.0f, 40.0f);
    std::uniform_real_distribution<float> size(200.0f, 60000.0f);
    for (int round = 0; round < 60; ++round) {
        // Corners on circles of different size around a point near the picture's middle.
        glm::dvec2 corner[3];
        const float turn = angle(random);
        const glm::dvec2 middle(64.0f + shift(random), 64.0f + shift(random));
        for (int i = 0; i < 3; ++i) {
            const double a = static_cast<double>(turn) - 2.0944 * i;
            corner[i] = middle + glm::dvec2(std::cos(a), std::sin(a)) *
                                     static_cast<double>(i == round % 3 ? 60.0f : size(random));
        }
        mesh m;
        const auto place = [&](int i) {
            return at_pixel(static_cast<float>(corner[i].x), static_cast<float>(corner[i].y));
        };
        m.triangle(place(0), place(1), place(2), red);
        draw(m);
        for (std::uint32_t y = 0; y < side; ++y) {
            for (std::uint32_t x = 0; x < side; ++x) {
                double nearest = 1e30;  // signed distance to the nearest edge, > 0 inside
                for (int i = 0; i < 3; ++i) {
                    const glm::dvec2 edge = corner[(i + 1) % 3] - corner[i];
                    const glm::dvec2 to = glm::dvec2(x + 0.5, y + 0.5) - corner[i];
                    nearest =
                        std::min(nearest, (edge.y * to.x - edge.x * to.y) / glm::length(edge));
                }
                if (std::fabs(nearest) < 0.25) continue;  // coordinates are rounded
                ASSERT_EQ(at(x, y), nearest > 0.0 ? 'r' : '.')
                    << "round " << round << " pixel " << x << ' ' << y << " off by " << nearest;
            }
        }
    }
}

TEST_P(Robustness, FloorThroughTheEyePlaneEndsAtTheHorizon) {
    mesh m;
    m.triangle({-500.0f, -1.0f, 80.0f}, {500.0f, -1.0f, 80.0f}, {0.0f, -1.0f, -9000.0f}, green);
    draw(m);
    EXPECT_EQ(at(64, 127), 'g');
    EXPECT_EQ(at(64, 66), 'g');
    for (std::uint32_t x = 0; x < side; ++x) EXPECT_EQ(at(x, 62), '.') << x;
}

TEST_P(Robustness, TrianglesBehindTheEyeAreNotDrawn) {
    mesh m;
    m.triangle({-5.0f, -5.0f, 3.0f}, {5.0f, -5.0f, 3.0f}, {0.0f, 5.0f, 3.0f}, red);
    m.triangle({5.0f, -5.0f, 3.0f}, {-5.0f, -5.0f, 3.0f}, {0.0f, 5.0f, 3.0f}, red);
    draw(m);
    EXPECT_EQ(count('r'), 0u);
}

TEST_P(Robustness, DegenerateTrianglesAreNotDrawn) {
    mesh m;
    const glm::vec3 p = at_pixel(30, 30), q = at_pixel(90, 90);
    m.triangle(p, p, p, red);
    m.triangle(p, q, q, red);
    m.triangle(p, (p + q) * 0.5f, q, red);
    m.triangle({0, 0, 0}, {0, 0, 0}, {0, 0, 0}, red);
    draw(m);
    EXPECT_EQ(count('r'), 0u);
}

TEST_P(Robustness, WhatIsNotANumberIsNotDrawn) {
    const float bad[] = {std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity(), 3e38f, -3e38f};
    mesh m;
    for (const float value : bad) {
        for (int axis = 0; axis < 3; ++axis) {
            for (int corner = 0; corner < 3; ++corner) {
                glm::vec3 corners[3] = {at_pixel(20, 20), at_pixel(20, 100), at_pixel(100, 60)};
                corners[corner][axis] = value;
                m.triangle(corners[0], corners[1], corners[2], red);
            }
        }
    }
    draw(m);
    EXPECT_EQ(count('r'), 0u);
}

TEST_P(Robustness, BadNormalsStillGiveAPicture) {
    mesh m;
    m.triangle(at_pixel(20, 20), at_pixel(20, 100), at_pixel(100, 60), red);
    m.vertices[0].normal = glm::vec3(std::numeric_limits<float>::quiet_NaN());
    m.vertices[1].normal = glm::vec3(0.0f);
    arena::draw_command command = m.command(0);
    command.material = arena::surface::armor;
    const arena::point_light light{{0.0f, 0.0f, -3.0f}, 5.0f, {1.0f, 1.0f, 1.0f}};
    arena::frame_input input;
    input.eye = straight_camera();
    input.draws = {&command, 1};
    input.lights = {&light, 1};
    render(renderer, input);
    const std::uint64_t first = renderer.picture_hash();
    render(renderer, input);
    EXPECT_EQ(renderer.picture_hash(), first);
}

TEST_P(Robustness, RandomTrianglesOfAnySizeStayInside) {
    std::mt19937 random(11);
    std::uniform_real_distribution<float> exponent(-3.0f, 7.0f), sign(-1.0f, 1.0f);
    const auto coordinate = [&] {
        return std::copysign(std::pow(10.0f, exponent(random)), sign(random));
    };
    for (int round = 0; round < 20; ++round) {
        mesh m;
        for (int i = 0; i < 200; ++i) {
            const auto corner = [&] {
                const float x = coordinate(), y = coordinate(), z = coordinate();
                return glm::vec3(x, y, z);
            };
            const glm::vec3 a = corner(), b = corner(), c = corner();
            m.triangle(a, b, c, blue);
        }
        draw(m);
        for (const arena::rgba8 pixel : renderer.pixels()) ASSERT_EQ(pixel >> 24, 255u);
    }
}

TEST_P(Robustness, ExtremeInterfaceCoordinatesStayInside) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const arena::ui_box boxes[] = {{-1e9f, -1e9f, 2e9f, 2e9f, red},
                                   {nan, nan, nan, nan, green},
                                   {120.0f, 120.0f, 1e30f, 1e30f, blue}};
    const std::string longest(5000, 'W');
    const arena::ui_text texts[] = {{-20.0f, -5.0f, 3.0f, green, longest},
                                    {nan, 1e20f, 1e20f, green, "far away"},
                                    {5.0f, 60.0f, 2.0f, green, "\xff\x01 tab\t"}};
    arena::frame_input input;
    input.eye = straight_camera();
    input.boxes = boxes;
    input.texts = texts;
    render(renderer, input);
    EXPECT_EQ(at(64, 32), 'r');
    EXPECT_EQ(at(125, 125), 'b');
    EXPECT_GT(count('g'), 50u);
}

}  // namespace
