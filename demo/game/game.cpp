// The exported table of functions, and how the game lays itself out in the platform's block.
#include "game.hpp"

#include "frame_table.hpp"
#include "render/renderer.hpp"

#include <algorithm>
#include <new>

namespace arena {
namespace {

/// Hands out pieces of a block one after the other; without a block it only measures.
class layout {
public:
    explicit layout(std::byte* block) : block_(block) {}

    template <class Item>
    std::span<Item> take(std::size_t count) {
        used_ = (used_ + 63) / 64 * 64;
        const std::size_t at = used_;
        used_ += count * sizeof(Item);
        if (!block_) return {};
        Item* first = reinterpret_cast<Item*>(block_ + at);
        std::uninitialized_value_construct_n(first, count);
        return {first, count};
    }
    std::size_t used() const { return used_; }

private:
    std::byte* block_;
    std::size_t used_ = 0;
};

// Room for a crowd of which a few hundred are near; the rest is drawn coarser when it is used up.
std::size_t vertex_room(std::size_t characters) {
    return characters * max_coarse_vertices + std::min<std::size_t>(characters, 400) * 1500 + 8192;
}

game* lay_out(const game_setup& setup, layout& memory) {
    const std::size_t count = setup.characters;
    const std::span<game> own = memory.take<game>(1);
    game unused;
    game& out = own.empty() ? unused : own[0];
    out.characters = memory.take<character>(count);
    for (auto& motion : out.motion) motion = memory.take<body_motion>(count);
    for (auto& seen : out.seen) seen = memory.take<character>(count);
    out.wanted = memory.take<glm::vec2>(count);
    out.grid.sorted = memory.take<std::uint32_t>(count);
    out.steps = memory.take<step_event>(count);
    out.sights = memory.take<sight>(count);
    out.visible = memory.take<visible_body>(count);
    out.skin_parts = memory.take<body_range>(count);
    out.draws = memory.take<draw_command>(count);
    out.contacts = memory.take<ground_contact>(count);
    out.palette = memory.take<bone_matrix>(count * max_palette);
    out.vertices = memory.take<skinned_vertex>(vertex_room(count));
    return own.data();
}

std::size_t memory_size(const game_setup& setup) {
    layout measure(nullptr);
    lay_out(setup, measure);
    return measure.used();
}

game* create(const game_setup& setup, std::span<std::byte> memory) {
    layout pieces(memory.data());
    game* own = lay_out(setup, pieces);
    own->setup = setup;
    own->model_count =
        static_cast<std::uint32_t>(std::min<std::size_t>(setup.models.size(), max_models));
    for (std::uint32_t i = 0; i < own->model_count; ++i)
        own->models[i] = model_view(setup.models[i].data());
    own->setup.models = {};  // the views are all that stays
    populate(*own);
    return own;
}

void begin_frame(game& game, const game_input& input) {
    game.inputs[++game.begun % frames_kept] = input;
}

std::uint64_t hash(game& game) {
    const moment shown = game.shown();
    std::uint64_t state = hash_bytes(std::as_bytes(shown.characters), game.state_hash);
    state = hash_bytes(std::as_bytes(shown.motion), state);
    const std::uint64_t parts[] = {state, game.setup.picture->picture_hash(),
                                   game.sound_hashes[shown.frame % frames_kept]};
    return game.state_hash = hash_bytes(std::as_bytes(std::span(parts)));
}

game_facts facts(const game& game) {
    game_facts out{};
    out.frame = game.drawn;
    out.characters = game.setup.characters;
    out.visible = game.visible_count;
    out.triggers = game.trigger_count;
    out.voices = game.setup.sound->active_voices();
    for (const visible_body& body : game.visible.first(game.visible_count)) {
        const model_lod& lod =
            game.models[game.shown().characters[body.owner].model].header().lods[body.lod];
        out.vertices += lod.vertex_count;
        out.triangles += lod.index_count / 3;
    }
    return out;
}

}  // namespace

const game_api* arena_game_api() {
    static const game_api api{.version = game_api_version,
                              .stages = frame_table(),
                              .memory_size = memory_size,
                              .create = create,
                              .begin_frame = begin_frame,
                              .hash = hash,
                              .facts = facts};
    return &api;
}

}  // namespace arena
