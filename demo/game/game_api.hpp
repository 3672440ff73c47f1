// All that the platform knows about the game: one exported function that returns a table of
// functions, and a table of stages that describes a frame. The game owns no memory and no threads;
// it lives in a block that the platform hands in, and runs where the platform calls its stages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace arena {

class renderer;
class mixer;
struct game;  // lives at the start of the platform's block

inline constexpr std::uint32_t game_api_version = 2;
inline constexpr std::uint32_t max_frames_in_flight = 4;
inline constexpr std::uint32_t max_characters = 20'000;
inline constexpr float step_seconds = 1.0f / 60;  // simulated per frame

struct game_setup {
    std::uint32_t characters = 1000;  // 1 … max_characters
    std::uint64_t seed = 1;
    std::span<const std::span<const std::byte>> models;  // checked by find_model_fault
    renderer* picture = nullptr;
    mixer* sound = nullptr;
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

struct game_facts {
    std::uint64_t frame;
    std::uint32_t characters, visible;
    std::uint32_t vertices, triangles;  // of visible characters
    std::uint32_t triggers, voices;
};

struct game_api {
    std::uint32_t version;
    std::span<const stage> stages;
    /// Bytes that `create` needs for this setup.
    std::size_t (*memory_size)(const game_setup&);
    /// Builds a game in `memory` (64-byte aligned, zeroed, memory_size bytes), which is all it
    /// ever uses. Models, picture and sound must outlive it. Nothing needs to be destroyed.
    game* (*create)(const game_setup&, std::span<std::byte> memory);
    /// Before the stages of a frame; stages of earlier frames may run meanwhile.
    void (*begin_frame)(game&, const game_input&);
    /// After the stages of a frame, before the next one is drawn: covers game state, picture and
    /// sound of every frame so far.
    std::uint64_t (*hash)(game&);
    game_facts (*facts)(const game&);
};

extern "C" const game_api* arena_game_api();

}  // namespace arena
