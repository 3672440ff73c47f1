// From game state to what the renderer is told: camera, visibility, level of detail, lights, text
// and the command buffer.
#include "assets.hpp"
#include "render/renderer.hpp"
#include "sound/sound_api.hpp"

#include <glm/gtc/matrix_transform.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace arena {
namespace {

constexpr float two_pi = 2 * std::numbers::pi_v<float>;
constexpr float field_of_view = 0.85f;  // vertical, radians
// Above how many pixels of height a character gets level 0, 1, 2.
constexpr float lod_pixels[lod_count - 1] = {270, 120, 54};
constexpr std::uint32_t vertices_per_skin_part = 6000;

glm::vec4 row(const glm::mat4& m, int r) { return {m[0][r], m[1][r], m[2][r], m[3][r]}; }

float body_height(const game& game, const character& who) {
    return game.models[who.model].header().height * who.size;
}

glm::vec3 body_center(const game& game, const moment& in, std::uint32_t i) {
    const glm::vec2 at = in.motion[i].position;
    return {at.x, body_height(game, in.characters[i]) * 0.5f, at.y};
}

// Of the sphere around all poses, arms stretched.
float body_radius(const game& game, const character& who) {
    const model_header& header = game.models[who.model].header();
    return std::max(header.height * 0.7f, header.radius * 1.15f) * who.size;
}

bool sees(const view_frustum& eye, glm::vec3 center, float radius) {
    for (const glm::vec4& plane : eye.planes)
        if (glm::dot(plane, glm::vec4(center, 1)) < -radius) return false;
    return true;
}

// Triangles above the vertex budget are saved on those that come last.
std::uint32_t affordable_lod(const game& game, const model_header& model, std::uint32_t wanted,
                             std::uint32_t used, std::uint32_t bodies_left) {
    // Room is kept for everybody still to come.
    const std::size_t room =
        game.vertices().size() - used - std::size_t{bodies_left - 1} * max_coarse_vertices;
    while (wanted + 1 < lod_count && model.lods[wanted].vertex_count > room) ++wanted;
    return wanted;
}

draw_command draw_of(const game& game, const visible_body& body) {
    const moment shown = game.shown();
    const character& who = shown.characters[body.owner];
    const model_view& model = game.models[who.model];
    const model_lod& lod = model.header().lods[body.lod];
    draw_command draw;
    draw.id = body.owner;
    draw.vertices = game.vertices().subspan(body.first_vertex, lod.vertex_count);
    draw.indices = model.indices().subspan(lod.first_index, lod.index_count);
    draw.triangle_colors = model.colours().subspan(lod.first_index / 3, lod.index_count / 3);
    draw.tint = who.tint;
    draw.center = body_center(game, shown, body.owner);
    draw.radius = body_radius(game, who);
    return draw;
}

void list_bodies(game& game) {
    std::uint32_t vertices = 0, matrices = 0, part_start = 0, part_vertices = 0;
    game.visible_count = game.skin_part_count = 0;
    const moment shown = game.shown();
    levels_of_frame levels(game, shown.frame);
    for (std::uint32_t i = 0; i < game.setup.characters; ++i) {
        if (!game.sights[i].visible) continue;
        const std::size_t kind = shown.characters[i].model;
        const model_header& model = game.models[kind].header();
        const std::uint32_t lod = levels.show(
            kind,
            affordable_lod(game, model, game.sights[i].lod, vertices, game.setup.characters - i));
        game.visible[game.visible_count++] = {i, lod, vertices, matrices, nullptr};
        vertices += model.lods[lod].vertex_count;
        matrices += model.palette_count;
        part_vertices += model.lods[lod].vertex_count;
        if (part_vertices < vertices_per_skin_part) continue;
        game.skin_parts[game.skin_part_count++] = {part_start, game.visible_count};
        part_start = game.visible_count;
        part_vertices = 0;
    }
    if (part_start < game.visible_count)
        game.skin_parts[game.skin_part_count++] = {part_start, game.visible_count};
    levels.want();
}

}  // namespace

