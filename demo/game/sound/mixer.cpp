#include "sound/mixer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "sound/synthesis.hpp"

namespace arena {
namespace {

constexpr std::uint32_t voices_per_part = 8;
constexpr std::uint32_t voice_parts = mixer::max_voices / voices_per_part;

/// Above this the limiter bends the wave; below it nothing changes.
constexpr float limit_start = 0.7f;

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
    float loudness(std::size_t length) const {
        const float done = static_cast<float>(position >> 32) / static_cast<float>(length);
        return std::max(left, right) * (1.0f - std::min(done, 1.0f));
    }
};

/// Linear up to limit_start, then ever flatter towards 1.
float limited(float sample) {
    const float size = std::fabs(sample);
    if (size <= limit_start) return sample;
    constexpr float room = 1.0f - limit_start;
    const float over = (size - limit_start) / room;
    const float bent = limit_start + room * over / (1.0f + over);
    return sample < 0.0f ? -bent : bent;
}

/// NaN is as good as `low`.
float clamped(float value, float low, float high) {
    if (!(value > low)) return low;
    return value < high ? value : high;
}

/// Slow chords of detuned sines that drift from left to right and back.
struct pad {
    static constexpr std::uint32_t notes = 6;
    std::array<float, notes> phase{};
    float drift = 0.0f;

    void mix(buffer& out) {
        constexpr float frequencies[notes] = {55.0f, 82.6f, 110.3f, 164.5f, 220.9f, 277.6f};
        constexpr float levels[notes] = {0.050f, 0.040f, 0.034f, 0.022f, 0.014f, 0.009f};
        constexpr auto rate = static_cast<float>(sample_rate);
        for (std::uint32_t i = 0; i < samples_per_frame; ++i) {
            drift += 0.043f / rate;
            if (drift >= 1.0f) drift -= 1.0f;
            float left = 0.0f, right = 0.0f;
            for (std::uint32_t n = 0; n < notes; ++n) {
                phase[n] += frequencies[n] / rate;
                if (phase[n] >= 1.0f) phase[n] -= 1.0f;
                const float tone = levels[n] * sine_of_turn(phase[n]);
                const float side = sine_of_turn(drift + static_cast<float>(n) * 0.37f) * 0.4f;
                left += tone * (1.0f - side);
                right += tone * (1.0f + side);
            }
            out[i * 2] += left;
            out[i * 2 + 1] += right;
        }
    }
};

}  // namespace

struct mixer::state {
    std::array<std::vector<float>, sound_kinds> sounds;
    std::array<voice, max_voices> voices;
    std::array<buffer, voice_parts + 1> buffers;
    pad ambience;
    bool ambience_on = true;
    std::array<std::int16_t, std::size_t{samples_per_frame} * 2> samples{};
    std::uint64_t hash = 0xcbf29ce484222325u;

    const std::vector<float>& sound_of(const voice& v) const {
        return sounds[static_cast<std::size_t>(v.kind)];
    }
    voice* voice_for(float loudness);
    void start(const sound_trigger& trigger);
    void play(voice& v, buffer& out) const;
};

/// The voice that a sound of this loudness may take, or null.
voice* mixer::state::voice_for(float loudness) {
    voice* quietest = nullptr;
    float least = loudness;
    for (voice& v : voices) {
        if (!v.playing) return &v;
        const float other = v.loudness(sound_of(v).size());
        if (other < least || (quietest == nullptr && other == least)) {
            quietest = &v;
            least = other;
        }
    }
    return quietest;
}

void mixer::state::start(const sound_trigger& trigger) {
    const float gain = clamped(trigger.gain, 0.0f, 1.0f);
    if (gain == 0.0f || static_cast<std::uint32_t>(trigger.kind) >= sound_kinds) return;
    const float pan = clamped(trigger.pan, -1.0f, 1.0f);
    // Equal power: sine and cosine of a quarter turn.
    const float quarter = (pan + 1.0f) * 0.125f;
    voice next;
    next.kind = trigger.kind;
    next.left = gain * sine_of_turn(0.25f - quarter);
    next.right = gain * sine_of_turn(quarter);
    voice* chosen = voice_for(std::max(next.left, next.right));
    if (chosen == nullptr) return;
    next.playing = true;
    next.start = std::min(trigger.start, samples_per_frame - 1);
    next.step = static_cast<std::uint64_t>(clamped(trigger.pitch, 0.25f, 4.0f) * 4294967296.0f);
    *chosen = next;
}

void mixer::state::play(voice& v, buffer& out) const {
    const std::vector<float>& sound = sound_of(v);
    std::uint32_t i = v.start;
    for (; i < samples_per_frame; ++i) {
        const auto at = static_cast<std::size_t>(v.position >> 32);
        if (at + 1 >= sound.size()) {
            v.playing = false;
            break;
        }
        const float between = static_cast<float>(v.position & 0xffffffffu) * (1.0f / 4294967296.0f);
        const float sample = sound[at] + (sound[at + 1] - sound[at]) * between;
        out[i * 2] += sample * v.left;
        out[i * 2 + 1] += sample * v.right;
        v.position += v.step;
    }
    v.start = 0;
}

mixer::mixer(const mixer_options& options) : state_(std::make_unique<state>()) {
    for (std::uint32_t kind = 0; kind < sound_kinds; ++kind)
        state_->sounds[kind] = synthesise(static_cast<sound_kind>(kind), options.seed);
    state_->ambience_on = options.ambience;
}

mixer::~mixer() = default;

void mixer::begin_frame(std::span<const sound_trigger> triggers) {
    for (const sound_trigger& trigger : triggers) state_->start(trigger);
}

std::uint32_t mixer::parts() const { return voice_parts + 1; }

void mixer::run(std::uint32_t part) {
    buffer& out = state_->buffers[part];
    out.fill(0.0f);
    if (part == voice_parts) {
        if (state_->ambience_on) state_->ambience.mix(out);
        return;
    }
    for (std::uint32_t i = part * voices_per_part; i < (part + 1) * voices_per_part; ++i)
        if (state_->voices[i].playing) state_->play(state_->voices[i], out);
}

void mixer::finish_frame() {
    for (std::size_t i = 0; i < state_->samples.size(); ++i) {
        float sum = 0.0f;
        for (const buffer& part : state_->buffers) sum += part[i];
        const auto sample = static_cast<std::int16_t>(std::lround(limited(sum) * 32767.0f));
        state_->samples[i] = sample;
        state_->hash =
            (state_->hash ^ static_cast<std::uint16_t>(sample)) * std::uint64_t{0x100000001b3u};
    }
}

std::span<const std::int16_t> mixer::samples() const { return state_->samples; }

std::uint64_t mixer::hash() const { return state_->hash; }

std::uint32_t mixer::active_voices() const {
    return static_cast<std::uint32_t>(std::count_if(state_->voices.begin(), state_->voices.end(),
                                                    [](const voice& v) { return v.playing; }));
}

}  // namespace arena
