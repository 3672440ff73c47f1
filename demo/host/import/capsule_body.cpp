#include "mesh_tools.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

namespace arena::import {
namespace {

constexpr std::uint32_t rgb(std::uint32_t hex, std::uint32_t tinted = 0) {
    return (hex >> 16 & 255) | (hex & 0xff00) | (hex & 255) << 16 | tinted << 24;
}

constexpr std::uint32_t skin = rgb(0xd9a07a), hair = rgb(0x3a2616), shirt = rgb(0xf2f2f2, 255),
                        trousers = rgb(0x343c4e), shoes = rgb(0x202024), gloves = rgb(0xc01818),
                        eyes = rgb(0x101014);

// A tube from a to b with round ends. Thickness in metres for a height of 1.8.
struct limb {
    glm::vec3 a, b;
    float radius_a, radius_b;
    std::uint32_t colour;
    std::uint8_t bone;
    float flatten = 1;    // depth over width
    bool detail = false;  // left out of the coarse levels
};

bool has(std::string_view text, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](auto part) { return text.find(part) != text.npos; });
}

// How a tube from joint `from` to its child `to` looks; radius 0: none.
limb dress(const std::string& from, const std::string& to, float length, bool boxer) {
    if (has(to, {"thumb", "finger"}) || has(from, {"thumb", "finger"}))
        return {{}, {}, 0.0f, 0.0f, skin, 0};
    if (has(from, {"head"})) return {{}, {}, 0.1f, 0.105f, skin, 0};
    if (has(from, {"neck"})) return {{}, {}, 0.055f, 0.06f, skin, 0};
    if (has(from, {"toe"})) return {{}, {}, 0.04f, 0.032f, shoes, 0};
    if (has(from, {"foot", "ankle"})) return {{}, {}, 0.05f, 0.042f, shoes, 0};
    if (has(from, {"upleg"}) || (has(from, {"hip"}) && has(to, {"knee"})))
        return {{}, {}, 0.095f, 0.064f, boxer ? shirt : trousers, 0};
    if (has(from, {"leg", "knee"})) return {{}, {}, 0.062f, 0.042f, boxer ? skin : trousers, 0};
    if (has(from, {"hand", "wrist"}))
        return {{}, {}, boxer ? 0.07f : 0.042f, boxer ? 0.085f : 0.035f, boxer ? gloves : skin, 0};
    if (has(from, {"forearm", "elbow"})) return {{}, {}, 0.045f, 0.034f, skin, 0};
    if (has(from, {"shoulder", "arm"}) && has(to, {"forearm", "elbow"}))
        return {{}, {}, 0.058f, 0.046f, boxer ? skin : shirt, 0};
    if (has(to, {"shoulder", "arm"})) return {{}, {}, 0.1f, 0.075f, boxer ? skin : shirt, 0, 0.8f};
    if (has(to, {"upleg", "hip"})) return {{}, {}, 0.115f, 0.105f, boxer ? shirt : trousers, 0};
    if (has(to, {"ab", "back"}) || has(from, {"back", "ab"}))
        return {{}, {}, 0.135f, 0.14f, boxer ? skin : shirt, 0, 0.75f};
    if (has(from, {"spine", "chest"}))
        return {{}, {}, 0.145f, has(to, {"neck"}) ? 0.075f : 0.15f, boxer ? skin : shirt, 0, 0.75f};
    const float radius = std::clamp(length * 0.2f, 0.02f, 0.1f);
    return {{}, {}, radius, radius * 0.8f, shirt, 0};
}

class body_builder {
public:
    explicit body_builder(int sides)
        : sides_(sides),
          rings_(sides >= 10  ? 3
                 : sides >= 6 ? 2
                              : 1) {}

    void add(const limb& part) {
        const glm::vec3 along = part.b - part.a;
        const float length = glm::length(along);
        const glm::vec3 axis = length > 1e-5f ? along / length : glm::vec3{0, 1, 0};
        // Width lies across the body, so that flattening makes it shallow from front to back.
        const glm::vec3 hint = std::fabs(axis.x) < 0.9f ? glm::vec3{1, 0, 0} : glm::vec3{0, 1, 0};
        const glm::vec3 depth = glm::normalize(glm::cross(hint, axis));
        const glm::vec3 width = glm::cross(depth, axis);
        const auto first = static_cast<std::uint32_t>(out_.vertices.size());
        for (int ring = 0; ring < 2 * rings_; ++ring) {
            const bool end = ring >= rings_;
            const float step = std::numbers::pi_v<float> / 2 / static_cast<float>(rings_);
            const float angle = end ? static_cast<float>(ring - rings_) * step
                                    : static_cast<float>(ring - rings_ + 1) * step;
            const float radius = end ? part.radius_b : part.radius_a;
            add_ring((end ? part.b : part.a) + axis * (std::sin(angle) * radius), axis, width,
                     depth * part.flatten, radius * std::cos(angle), angle, part);
        }
        close(first, axis, part);
    }

