#pragma once
// Mixes up to 64 voices of synthesised sounds and a pad to 48 kHz stereo. The samples depend on the
// triggers alone. It is one flat object, so that it lives in memory of the platform and outlives
// the code that made it.

#include "sound/sound_api.hpp"

#include <array>
#include <cstddef>

namespace arena {

class mixer {
public:
    static constexpr std::uint32_t max_voices = 64;

    /// Synthesises all sounds (some milliseconds). Nothing allocates.
    explicit mixer(const mixer_options& options = {});

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
    static constexpr std::uint32_t voices_per_part = 8;
    static constexpr std::uint32_t voice_parts = max_voices / voices_per_part;
    static constexpr std::size_t most_samples = 70'000;  // of one sound: 1.4 s and some room

    /// One frame of interleaved pairs.
    using buffer = std::array<float, std::size_t{samples_per_frame} * 2>;

    struct voice {
        sound_kind kind;
        bool playing = false;
        std::uint32_t start = 0;     ///< sample of the current frame at which it goes on
        std::uint64_t position = 0;  ///< in the sound, 32.32 fixed point
        std::uint64_t step = 0;
        float left = 0.0f, right = 0.0f;

        /// How loud the rest can be: what decides which voice gives way.
        float loudness(std::size_t length) const;
    };

    /// Slow chords of detuned sines that drift from left to right and back.
    struct pad {
        static constexpr std::uint32_t notes = 6;
        std::array<float, notes> phase{};
        float drift = 0.0f;

        void mix(buffer& out);
    };

    struct sound {
        std::size_t length;
        std::array<float, most_samples> samples;
    };

    const sound& sound_of(const voice& v) const {
        return sounds_[static_cast<std::size_t>(v.kind)];
    }
    voice* voice_for(float loudness);
    void start(const sound_trigger& trigger);
    void play(voice& v, buffer& out) const;

    std::array<sound, sound_kinds> sounds_;
    std::array<voice, max_voices> voices_;
    std::array<buffer, voice_parts + 1> buffers_;
    pad ambience_;
    bool ambience_on_ = true;
    std::array<std::int16_t, std::size_t{samples_per_frame} * 2> samples_{};
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace arena
