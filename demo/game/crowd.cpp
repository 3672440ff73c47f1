// Who goes where: wishes, steering among neighbours, collisions with response. Every stage reads
// last frame's motion and writes this frame's, so the order of characters cannot matter.
#include "game.hpp"
#include "render/arena_layout.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace arena {
namespace {

constexpr float two_pi = 2 * std::numbers::pi_v<float>;
constexpr float walk_speed = 1.3f, run_speed = 3.4f;  // metres per second
constexpr float border = arena_half_extent - 0.6f;

glm::vec2 random_place(std::uint32_t& random) {
    const float x = next_unit(random), z = next_unit(random);
    return (glm::vec2{x, z} * 2.0f - 1.0f) * (border - 1.5f);
}

bool inside_obstacle(glm::vec2 at, float radius) {
    for (const obstacle& block : arena_obstacles())
        if (glm::length(at - block.center) < block.radius + radius) return true;
    return false;
}

std::uint32_t cell_coordinate(float value) {
    const float at = (value + arena_half_extent) / crowd_grid::cell;
    return static_cast<std::uint32_t>(std::clamp(at, 0.0f, float(crowd_grid::side - 1)));
}

std::uint32_t cell_of(glm::vec2 at) {
    return cell_coordinate(at.y) * crowd_grid::side + cell_coordinate(at.x);
}

// Calls visit(index) for everybody in the cells around `at`.
template <class Visit>
void around(const crowd_grid& grid, glm::vec2 at, Visit visit) {
    const std::uint32_t x = cell_coordinate(at.x), z = cell_coordinate(at.y);
    const std::uint32_t left = x > 0 ? x - 1 : 0, right = std::min(x + 1, crowd_grid::side - 1);
    const std::uint32_t end = std::min(z + 1, crowd_grid::side - 1);
    for (std::uint32_t row = z > 0 ? z - 1 : 0; row <= end; ++row) {
        const std::uint32_t last = grid.first[row * crowd_grid::side + right + 1];
        for (std::uint32_t i = grid.first[row * crowd_grid::side + left]; i < last; ++i)
            visit(grid.sorted[i]);
    }
}

float top_speed(const character& who) {
    if (who.wish == mood::run) return run_speed;
    return who.wish == mood::walk ? walk_speed : 0.0f;
}

void make_up_mind(character& who) {
    const float dice = next_unit(who.random);
    who.wish = dice < 0.18f   ? mood::rest
               : dice < 0.34f ? mood::act
               : dice < 0.7f  ? mood::walk
                              : mood::run;
    who.patience = 2.0f + 5.0f * next_unit(who.random);
    if (who.wish == mood::rest) who.patience *= 0.5f;
    who.goal = random_place(who.random);
}

glm::vec2 avoid_obstacles(glm::vec2 at, glm::vec2 velocity, float radius) {
    glm::vec2 push{0};
    for (const obstacle& block : arena_obstacles()) {
        const glm::vec2 away = at - block.center;
        const float gap = glm::length(away) - block.radius - radius;
        if (gap > 2.0f || glm::dot(away, velocity) > 0) continue;
        const glm::vec2 out = away / std::max(glm::length(away), 0.01f);
        const glm::vec2 along{-out.y, out.x};
        const float side = glm::dot(along, velocity) >= 0 ? 1.0f : -1.0f;
        push += (along * side + out * 0.5f) * (2.0f - std::max(gap, 0.0f));
    }
    return push;
}

}  // namespace

void populate(game& game) {
    auto seed = static_cast<std::uint32_t>(game.setup.seed * 0x9e3779b97f4a7c15ull >> 32) | 1u;
    constexpr rgba8 tints[] = {make_rgba(178, 54, 44),  make_rgba(44, 88, 158),
                               make_rgba(206, 158, 52), make_rgba(66, 124, 70),
                               make_rgba(112, 62, 128), make_rgba(206, 204, 196),
                               make_rgba(46, 118, 122), make_rgba(198, 104, 44)};
    for (std::uint32_t i = 0; i < game.characters.size(); ++i) {
        character& who = game.characters[i];
        who.random = next_random(seed) ^ static_cast<std::uint32_t>(game.setup.seed >> 32);
        who.model = next_random(who.random) % game.model_count;
        who.tint = tints[next_random(who.random) % std::size(tints)];
        who.size = 0.92f + 0.16f * next_unit(who.random);
        const float reach = game.models[who.model].header().radius;
        who.radius = std::clamp(reach * 0.6f, 0.4f, 0.85f) * who.size;
        who.heading = next_unit(who.random) * two_pi;
        glm::vec2 place = random_place(who.random);
        for (int tries = 0; tries < 16 && inside_obstacle(place, who.radius); ++tries)
            place = random_place(who.random);
        make_up_mind(who);
        who.patience *= next_unit(who.random);
        who.state = mood::rest;
        who.gait = who.next_gait = no_gait;
        who.clip = who.old_clip = choose_clip(game.models[who.model], mood::rest, 0);
        who.fade = 1;
        who.pace = 1;
        who.time = next_unit(who.random) * 8.0f;
        for (auto& motion : game.motion) motion[i] = {place, {0, 0}};
    }
}

