#include "render/mesh_builder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <glm/geometric.hpp>

namespace arena {
namespace {

constexpr float full_turn = 6.2831853f;

}  // namespace

rgba8 shade_of(rgba8 color, float factor) {
    const auto channel = [&](int shift) {
        const float value = static_cast<float>(color >> shift & 255u) * factor;
        return static_cast<unsigned>(std::clamp(value, 0.0f, 255.0f));
    };
    return make_rgba(channel(0), channel(8), channel(16), 0);
}

std::uint32_t mesh_builder::vertex(const glm::vec3& position, const glm::vec3& normal) {
    piece_.vertices.push_back({position, normal});
    return static_cast<std::uint32_t>(piece_.vertices.size() - 1);
}

void mesh_builder::triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, rgba8 color) {
    piece_.indices.insert(piece_.indices.end(), {a, b, c});
    piece_.colors.push_back(color);
}

void mesh_builder::quad(const glm::vec3& a, const glm::vec3& b, const glm::vec3& c,
                        const glm::vec3& d, rgba8 color) {
    const glm::vec3 normal = glm::normalize(glm::cross(b - a, d - a));
    const std::uint32_t first = vertex(a, normal);
    vertex(b, normal);
    vertex(c, normal);
    vertex(d, normal);
    triangle(first, first + 1, first + 2, color);
    triangle(first, first + 2, first + 3, color);
}

void mesh_builder::box(const glm::vec3& center, const glm::vec3& half_size, float turn, rgba8 side,
                       rgba8 top) {
    const float c = std::cos(turn), s = std::sin(turn);
    const auto corner = [&](float x, float y, float z) {
        x *= half_size.x;
        z *= half_size.z;
        return center + glm::vec3(c * x + s * z, y * half_size.y, c * z - s * x);
    };
    const glm::vec3 low[4] = {corner(-1, -1, 1), corner(1, -1, 1), corner(1, -1, -1),
                              corner(-1, -1, -1)};
    const glm::vec3 high[4] = {corner(-1, 1, 1), corner(1, 1, 1), corner(1, 1, -1),
                               corner(-1, 1, -1)};
    for (int i = 0; i < 4; ++i) {
        const int next = (i + 1) % 4;
        quad(low[i], low[next], high[next], high[i], side);
    }
    quad(high[0], high[1], high[2], high[3], top);
}

void mesh_builder::cone(const glm::vec3& base, float height, float base_radius, float top_radius,
                        int sides, rgba8 side, rgba8 top) {
    const float slope = (base_radius - top_radius) / height;
    const auto first = static_cast<std::uint32_t>(piece_.vertices.size());
    for (int i = 0; i < sides; ++i) {
        const float angle = full_turn * static_cast<float>(i) / static_cast<float>(sides);
        const glm::vec3 out(std::cos(angle), 0.0f, std::sin(angle));
        const glm::vec3 normal = glm::normalize(out + glm::vec3(0.0f, slope, 0.0f));
        vertex(base + out * base_radius, normal);
        vertex(base + out * top_radius + glm::vec3(0.0f, height, 0.0f), normal);
    }
    const auto count = static_cast<std::uint32_t>(sides);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t low = first + i * 2, next = first + (i + 1) % count * 2;
        triangle(low, low + 1, next, side);
        triangle(next, low + 1, next + 1, side);
    }
    if (top_radius <= 0.0f) return;
    const std::uint32_t middle = vertex(base + glm::vec3(0.0f, height, 0.0f), {0.0f, 1.0f, 0.0f});
    for (std::uint32_t i = 0; i < count; ++i)
        vertex(piece_.vertices[first + i * 2 + 1].position, {0.0f, 1.0f, 0.0f});
    for (std::uint32_t i = 0; i < count; ++i)
        triangle(middle, middle + 1 + (i + 1) % count, middle + 1 + i, top);
}

void mesh_builder::sphere(const glm::vec3& center, float radius, int sides, rgba8 color) {
    const int rings = sides / 2;
    const auto first = static_cast<std::uint32_t>(piece_.vertices.size());
    for (int ring = 0; ring <= rings; ++ring) {
        const float pitch = full_turn * 0.5f * static_cast<float>(ring) / static_cast<float>(rings);
        for (int i = 0; i < sides; ++i) {
            const float yaw = full_turn * static_cast<float>(i) / static_cast<float>(sides);
            const glm::vec3 out(std::sin(pitch) * std::cos(yaw), std::cos(pitch),
                                std::sin(pitch) * std::sin(yaw));
            vertex(center + out * radius, out);
        }
    }
    const auto count = static_cast<std::uint32_t>(sides);
    for (std::uint32_t ring = 0; ring < static_cast<std::uint32_t>(rings); ++ring) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t a = first + ring * count + i;
            const std::uint32_t b = first + ring * count + (i + 1) % count;
            triangle(a, b, b + count, color);
            triangle(a, b + count, a + count, color);
        }
    }
}

arena_piece mesh_builder::take() {
    glm::vec3 low(1e9f), high(-1e9f);
    for (const skinned_vertex& v : piece_.vertices) {
        low = glm::min(low, v.position);
        high = glm::max(high, v.position);
    }
    piece_.center = (low + high) * 0.5f;
    for (const skinned_vertex& v : piece_.vertices)
        piece_.radius = std::max(piece_.radius, glm::distance(v.position, piece_.center));
    arena_piece next;
    next.kind = piece_.kind;
    return std::exchange(piece_, std::move(next));
}

}  // namespace arena
