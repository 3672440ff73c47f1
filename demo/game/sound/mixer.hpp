#pragma once
// Mixes up to 64 voices of synthesised sounds and a pad to 48 kHz stereo, one video frame at a
// time. Cut into independent parts like the renderer: the samples depend on the triggers alone.
//
//   begin_frame ─► run(0) … run(parts() - 1), any order ─► finish_frame ─► samples()

#include <cstdint>
#include <memory>
#include <span>

namespace arena {

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

class mixer {
public:
    static constexpr std::uint32_t max_voices = 64;

    /// Synthesises all sounds (some milliseconds, allocates). Nothing allocates afterwards.
    explicit mixer(const mixer_options& options = {});
    ~mixer();

    mixer(const mixer&) = delete;
    mixer& operator=(const mixer&) = delete;

    /// One thread, while no part runs. Each trigger takes a free voice; when none is free, the
    /// voice that is quietest now gives way (the lowest index among equals), unless the trigger is
    /// quieter still. `triggers` is not kept. Their order matters: sort them by who caused them.
    void begin_frame(std::span<const sound_trigger> triggers);

    /// Groups of voices, and one part for the pad. Always the same number.
    std::uint32_t parts() const;

    /// Mixes one group into its own buffer; any order, any threads.
    void run(std::uint32_t part);

    /// Sums the buffers in order, limits, converts. One thread, after all parts.
    void finish_frame();

    /// samples_per_frame interleaved pairs (left, right) of the frame just finished.
    std::span<const std::int16_t> samples() const;

    /// Of every sample since construction.
    std::uint64_t hash() const;

    std::uint32_t active_voices() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace arena
