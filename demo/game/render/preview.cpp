// A look at the renderer without the game: people made of capsules walk the arena. Writes a PNG and
// prints what each stage costs on one thread.
//
//   render_preview [picture.png [people [frames [time]]]]

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <glm/ext/matrix_clip_space.hpp>
#include <glm/ext/matrix_transform.hpp>
#include <glm/geometric.hpp>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

#include "render/arena_layout.hpp"
#include "render/renderer.hpp"

namespace {

using arena::make_rgba;
using arena::rgba8;

constexpr float pi = 3.14159265f;

struct limb {
    glm::vec3 from, to;
    float from_radius, to_radius;
    rgba8 color;
};

/// Pulls capsules over limbs; every person has the same topology, so indices are shared.
struct body {
    std::vector<arena::skinned_vertex> vertices;
    std::vector<std::uint32_t> indices;
    std::vector<rgba8> colors;
    std::size_t detail = 0;
};

void add_capsule(body& mesh, const limb& part, int sides, int rings, bool topology) {
    const glm::vec3 axis = glm::normalize(part.to - part.from);
    const glm::vec3 any = std::fabs(axis.y) > 0.9f ? glm::vec3(1, 0, 0) : glm::vec3(0, 1, 0);
    const glm::vec3 u = glm::normalize(glm::cross(any, axis));
    const glm::vec3 v = glm::cross(axis, u);
    const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
    for (int ring = 0; ring <= rings; ++ring) {
        const float pitch = pi * static_cast<float>(ring) / static_cast<float>(rings);
        const bool upper = ring * 2 > rings;
        const glm::vec3 center = upper ? part.to : part.from;
        const float radius = upper ? part.to_radius : part.from_radius;
        for (int i = 0; i < sides; ++i) {
            const float yaw = 2.0f * pi * static_cast<float>(i) / static_cast<float>(sides);
            const glm::vec3 out =
                (u * std::cos(yaw) + v * std::sin(yaw)) * std::sin(pitch) - axis * std::cos(pitch);
            mesh.vertices.push_back({center + out * radius, out});
        }
    }
    if (!topology) return;
    const auto count = static_cast<std::uint32_t>(sides);
    for (std::uint32_t ring = 0; ring < static_cast<std::uint32_t>(rings); ++ring) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t a = first + ring * count + i;
            const std::uint32_t b = first + ring * count + (i + 1) % count;
            mesh.indices.insert(mesh.indices.end(), {a, b, b + count, a, b + count, a + count});
            mesh.colors.insert(mesh.colors.end(), {part.color, part.color});
        }
    }
}

std::array<limb, 11> pose(const glm::vec3& at, float heading, float phase) {
    const glm::vec3 ahead(std::sin(heading), 0.0f, std::cos(heading));
    const glm::vec3 right(ahead.z, 0.0f, -ahead.x);
    const auto place = [&](float r, float h, float a) {
        return at + right * r + ahead * a + glm::vec3(0.0f, h, 0.0f);
    };
    constexpr rgba8 skin = make_rgba(224, 172, 138, 0), cloth = make_rgba(235, 235, 235, 255),
                    boots = make_rgba(72, 56, 48, 0), trousers = make_rgba(150, 150, 160, 150);
    const float s = std::sin(phase), bob = 0.03f * std::fabs(std::cos(phase));
    std::array<limb, 11> limbs;
    std::size_t n = 0;
    for (const float side : {-1.0f, 1.0f}) {
        const float swing = s * side, lift = std::max(0.0f, std::cos(phase) * side) * 0.14f;
        const glm::vec3 hip = place(0.1f * side, 0.92f + bob, 0.0f);
        const glm::vec3 knee =
            place(0.11f * side, 0.50f + lift * 0.6f, 0.22f * swing + lift * 0.7f);
        const glm::vec3 foot = place(0.11f * side, 0.10f + lift, 0.40f * swing);
        limbs[n++] = {hip, knee, 0.10f, 0.075f, trousers};
        limbs[n++] = {knee, foot, 0.075f, 0.055f, boots};
        const glm::vec3 shoulder = place(0.23f * side, 1.42f + bob, 0.0f);
        const glm::vec3 elbow = place(0.29f * side, 1.15f + bob, -0.18f * swing);
        const glm::vec3 hand = place(0.27f * side, 0.95f + bob, -0.30f * swing + 0.12f);
        limbs[n++] = {shoulder, elbow, 0.07f, 0.055f, cloth};
        limbs[n++] = {elbow, hand, 0.05f, 0.045f, skin};
    }
    limbs[n++] = {place(0, 0.98f + bob, 0), place(0, 1.38f + bob, 0.02f), 0.16f, 0.19f, cloth};
    limbs[n++] = {place(0, 1.50f + bob, 0), place(0, 1.55f + bob, 0.01f), 0.07f, 0.06f, skin};
    limbs[n++] = {place(0, 1.66f + bob, 0.01f), place(0, 1.74f + bob, 0.02f), 0.10f, 0.105f, skin};
    return limbs;
}

