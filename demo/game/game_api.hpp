// All that the platform knows about the game: one exported function that returns a table of
// functions, and a table of stages that describes a frame. The game owns no memory and no threads;
// it lives in a state that the platform hands in, and runs where the platform calls its stages.
// The code may be replaced between two frames: the state keeps nothing that points to it.
#pragma once

#include "aligned_array.hpp"
#include "model.hpp"
#include "state.hpp"

#include <array>
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
inline constexpr std::uint32_t max_models = 8;
inline constexpr std::uint32_t max_characters = 20'000;
inline constexpr float step_seconds = 1.0f / 60;  // simulated per frame

/// What the platform has in pages: clips in other gaits, as many poses of the same joints; and the
/// vertices of all levels of detail but the coarsest. What the game wants in a frame it uses
/// `delay` frames later and not before, so that it is the same game wherever the pages come from.
struct asset_pages {
    static constexpr std::uint32_t variants = 192;  // of a clip
    static constexpr std::uint64_t delay = 4;
    static constexpr std::uint32_t levels_at = max_models * max_clips * variants;
    static constexpr std::uint32_t count = levels_at + max_models * lod_count;

    static std::uint32_t gait(std::size_t model, std::uint32_t clip, std::uint32_t variant) {
        return static_cast<std::uint32_t>((model * max_clips + clip) * variants + variant);
    }
    static std::uint32_t level(std::size_t model, std::uint32_t lod) {
        return static_cast<std::uint32_t>(levels_at + model * lod_count + lod);
    }

    void* of = nullptr;
    /// Once a frame.
    void (*begin_frame)(void* of, std::uint64_t frame) = nullptr;
    /// That frame will need it. Any thread.
    void (*want)(void* of, std::uint32_t page, std::uint64_t frame) = nullptr;
    /// Waits where the page is late. What is returned stays until the frame has ended; null: the
    /// model's own is used.
    const std::byte* (*need)(void* of, std::uint32_t page, std::uint64_t frame) = nullptr;
};

struct game_setup {
    std::uint32_t characters = 1000;  // 1 … max_characters
    std::uint64_t seed = 1;
    std::span<const std::span<const std::byte>> models;  // blocks as model.hpp describes them
    renderer* picture = nullptr;
    const sound_output* sound = nullptr;
    const asset_pages* assets = nullptr;  // null: there are none
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

/// What one piece of a kernel reads and writes, wherever that lies.
struct kernel_work {
    static constexpr std::size_t most_reads = 12;

    std::array<std::span<const std::byte>, most_reads> reads;
    std::span<std::byte> writes;
    std::uint32_t read_count = 0;
    std::uint32_t groups = 0;
};

/// The work of a stage as data, for a processor that is no core of this machine.
struct kernel {
    const char* name;
    /// One group. Touches nothing but what the work names; groups run in any order, on any threads.
    void (*run)(const kernel_work& there, std::uint32_t group);
    /// The same as SPIR-V: bindings are what it reads, in order, then what it writes. Empty: none.
    std::span<const std::uint32_t> shader;
    /// When the stages of `after` are complete: hands out pieces that together do what the parts
    /// of the stage do, each with `most_bytes` at most. 0: there is no limit, and one piece.
    /// What they name stays as it is until the stage is complete.
    void (*pieces)(game&, std::size_t most_bytes, void (*take)(void* to, const kernel_work&),
                   void* to);
    /// The memory in which all lies that pieces without a limit name, and in which each of them
    /// begins at a multiple of array_alignment. It stays where it is until new code comes.
    void (*arrays)(game&, void (*take)(void* to, std::span<std::byte>), void* to);
};

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
    const kernel* as_data = nullptr;  // null: for cores only
    bool may_wait = false;            // for what is not computed; it has one part then
};

struct game_api {
    std::span<const stage> stages;
    /// Makes the game in an empty state. Models, picture, sound and assets must outlive it.
    game* (*create)(const game_setup&, game_state&);
    /// Bytes for what one stage leaves for a later one of the same frame: too large to be carried
    /// from one layout to the next, and not worth it.
    std::size_t (*scratch_size)(const game_setup&);
    /// Before the first frame, and after each reload: `scratch` has that size or more, begins at a
    /// multiple of array_alignment, and stays until the next call.
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
