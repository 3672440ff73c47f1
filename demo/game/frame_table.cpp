// The frame: which stages there are, what each follows, how many parts it has. Every scheduler
// runs this one table.
#include "frame_table.hpp"

#include "game.hpp"
#include "render/renderer.hpp"
#include "sound/sound_api.hpp"

#include <algorithm>
#include <array>

namespace arena {
namespace {

enum row : std::uint8_t {
    input,
    update,
    grid,
    steering,
    collision,
    animation,
    snapshot,
    view,
    lights,
    culling,
    lod,
    ui,
    commands,
    assets,
    poses,
    skinning,
    light_bins,
    lightmap,
    geometry,
    raster,
    resolve,
    picture_hash,
    triggers,
    mixing,
    mix_end,
    streaming,
    row_count
};

std::uint32_t one(const game&) { return 1; }

template <std::uint32_t Size>
std::uint32_t blocks(const game& game) {
    return block_count(game.setup.characters, Size);
}

std::uint32_t pose_parts(const game& game) { return block_count(game.visible_count, pose_block); }
std::uint32_t skin_parts(const game& game) { return game.skin_part_count; }

template <render_stage Stage>
std::uint32_t render_parts(const game& game) {
    return game.setup.picture->parts(Stage);
}
template <render_stage Stage>
void render(game& game, std::uint32_t part) {
    game.setup.picture->run(Stage, part);
}

std::uint32_t mix_parts(const game& game) {
    return game.setup.sound->code->parts(*game.setup.sound->state);
}
void mix(game& game, std::uint32_t part) {
    game.setup.sound->code->run(*game.setup.sound->state, part);
}
void end_mix(game& game, std::uint32_t) {
    const sound_output& sound = *game.setup.sound;
    sound.code->finish_frame(*sound.state);
    game.sound_hashes[game.frame % frames_kept] = sound.code->hash(*sound.state);
}

template <row... Rows>
constexpr std::array<std::uint8_t, sizeof...(Rows)> after{Rows...};

constexpr phase simulate = phase::simulate, draw = phase::draw;

static_assert(row_count <= max_stages);
constexpr std::array<stage, row_count> table{{
    {simulate, "input", after<>, one, take_input},
    {simulate, "game update", after<input>, blocks<update_block>, update_characters},
    {simulate, "grid", after<input>, one, build_grid},
    {simulate, "steering", after<update, grid>, blocks<steer_block>, steer},
    {simulate, "collision", after<steering>, blocks<steer_block>, collide},
    {simulate, "animation", after<collision>, blocks<animate_block>, animate},
    {simulate, "snapshot", after<animation>, blocks<update_block>, take_snapshot},
    {draw, "view", after<input>, one, begin_view},
    {draw, "lights", after<view>, one, move_lights},
    {draw, "culling", after<view, snapshot>, blocks<sight_block>, cull},
    {draw, "level of detail", after<culling>, blocks<sight_block>, choose_lod},
    {draw, "ui text", after<lod>, one, write_ui},
    {draw, "command buffer", after<ui, lights>, one, write_commands},
    {draw, "assets", after<commands>, one, take_assets, nullptr, true},
    {draw, "poses", after<assets>, pose_parts, blend_poses},
    {draw, "skinning", after<poses>, skin_parts, skin, &skin_kernel},
    {draw, "light binning", after<commands>, render_parts<render_stage::lights>,
     render<render_stage::lights>, &light_kernel},
    {draw, "floor lightmap", after<skinning>, render_parts<render_stage::floor>,
     render<render_stage::floor>},
    {draw, "geometry bins", after<skinning>, render_parts<render_stage::geometry>,
     render<render_stage::geometry>},
    {draw, "raster tiles", after<light_bins, lightmap, geometry>, render_parts<render_stage::tiles>,
     render<render_stage::tiles>},
    {draw, "resolve + ui", after<raster>, render_parts<render_stage::resolve>,
     render<render_stage::resolve>},
    {draw, "picture hash", after<resolve>, render_parts<render_stage::hash>,
     render<render_stage::hash>},
    {simulate, "sound triggers", after<animation>, one, trigger_sounds},
    {simulate, "sound mixing", after<triggers>, mix_parts, mix},
    {simulate, "sound end", after<mixing>, one, end_mix},
    {simulate, "streaming", after<input>, one, begin_assets},
}};

constexpr bool follows_only_earlier_rows() {
    for (std::size_t i = 0; i < table.size(); ++i)
        for (std::uint8_t earlier : table[i].after)
            if (earlier >= i || table[earlier].of > table[i].of) return false;
    return true;
}
static_assert(follows_only_earlier_rows(),
              "serial runs the table from top to bottom, and no frame "
              "waits for the drawing of the one before");

}  // namespace

std::span<const stage> frame_table() { return table; }

}  // namespace arena