    mesh take() { return std::move(out_); }

private:
    void add_vertex(glm::vec3 at, glm::vec3 normal, const limb& part) {
        out_.vertices.push_back({{at.x, at.y, at.z},
                                 {normal.x, normal.y, normal.z},
                                 {part.bone, 0, 0, 0},
                                 {255, 0, 0, 0}});
    }
    void add_ring(glm::vec3 middle, glm::vec3 axis, glm::vec3 width, glm::vec3 depth, float radius,
                  float tilt, const limb& part) {
        for (int i = 0; i < sides_; ++i) {
            const float turn =
                2 * std::numbers::pi_v<float> * static_cast<float>(i) / static_cast<float>(sides_);
            const glm::vec3 out = width * std::cos(turn) + depth * std::sin(turn);
            add_vertex(middle + out * radius,
                       glm::normalize(out * std::cos(tilt) + axis * std::sin(tilt)), part);
        }
    }
    void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, const limb& part) {
        out_.indices.insert(out_.indices.end(), {a, b, c});
        out_.colours.push_back(part.colour);
    }
    void close(std::uint32_t first, glm::vec3 axis, const limb& part) {
        const auto n = static_cast<std::uint32_t>(sides_);
        const auto bands = static_cast<std::uint32_t>(2 * rings_ - 1);
        for (std::uint32_t ring = 0; ring < bands; ++ring) {
            for (std::uint32_t i = 0; i < n; ++i) {
                const std::uint32_t a = first + ring * n + i, b = first + ring * n + (i + 1) % n;
                triangle(a, b, a + n, part);
                triangle(b, b + n, a + n, part);
            }
        }
        const auto tip = static_cast<std::uint32_t>(out_.vertices.size());
        add_vertex(part.a - axis * part.radius_a, -axis, part);
        add_vertex(part.b + axis * part.radius_b, axis, part);
        const std::uint32_t last = first + bands * n;
        for (std::uint32_t i = 0; i < n; ++i) {
            triangle(tip, first + (i + 1) % n, first + i, part);
            triangle(tip + 1, last + i, last + (i + 1) % n, part);
        }
    }

    mesh out_;
    int sides_, rings_;
};

// Hair and eyes, in the directions of the rest pose.
void add_face(std::vector<limb>& limbs, glm::vec3 from, glm::vec3 to, std::uint8_t bone) {
    const glm::vec3 middle = from + (to - from) * 0.6f;
    limbs.push_back({middle + glm::vec3{0, 0.05f, -0.028f}, middle + glm::vec3{0, -0.04f, -0.045f},
                     0.103f, 0.085f, hair, bone});
    for (float side : {-0.038f, 0.038f})
        limbs.push_back({middle + glm::vec3{side, 0.012f, 0.088f},
                         middle + glm::vec3{side, 0.012f, 0.09f}, 0.016f, 0.016f, eyes, bone, 1,
                         true});
    limbs.push_back({middle + glm::vec3{0, 0, 0.1f}, middle + glm::vec3{0, -0.03f, 0.115f}, 0.014f,
                     0.018f, skin, bone, 1, true});
}

std::vector<limb> plan(const model_source& model, bool boxer) {
    std::vector<limb> limbs;
    for (std::size_t i = 0; i < model.joints.size(); ++i) {
        if (model.joints[i].parent < 0) continue;
        const auto parent = static_cast<std::size_t>(model.joints[i].parent);
        const glm::vec3 a = glm::vec3(model.rest[parent][3]), b = glm::vec3(model.rest[i][3]);
        const std::string from = lower(model.joints[parent].name);
        const std::string to = lower(model.joints[i].name);
        const float length = glm::length(b - a);
        limb part = dress(from, to, length, boxer);
        if (length < 0.01f || part.radius_a == 0) continue;
        part.a = a;
        part.b = b;
        part.bone = static_cast<std::uint8_t>(parent);
        if (has(from, {"head"})) {  // one round head instead of a tube
            add_face(limbs, a, b, part.bone);
            part.a = a + (b - a) * 0.45f;
            part.b = a + (b - a) * 0.65f;
        }
        limbs.push_back(part);
    }
    return limbs;
}

}  // namespace

mesh capsule_body(const model_source& model, int sides, bool boxer) {
    body_builder builder(sides);
    for (const limb& part : plan(model, boxer))
        if (sides >= 6 || !part.detail) builder.add(part);
    return builder.take();
}

}  // namespace arena::import
