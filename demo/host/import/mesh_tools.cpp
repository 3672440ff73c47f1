#include "mesh_tools.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace arena::import {
namespace {

using cell = std::tuple<int, int, int, int>;

glm::vec3 position(const model_vertex& v) { return {v.position[0], v.position[1], v.position[2]}; }

std::uint8_t main_bone(const model_vertex& v) {
    return v.bones[std::max_element(v.weights, v.weights + 4) - v.weights];
}

std::vector<cell> cells_of(const mesh& fine, float size) {
    std::vector<cell> cells;
    for (const model_vertex& v : fine.vertices) {
        const glm::vec3 at = glm::floor(position(v) / size);
        cells.emplace_back(int(at.x), int(at.y), int(at.z), main_bone(v));
    }
    return cells;
}

// The vertex of each cluster nearest to the middle of its cluster stays and takes the mean normal.
std::vector<model_vertex> representatives(const mesh& fine, const std::vector<std::uint32_t>& map,
                                          std::size_t clusters) {
    std::vector<glm::vec3> middle(clusters, glm::vec3(0)), normal(clusters, glm::vec3(0));
    std::vector<float> count(clusters, 0), best(clusters, 1e9f);
    for (std::size_t i = 0; i < fine.vertices.size(); ++i) {
        const model_vertex& v = fine.vertices[i];
        middle[map[i]] += position(v);
        normal[map[i]] += glm::vec3{v.normal[0], v.normal[1], v.normal[2]};
        count[map[i]] += 1;
    }
    std::vector<model_vertex> out(clusters);
    for (std::size_t i = 0; i < fine.vertices.size(); ++i) {
        const std::uint32_t k = map[i];
        const float away = glm::length(position(fine.vertices[i]) - middle[k] / count[k]);
        if (away >= best[k]) continue;
        best[k] = away;
        out[k] = fine.vertices[i];
    }
    for (std::size_t k = 0; k < clusters; ++k) {
        if (glm::length(normal[k]) < 1e-3f) continue;
        const glm::vec3 n = glm::normalize(normal[k]);
        for (int i = 0; i < 3; ++i) out[k].normal[i] = n[i];
    }
    return out;
}

mesh cluster(const mesh& fine, const std::vector<cell>& cells) {
    std::vector<cell> sorted = cells;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::vector<std::uint32_t> map;
    for (const cell& c : cells)
        map.push_back(static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), c) -
                                                 sorted.begin()));
    mesh out;
    out.vertices = representatives(fine, map, sorted.size());
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> seen;
    for (std::size_t i = 0; i < fine.indices.size(); i += 3) {
        std::uint32_t corner[3];
        for (std::size_t k = 0; k < 3; ++k) corner[k] = map[fine.indices[i + k]];
        if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) continue;
        std::rotate(corner, std::min_element(corner, corner + 3), corner + 3);
        if (!seen.emplace(corner[0], corner[1], corner[2]).second) continue;
        out.indices.insert(out.indices.end(), corner, corner + 3);
        out.colours.push_back(fine.colours[i / 3]);
    }
    return out;
}

std::uint32_t pack(glm::vec3 colour, float tinted) {
    const glm::vec3 c = glm::clamp(colour, 0.0f, 1.0f) * 255.0f;
    return std::uint32_t(c.x) | std::uint32_t(c.y) << 8 | std::uint32_t(c.z) << 16 |
           std::uint32_t(tinted * 255.0f) << 24;
}

template <class Paint>
void paint(const model_source& model, mesh& body, Paint colour_of) {
    body.colours.clear();
    for (std::size_t i = 0; i < body.indices.size(); i += 3) {
        glm::vec3 at{0}, normal{0};
        for (std::size_t k = 0; k < 3; ++k) {
            const model_vertex& v = body.vertices[body.indices[i + k]];
            at += position(v) / 3.0f;
            normal += glm::vec3{v.normal[0], v.normal[1], v.normal[2]} / 3.0f;
        }
        const std::uint8_t bone = main_bone(body.vertices[body.indices[i]]);
        body.colours.push_back(
            colour_of(at, normal, lower(model.joints[model.palette[bone].joint].name)));
    }
}

}  // namespace

mesh simplify(const mesh& fine, std::size_t target) {
    if (fine.vertices.size() <= target) return fine;
    float small = 0.005f, large = 1.0f;
    for (int step = 0; step < 14; ++step) {
        const float size = (small + large) / 2;
        const auto cells = cells_of(fine, size);
        (std::set<cell>(cells.begin(), cells.end()).size() > target ? small : large) = size;
    }
    mesh out = cluster(fine, cells_of(fine, large));
    return out.indices.empty() ? fine : out;
}

void paint_human(const model_source& model, mesh& body) {
    float top = 0;
    for (const model_vertex& v : body.vertices) top = std::max(top, v.position[1]);
    paint(model, body, [top](glm::vec3 at, glm::vec3 normal, const std::string& joint) {
        const auto has = [&](const char* part) { return joint.find(part) != std::string::npos; };
        const float height = at.y / top;
        if (has("eye_")) return pack({0.12f, 0.1f, 0.1f}, 0);
        if (has("ptail")) return pack({0.3f, 0.16f, 0.07f}, 0);
        if (has("lip")) return pack({0.72f, 0.35f, 0.32f}, 0);
        if (has("neck") || has("jaw") || has("brow") || has("cheek") || has("mouth")) {
            const bool hair = height > 0.975f || (height > 0.9f && normal.z < 0.05f);
            return hair ? pack({0.32f, 0.17f, 0.07f}, 0) : pack({0.9f, 0.68f, 0.53f}, 0);
        }
        if (has("hand") || has("finger") || has("thumb") || has("forearm"))
            return pack({0.9f, 0.68f, 0.53f}, 0);
        if (height < 0.055f) return pack({0.16f, 0.13f, 0.12f}, 0);
        if (has("hip") || has("knee") || has("ankle") || has("pelvis"))
            return pack({0.24f, 0.3f, 0.46f}, 0.25f);
        return pack({0.95f, 0.95f, 0.95f}, 1);
    });
}

void paint_beast(const model_source& model, mesh& body) {
    float top = 0;
    for (const model_vertex& vertex : body.vertices) top = std::max(top, vertex.position[1]);
    paint(model, body, [top](glm::vec3 at, glm::vec3 normal, const std::string& joint) {
        const auto has = [&](const char* part) { return joint.find(part) != std::string::npos; };
        const float height = at.y / top;
        // A saddle cloth in the colour of its owner, with a pale border.
        const float cloth = std::fabs(at.z + 0.25f);
        if (cloth < 0.44f && height > 0.52f && !has("leg"))
            return cloth > 0.37f || height < 0.58f ? pack({0.93f, 0.86f, 0.68f}, 0)
                                                   : pack({1, 1, 1}, 1);
        if (has("_05") || has("leg_l_04") || has("leg_r_04")) return pack({0.17f, 0.13f, 0.11f}, 0);
        if (has("ear") || has("mouth")) return pack({0.36f, 0.25f, 0.19f}, 0);
        const bool mane = has("neck") || has("spine_front05") || has("foreleg");
        const glm::vec3 fur = mane ? glm::vec3{0.3f, 0.19f, 0.13f} : glm::vec3{0.5f, 0.34f, 0.22f};
        const float shade = 0.95f + 0.05f * std::sin(at.z * 19.0f) * std::sin(at.y * 23.0f);
        const float belly = normal.y < -0.25f ? 1.35f : 1.0f;
        return pack(fur * shade * belly, 0);
    });
}

}  // namespace arena::import
