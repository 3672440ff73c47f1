// All that the platform knows about the game: one exported function that returns a table of
// functions, and a table of stages that describes a frame. The game owns no memory and no threads;
// it lives in a state that the platform hands in, and runs where the platform calls its stages.
// The code may be replaced between two frames: the state keeps nothing that points to it.
#pragma once

#include "state.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace arena {

class renderer;
struct frame_input;
struct sound_output;
struct game;  // the root "game" of a state; it moves when a reload changes a layout

inline constexpr std::uint32_t max_frames_in_flight = 4;
inline constexpr std::size_t max_stages = 32;
inline constexpr std::uint32_t max_characters = 20'000;
inline constexpr float step_seconds = 1.0f / 60;  // simulated per frame

struct game_setup {
    std::uint32_t characters = 1000;  // 1 … max_characters
    std::uint64_t seed = 1;
    std::span<const std::span<const std::byte>> models;  // blocks as model.hpp describes them
    renderer* picture = nullptr;
    const sound_output* sound = nullptr;
};

/// What the platform tells the game before each frame. The camera turns around the middle of the
/// arena: angles in radians, distance in metres.
struct game_input {
    float camera_yaw = 0.6f;
    float camera_pitch = 0.2f;
    float camera_distance = 17.0f;
};

/// While one frame is drawn, later ones may be simulated: at most max_frames_in_flight are begun
/// and not over, and each phase works on one frame at a time, in their order.
enum class phase : std::uint8_t { simulate, draw };

/// One row of the frame table. `parts` may be called once every stage of `after` is complete, and
/// then tells how many parts run before the stage is complete itself: in any order, on any
/// threads, each exactly once. Stages not ordered by `after` may overlap. What is simulated comes
/// after nothing that is drawn.
struct stage {
    phase of;
    const char* name;
    std::span<const std::uint8_t> after;  // earlier rows
    std::uint32_t (*parts)(const game&);
    void (*run)(game&, std::uint32_t part);
};

struct game_api {
    std::span<const stage> stages;
    /// Makes the game in an empty state. Models, picture and sound must outlive it.
    game* (*create)(const game_setup&, game_state&);
    /// Bytes for what one stage leaves for a later one of the same frame: too large to be carried
    /// from one layout to the next, and not worth it.
    std::size_t (*scratch_size)(const game_setup&);
    /// Before the first frame, and after each reload: `scratch` has that size or more, is 64-byte
    /// aligned, and stays until the next call.
    void (*use_scratch)(game&, std::span<std::byte> scratch);
    /// Before the stages of a frame; stages of earlier frames may run meanwhile.
    void (*begin_frame)(game&, const game_input&);
    /// After the stages of a frame, before the next one is drawn: covers game state, picture and
    /// sound of every frame so far. Says the same of the same values, however they lie in memory.
    std::uint64_t (*hash)(game&);
    /// What the last frame has told the renderer, which is the platform's: both must agree about
    /// its layout.
    const frame_input& (*picture)(const game&);
    /// One character between two frames, as " name=value" for each field that is of interest.
    /// Writes into `room`, and leaves out what does not fit.
    std::string_view (*describe)(const game&, std::uint32_t character, std::span<char> room);
};

game_api arena_game_api();

}  // namespace arena