void take_input(game& game, std::uint32_t) {
    const std::size_t at = ++game.frame % frames_kept;
    const game_input& in = game.inputs[at];
    const glm::vec3 direction{std::sin(in.camera_yaw) * std::cos(in.camera_pitch),
                              std::sin(in.camera_pitch),
                              std::cos(in.camera_yaw) * std::cos(in.camera_pitch)};
    view_frustum& eye = game.eyes[at];
    const glm::vec3 target{0, 1.1f, 0};
    eye.eye = target + direction * in.camera_distance;
    eye.view = glm::lookAt(eye.eye, target, glm::vec3{0, 1, 0});
    const auto width = static_cast<float>(game.setup.picture->width());
    const auto height = static_cast<float>(game.setup.picture->height());
    eye.projection = glm::perspective(field_of_view, width / height, 0.2f, 150.0f);
    const glm::mat4 clip = eye.projection * eye.view;
    const glm::vec4 x = row(clip, 0), y = row(clip, 1), z = row(clip, 2), w = row(clip, 3);
    const glm::vec4 planes[5] = {w + x, w - x, w + y, w - y, w + z};
    for (int i = 0; i < 5; ++i) eye.planes[i] = planes[i] / glm::length(glm::vec3(planes[i]));
}

void begin_view(game& game, std::uint32_t) { ++game.drawn; }

void move_lights(game& game, std::uint32_t) {
    const float time = static_cast<float>(game.drawn) * step_seconds;
    for (std::uint32_t i = 0; i < light_count; ++i) {
        std::uint32_t random = i * 2654435761u + 77u;  // the same lights in every run
        const float ring = 3.0f + 26.0f * std::sqrt(next_unit(random));
        const float pace = (0.15f + 0.25f * next_unit(random)) * (i % 2 ? 1.0f : -1.0f);
        const float angle = next_unit(random) * two_pi + time * pace;
        const float hue = next_unit(random) * two_pi;
        const glm::vec3 colour = 0.5f + 0.5f * glm::vec3{std::cos(hue), std::cos(hue - two_pi / 3),
                                                         std::cos(hue + two_pi / 3)};
        game.lights[i] = {{std::sin(angle) * ring, 1.9f + 0.9f * std::sin(time * 0.9f + hue * 3),
                           std::cos(angle * 1.1f) * ring},
                          4.0f + 2.0f * next_unit(random),
                          colour * 1.5f};
    }
}

void cull(game& game, std::uint32_t part) {
    const block range = block_of(part, game.setup.characters, sight_block);
    const moment shown = game.shown();
    for (std::uint32_t i = range.first; i < range.last; ++i) {
        const glm::vec3 center = body_center(game, shown, i);
        const glm::vec4 in_view = shown.eye.view * glm::vec4(center, 1);
        game.sights[i].depth = -in_view.z;
        game.sights[i].visible =
            sees(shown.eye, center, body_radius(game, shown.characters[i])) ? 1 : 0;
    }
}

void choose_lod(game& game, std::uint32_t part) {
    const block range = block_of(part, game.setup.characters, sight_block);
    const moment shown = game.shown();
    const float focal =
        shown.eye.projection[1][1] * static_cast<float>(game.setup.picture->height()) / 2;
    for (std::uint32_t i = range.first; i < range.last; ++i) {
        const float depth = std::max(game.sights[i].depth, 0.3f);
        const float pixels = body_height(game, shown.characters[i]) * focal / depth;
        std::uint32_t lod = 0;
        while (lod < lod_count - 1 && pixels < lod_pixels[lod]) ++lod;
        game.sights[i].lod = lod;
    }
}

