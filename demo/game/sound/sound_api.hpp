// All that the platform and the game know about the sound: one exported function that returns a
// table of functions. The sound owns no memory and no threads; it lives in a block that the
// platform hands in. It is mixed one video frame at a time, in independent parts like the picture:
//
//   begin_frame ─► run(0) … run(parts() - 1), any order ─► finish_frame ─► samples()
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace arena {

class mixer;  // lives at the start of the platform's block

constexpr std::uint32_t sample_rate = 48000;
constexpr std::uint32_t samples_per_frame = 800;  ///< at 60 frames per second

enum class sound_kind : std::uint8_t { footstep, whoosh, hit, chime };
constexpr std::uint32_t sound_kinds = 4;

struct sound_trigger {
    sound_kind kind = sound_kind::footstep;
    float gain = 1.0f;        ///< 0 … 1; clamped
    float pan = 0.0f;         ///< -1 left … +1 right; clamped
    float pitch = 1.0f;       ///< playing speed, 0.25 … 4; clamped
    std::uint32_t start = 0;  ///< sample of this frame at which it begins, < samples_per_frame
};

struct mixer_options {
    std::uint64_t seed = 1;  ///< of the noise in the sounds
    bool ambience = true;    ///< the pad that plays without triggers
};

/// The functions of class mixer, which says what each promises.
struct sound_api {
    /// Bytes that `create` needs.
    std::size_t (*memory_size)();
    /// Builds a mixer in `memory` (64-byte aligned, memory_size bytes), which is all it ever uses.
    /// Nothing needs to be destroyed.
    mixer* (*create)(const mixer_options&, std::span<std::byte> memory);
    void (*begin_frame)(mixer&, std::span<const sound_trigger>);
    std::uint32_t (*parts)(const mixer&);
    void (*run)(mixer&, std::uint32_t part);
    void (*finish_frame)(mixer&);
    std::span<const std::int16_t> (*samples)(const mixer&);
    std::uint64_t (*hash)(const mixer&);
};

/// The platform's: between two frames it may put other code or another mixer there.
struct sound_output {
    const sound_api* code = nullptr;
    mixer* state = nullptr;
};

const sound_api* arena_sound_api();

}  // namespace arena