struct crowd {
    std::vector<body> people;
    std::array<body, 3> details;  ///< indices and colours of each level of detail
    std::vector<arena::draw_command> draws;
    std::vector<arena::ground_contact> contacts;
};

float fraction(std::uint32_t n, std::uint32_t salt) {
    std::uint32_t h = n * 747796405u + salt * 2891336453u;
    h = ((h >> 16) ^ h) * 0x45d9f3bu;
    h = ((h >> 16) ^ h) * 0x45d9f3bu;
    return static_cast<float>((h ^ (h >> 16)) & 0xffffffu) / 16777216.0f;
}

crowd make_crowd(std::uint32_t count, const glm::vec3& eye, float time) {
    constexpr rgba8 palette[] = {make_rgba(190, 60, 56),  make_rgba(58, 110, 170),
                                 make_rgba(212, 160, 60), make_rgba(80, 140, 92),
                                 make_rgba(140, 92, 160), make_rgba(205, 200, 190)};
    crowd all;
    all.people.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        glm::vec2 spot;
        std::uint32_t salt = 1;
        const auto blocked = [&] {
            for (const arena::obstacle& o : arena::arena_obstacles())
                if (glm::distance(spot, o.center) < o.radius + 0.4f) return true;
            return false;
        };
        do {
            spot = (glm::vec2(fraction(i, salt), fraction(i, salt + 1)) * 2.0f - 1.0f) * 30.0f;
            salt += 2;
        } while (blocked());
        const float heading = fraction(i, 77) * 2.0f * pi;
        const glm::vec3 at(spot.x, 0.0f, spot.y);
        const float distance = glm::distance(at, eye);
        const int sides = distance < 14.0f ? 10 : distance < 26.0f ? 7 : 5;
        const int rings = distance < 14.0f ? 7 : distance < 26.0f ? 4 : 3;
        body& person = all.people[i];
        person.detail = distance < 14.0f ? 0 : distance < 26.0f ? 1 : 2;
        body& shared = all.details[person.detail];
        const bool first = shared.indices.empty();
        for (const limb& part : pose(at, heading, fraction(i, 78) * 6.28f + time * 7.0f)) {
            add_capsule(person, part, sides, rings, first);
        }
        if (first) {
            shared.indices.swap(person.indices);
            shared.colors.swap(person.colors);
        }
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        const body& person = all.people[i];
        arena::draw_command draw;
        draw.id = i;
        draw.vertices = person.vertices;
        draw.indices = all.details[person.detail].indices;
        draw.triangle_colors = all.details[person.detail].colors;
        draw.tint = palette[i % 6];
        draw.material = i % 5 == 0 ? arena::surface::armor : arena::surface::cloth;
        const glm::vec3 pelvis = person.vertices.front().position;
        draw.center = {pelvis.x, 0.95f, pelvis.z};
        draw.radius = 1.15f;
        all.draws.push_back(draw);
        all.contacts.push_back({{pelvis.x, pelvis.z}, 0.55f, 0.6f});
    }
    return all;
}

std::vector<arena::point_light> make_lights(float time) {
    constexpr glm::vec3 colors[] = {{1.9f, 0.5f, 0.14f}, {0.14f, 0.65f, 1.9f}, {1.6f, 0.16f, 0.8f},
                                    {0.2f, 1.4f, 0.4f},  {1.7f, 1.05f, 0.25f}, {0.6f, 0.3f, 1.9f}};
    std::vector<arena::point_light> lights;
    for (std::uint32_t i = 0; i < arena::max_lights; ++i) {
        const float radius = 4.0f + 25.0f * fraction(i, 5);
        const float angle = 6.2832f * fraction(i, 6) + time * (0.2f + 0.3f * fraction(i, 7));
        lights.push_back(
            {{radius * std::cos(angle), 1.3f + 1.4f * fraction(i, 8), radius * std::sin(angle)},
             4.5f + 2.5f * fraction(i, 9),
             colors[i % 6]});
    }
    return lights;
}