void update_characters(game& game, std::uint32_t part) {
    const block range = block_of(part, game.setup.characters, update_block);
    for (std::uint32_t i = range.first; i < range.last; ++i) {
        character& who = game.characters[i];
        who.patience -= step_seconds;
        const bool arrived = glm::length(who.goal - game.before()[i].position) < 1.5f;
        const bool stuck = who.pressure > 0.9f && top_speed(who) > 0;
        if (stuck) who.patience -= 4 * step_seconds;
        if (who.patience <= 0 || (arrived && top_speed(who) > 0)) make_up_mind(who);
    }
}

void build_grid(game& game, std::uint32_t) {
    crowd_grid& grid = game.grid;
    grid.first.fill(0);
    const auto motion = game.before();
    for (const body_motion& body : motion) ++grid.first[cell_of(body.position) + 1];
    for (std::size_t c = 1; c < grid.first.size(); ++c) grid.first[c] += grid.first[c - 1];
    std::array<std::uint32_t, crowd_grid::side * crowd_grid::side> at;
    std::copy(grid.first.begin(), grid.first.end() - 1, at.begin());
    for (std::uint32_t i = 0; i < motion.size(); ++i)
        grid.sorted[at[cell_of(motion[i].position)]++] = i;
}

void steer(game& game, std::uint32_t part) {
    const block range = block_of(part, game.setup.characters, steer_block);
    const auto motion = game.before();
    for (std::uint32_t i = range.first; i < range.last; ++i) {
        const character& who = game.characters[i];
        const body_motion own = motion[i];
        glm::vec2 apart{0}, together{0};
        float seen = 0;
        around(game.grid, own.position, [&](std::uint32_t other) {
            if (other == i) return;
            const glm::vec2 away = own.position - motion[other].position;
            const float distance = glm::length(away);
            const float room = who.radius + game.characters[other].radius + 0.5f;
            if (distance < room) apart += away * ((room - distance) / (room * (distance + 0.05f)));
            if (game.characters[other].model == who.model) {
                together += motion[other].velocity;
                seen += 1;
            }
        });
        const float speed = top_speed(who);
        const glm::vec2 to_goal = who.goal - own.position;
        glm::vec2 wanted = to_goal * (speed / std::max(glm::length(to_goal), 0.5f));
        if (speed > 0) {
            if (seen > 0) wanted += (together / seen - own.velocity) * 0.2f;
            wanted += avoid_obstacles(own.position, wanted, who.radius) * speed * 0.6f;
        }
        wanted += apart * 1.4f;
        const float limit = std::max(speed, 0.7f);
        if (const float length = glm::length(wanted); length > limit) wanted *= limit / length;
        game.wanted[i] = own.velocity + (wanted - own.velocity) * 0.12f;
    }
}

void collide(game& game, std::uint32_t part) {
    const block range = block_of(part, game.setup.characters, steer_block);
    const auto motion = game.before();
    for (std::uint32_t i = range.first; i < range.last; ++i) {
        character& who = game.characters[i];
        const glm::vec2 start = motion[i].position;
        const glm::vec2 ahead = start + game.wanted[i] * step_seconds;
        glm::vec2 push{0};
        float pressure = 0;
        around(game.grid, start, [&](std::uint32_t other) {
            if (other == i) return;
            const glm::vec2 away =
                ahead - (motion[other].position + game.wanted[other] * step_seconds);
            const float room = who.radius + game.characters[other].radius;
            const float square = glm::dot(away, away);
            if (square >= room * room) return;
            const float distance = std::sqrt(square);
            // Two on one spot part along x, the lower one to the left.
            const glm::vec2 out =
                distance > 1e-4f ? away / distance : glm::vec2{i < other ? -1.0f : 1.0f, 0};
            push += out * ((room - distance) * 0.25f);
            pressure += (room - distance) / room;
        });
        if (const float length = glm::length(push); length > 0.06f) push *= 0.06f / length;
        glm::vec2 place = ahead + push;
        for (const obstacle& block : arena_obstacles()) {
            const glm::vec2 away = place - block.center;
            const float distance = glm::length(away), room = block.radius + who.radius;
            if (distance < room && distance > 1e-4f)
                place = block.center + away * (room / distance);
        }
        place = glm::clamp(place, glm::vec2(-border), glm::vec2(border));
        game.now()[i] = {place, (place - start) / step_seconds};
        who.pressure += (std::min(pressure * 4, 2.0f) - who.pressure) * 0.1f;
    }
}

void take_snapshot(game& game, std::uint32_t part) {
    const block range = block_of(part, game.setup.characters, update_block);
    const auto first = game.characters.begin();
    std::copy(first + range.first, first + range.last,
              game.seen[game.frame % frames_kept].begin() + range.first);
}

}  // namespace arena
