#include "stubs.hpp"

// What the game tells the renderer, and the mixer, in full: their layouts in this program's debug
// information are what new code is compared with. Not so the state of the game, which may change.
#include "../game/render/scene.hpp"
#include "../game/sound/mixer.hpp"

#include <array>

namespace arena::host {
namespace {

constexpr std::array<std::int16_t, std::size_t{samples_per_frame} * 2> silence{};

const frame_input no_picture{};

// Nobody looks into the game that a stub has made.
game* no_game() {
    static std::byte nothing;
    return reinterpret_cast<game*>(&nothing);
}

constexpr game_api game_stub{
    .stages = {},
    .create = [](const game_setup&, game_state&) { return no_game(); },
    .scratch_size = [](const game_setup&) { return std::size_t{0}; },
    .use_scratch = [](game&, std::span<std::byte>) {},
    .begin_frame = [](game&, const game_input&) {},
    .hash = [](game&) { return std::uint64_t{0}; },
    .picture = [](const game&) -> const frame_input& { return no_picture; },
    .describe = [](const game&, std::uint32_t, std::span<char>) { return std::string_view(); }};

constexpr sound_api sound_stub{
    .memory_size = [] { return sizeof(mixer); },
    .create = [](const mixer_options&,
                 std::span<std::byte> memory) { return reinterpret_cast<mixer*>(memory.data()); },
    .begin_frame = [](mixer&, std::span<const sound_trigger>) {},
    .parts = [](const mixer&) { return std::uint32_t{1}; },
    .run = [](mixer&, std::uint32_t) {},
    .finish_frame = [](mixer&) {},
    .samples = [](const mixer&) { return std::span<const std::int16_t>(silence); },
    .hash = [](const mixer&) { return std::uint64_t{0}; }};

}  // namespace

game_api stub_game_api() { return game_stub; }
const sound_api* stub_sound_api() { return &sound_stub; }

}  // namespace arena::host