/// Of this process, on a processor: what else the machine does hardly matters.
double milliseconds() {
    return static_cast<double>(std::clock()) * 1000.0 / static_cast<double>(CLOCKS_PER_SEC);
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(),
                     values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/// Renders the frame again and again, and prints what its stages cost.
void measure(arena::renderer& renderer, const arena::frame_input& input, int frames) {
    std::vector<double> begin, total;
    std::array<std::vector<double>, std::size(arena::all_render_stages)> stages;
    for (int frame = 0; frame < frames; ++frame) {
        const double start = milliseconds();
        renderer.begin_frame(input);
        double before = milliseconds();
        begin.push_back(before - start);
        for (const arena::render_stage stage : arena::all_render_stages) {
            for (std::uint32_t part = 0; part < renderer.parts(stage); ++part)
                renderer.run(stage, part);
            const double now = milliseconds();
            stages[static_cast<std::size_t>(stage)].push_back(now - before);
            before = now;
        }
        total.push_back(before - start);
    }
    std::printf("CPU ms     median    best  (%d frames, one thread)\n", frames);
    const auto row = [](const std::string& name, const std::vector<double>& times) {
        std::printf("%-8s %8.3f%8.3f", name.c_str(), median(times),
                    *std::ranges::min_element(times));
    };
    row("begin", begin);
    for (const arena::render_stage stage : arena::all_render_stages) {
        std::printf("\n");
        row(std::string(arena::name(stage)), stages[static_cast<std::size_t>(stage)]);
        std::printf("  in %u parts", renderer.parts(stage));
    }
    std::printf("\n");
    row("frame", total);
    std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
    const std::string file = argc > 1 ? argv[1] : "preview.png";
    const auto people = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 1000);
    const int frames = argc > 3 ? std::max(1, std::atoi(argv[3])) : 20;
    const float time = argc > 4 ? static_cast<float>(std::atof(argv[4])) : 0.0f;

    const double built = milliseconds();
    arena::renderer renderer({.portable_kernels = std::getenv("ARENA_PORTABLE") != nullptr});
    std::printf("built in %.1f ms of CPU time\n", milliseconds() - built);
    const float turn = 0.9f + time * 0.25f;
    const glm::vec3 eye(23.0f * std::cos(turn), 7.5f, 23.0f * std::sin(turn));
    const glm::mat4 view = glm::lookAt(eye, glm::vec3(0.0f, 1.2f, 0.0f), glm::vec3(0, 1, 0));
    const glm::mat4 projection =
        glm::perspective(glm::radians(55.0f), 1280.0f / 720.0f, 0.1f, 300.0f);

    const crowd all = make_crowd(people, eye, time);
    const std::vector<arena::point_light> lights = make_lights(time);
    const std::array<arena::ui_box, 3> boxes{{{16, 16, 330, 92, make_rgba(12, 14, 24, 150)},
                                              {28, 88, 300, 8, make_rgba(255, 255, 255, 50)},
                                              {28, 88, 220, 8, make_rgba(255, 176, 84, 230)}}};
    const std::string line = std::to_string(people) + " characters, 64 lights";
    const std::array<arena::ui_text, 2> texts{
        {{28, 26, 2.5f, make_rgba(255, 240, 220), "Braid: the arena"},
         {28, 62, 1.5f, make_rgba(210, 214, 230), line}}};
    const arena::frame_input input{
        {view, projection}, all.draws, lights, all.contacts, boxes, texts, time};

    measure(renderer, input, frames);
    const arena::renderer::counters c = renderer.statistics();
    std::printf("%u draws, %u vertices, %u triangles, %u binned, %u bin entries, hash %016llx\n",
                c.draws, c.vertices, c.triangles, c.triangles_binned, c.bin_entries,
                static_cast<unsigned long long>(renderer.picture_hash()));
    if (stbi_write_png(file.c_str(), static_cast<int>(renderer.width()),
                       static_cast<int>(renderer.height()), 4, renderer.pixels().data(), 0) == 0) {
        std::fprintf(stderr, "cannot write %s\n", file.c_str());
        return 2;
    }
    return 0;
}
