// The exported table of functions, and how the game puts itself into the platform's state.
#include "game.hpp"

#include "frame_table.hpp"
#include "hash_bytes.hpp"
#include "render/renderer.hpp"

#include <braid/reload/export.hpp>

#include <algorithm>
#include <cstdio>

namespace arena {
namespace {

// Room for a crowd of which a few hundred are near; the rest is drawn coarser when it is used up.
std::size_t vertex_room(std::size_t characters) {
    return characters * max_coarse_vertices + std::min<std::size_t>(characters, 400) * 1500 + 8192;
}

void make_arrays(game& own, game_state& state) {
    const std::size_t count = own.setup.characters;
    own.characters = state.make_array<character>(count);
    for (auto& motion : own.motion) motion = state.make_array<body_motion>(count);
    for (auto& seen : own.seen) seen = state.make_array<character>(count);
    own.wanted = state.make_array<glm::vec2>(count);
    own.grid.sorted = state.make_array<std::uint32_t>(count);
    own.steps = state.make_array<step_event>(count);
    own.sights = state.make_array<sight>(count);
    own.visible = state.make_array<visible_body>(count);
    own.skin_parts = state.make_array<body_range>(count);
    own.draws = state.make_array<draw_command>(count);
    own.contacts = state.make_array<ground_contact>(count);
}

game* create(const game_setup& setup, game_state& state) {
    game& own = state.root<game>("game");
    own.setup = {setup.characters, setup.seed, setup.picture, setup.sound, setup.assets};
    own.model_count =
        static_cast<std::uint32_t>(std::min<std::size_t>(setup.models.size(), max_models));
    for (std::uint32_t i = 0; i < own.model_count; ++i)
        own.models[i] = model_view(setup.models[i].data());
    make_arrays(own, state);
    populate(own);
    return &own;
}

std::size_t scratch_size(const game_setup& setup) {
    std::size_t copies = 0;
    for (const auto block : setup.models) copies += level_copy_bytes_of(model_view(block.data()));
    return palette_bytes(setup.characters) + skin_item_bytes(setup.characters) + copies +
           vertex_room(setup.characters) * sizeof(skinned_vertex);
}

void use_scratch(game& game, std::span<std::byte> scratch) {
    game.scratch = scratch;
    game.level_copy_bytes = 0;
    for (std::uint32_t m = 0; m < game.model_count; ++m)
        game.level_copy_bytes += level_copy_bytes_of(game.models[m]);
}

void begin_frame(game& game, const game_input& input) {
    game.inputs[++game.begun % frames_kept] = input;
}

// Each value counts as eight bytes, in the order of this text, so that a layout does not matter.
std::uint64_t hash_characters(std::span<const character> all, std::uint64_t start) {
    value_hash hash(start);
    for (const character& who : all) {
        hash.add(who.random, who.model, who.tint, who.size, who.radius, who.goal.x, who.goal.y,
                 who.patience, who.wish, who.state, who.heading, who.clip, who.old_clip, who.time,
                 who.old_time, who.fade, who.pace, who.pressure, who.gait, who.next_gait,
                 who.gait_from);
    }
    return hash.value();
}

std::uint64_t hash_motion(std::span<const body_motion> all, std::uint64_t start) {
    value_hash hash(start);
    for (const auto& [position, velocity] : all)
        hash.add(position.x, position.y, velocity.x, velocity.y);
    return hash.value();
}

std::uint64_t hash(game& game) {
    const moment shown = game.shown();
    value_hash all(game.state_hash);
    all.add(hash_motion(shown.motion, hash_characters(shown.characters, game.state_hash)),
            game.setup.picture->picture_hash(), game.sound_hashes[shown.frame % frames_kept]);
    return game.state_hash = all.value();
}

const frame_input& picture(const game& game) { return game.picture; }

std::string_view describe(const game& game, std::uint32_t number, std::span<char> room) {
    constexpr const char* moods[] = {"rest", "walk", "run", "act"};
    const character& who = game.characters[number];
    const auto [position, velocity] = game.now()[number];
    const auto metres = [](float value) { return static_cast<double>(value); };
    const int used = std::snprintf(
        room.data(), room.size(),
        " wish=%s x=%.3f z=%.3f speed=%.3f size=%.3f radius=%.3f model=%llu patience=%.3f",
        moods[static_cast<std::size_t>(who.wish)], metres(position.x), metres(position.y),
        metres(glm::length(velocity)), metres(who.size), metres(who.radius),
        static_cast<unsigned long long>(who.model), metres(who.patience));
    return {room.data(), std::min(static_cast<std::size_t>(std::max(used, 0)), room.size() - 1)};
}

}  // namespace

game_api arena_game_api() {
    return {.stages = frame_table(),
            .create = create,
            .scratch_size = scratch_size,
            .use_scratch = use_scratch,
            .begin_frame = begin_frame,
            .hash = hash,
            .picture = picture,
            .describe = describe};
}

BRAID_RELOAD_EXPORT(arena_game_api, game_api())
BRAID_RELOAD_TYPE(game)
BRAID_RELOAD_TYPE(character)

}  // namespace arena