void write_ui(game& game, std::uint32_t) {
    const moment shown = game.shown();
    std::uint32_t visible = 0, near = 0, busy[4] = {};
    for (std::uint32_t i = 0; i < game.setup.characters; ++i) {
        visible += game.sights[i].visible;
        near += game.sights[i].visible && game.sights[i].lod == 0;
        ++busy[static_cast<std::size_t>(shown.characters[i].state)];
    }
    const std::size_t half = game.text.size() / 2;
    std::snprintf(game.text.data(), half, "%u characters   %u visible   %u near   %u lights",
                  game.setup.characters, visible, near, light_count);
    std::snprintf(game.text.data() + half, half, "%u rest   %u walk   %u run   %u act   frame %llu",
                  busy[0], busy[1], busy[2], busy[3], static_cast<unsigned long long>(shown.frame));
    game.boxes[0] = {16, 16, 432, 86, make_rgba(8, 10, 16, 150)};
    game.boxes[1] = {16, 16, 4, 86, make_rgba(255, 176, 64)};
    game.texts[0] = {30, 24, 2, make_rgba(255, 226, 170), "BRAID ARENA"};
    game.texts[1] = {30, 56, 1, make_rgba(230, 234, 240), game.text.data()};
    game.texts[2] = {30, 76, 1, make_rgba(176, 186, 200), game.text.data() + half};
    game.box_count = 2;
    game.text_count = 3;
}

void write_commands(game& game, std::uint32_t) {
    list_bodies(game);
    const moment shown = game.shown();
    for (std::uint32_t i = 0; i < game.visible_count; ++i)
        game.draws[i] = draw_of(game, game.visible[i]);
    for (std::uint32_t i = 0; i < game.setup.characters; ++i)
        game.contacts[i] = {shown.motion[i].position, shown.characters[i].radius * 1.35f, 0.55f};
    game.picture = {.eye = {shown.eye.view, shown.eye.projection},
                    .draws = game.draws.first(game.visible_count),
                    .lights = game.lights,
                    .contacts = game.contacts,
                    .boxes = std::span(game.boxes).first(game.box_count),
                    .texts = std::span(game.texts).first(game.text_count),
                    .time = static_cast<float>(shown.frame) * step_seconds};
    game.setup.picture->begin_frame(game.picture);
}

void trigger_sounds(game& game, std::uint32_t) {
    const auto louder = [](const step_event& a, const step_event& b) {
        return a.gain != b.gain ? a.gain > b.gain : a.owner < b.owner;
    };
    const moment now = game.simulated();
    std::uint32_t count = 0;
    for (step_event event : game.steps) {
        if (event.gain <= 0) continue;
        const glm::vec3 away = body_center(game, now, event.owner) - now.eye.eye;
        event.gain *= 5.0f / (5.0f + glm::dot(away, away) * 0.08f);
        if (event.gain > 0.02f) game.steps[count++] = event;
    }
    const auto heard = game.steps.first(count);
    game.trigger_count = std::min(count, max_steps_heard);
    std::nth_element(heard.begin(), heard.begin() + game.trigger_count, heard.end(), louder);
    std::sort(heard.begin(), heard.begin() + game.trigger_count,
              [](const step_event& a, const step_event& b) { return a.owner < b.owner; });
    for (std::uint32_t i = 0; i < game.trigger_count; ++i) {
        const step_event& event = heard[i];
        const glm::vec4 at = now.eye.view * glm::vec4(body_center(game, now, event.owner), 1);
        std::uint32_t random = event.owner * 747796405u + static_cast<std::uint32_t>(game.frame);
        game.triggers[i] = {
            event.kind, event.gain, std::clamp(at.x / (std::fabs(at.z) + 3.0f), -1.0f, 1.0f),
            0.85f + 0.3f * next_unit(random), next_random(random) % samples_per_frame};
    }
    game.setup.sound->code->begin_frame(*game.setup.sound->state,
                                        std::span(game.triggers).first(game.trigger_count));
}

}  // namespace arena
