#include "sound/mixer.hpp"

#include <algorithm>
#include <cmath>

#include "sound/synthesis.hpp"

namespace arena {
namespace {

/// Above this the limiter bends the wave; below it nothing changes.
constexpr float limit_start = 0.7f;

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

}  // namespace

float mixer::voice::loudness(std::size_t length) const {
    const float done = static_cast<float>(position >> 32) / static_cast<float>(length);
    return std::max(left, right) * (1.0f - std::min(done, 1.0f));
}

void mixer::pad::mix(buffer& out) {
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

/// The voice that a sound of this loudness may take, or null.
mixer::voice* mixer::voice_for(float loudness) {
    voice* quietest = nullptr;
    float least = loudness;
    for (voice& v : voices_) {
        if (!v.playing) return &v;
        const float other = v.loudness(sound_of(v).length);
        if (other < least || (quietest == nullptr && other == least)) {
            quietest = &v;
            least = other;
        }
    }
    return quietest;
}

void mixer::start(const sound_trigger& trigger) {
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

void mixer::play(voice& v, buffer& out) const {
    const sound& own = sound_of(v);
    std::uint32_t i = v.start;
    for (; i < samples_per_frame; ++i) {
        const auto at = static_cast<std::size_t>(v.position >> 32);
        if (at + 1 >= own.length) {
            v.playing = false;
            break;
        }
        const float between = static_cast<float>(v.position & 0xffffffffu) * (1.0f / 4294967296.0f);
        const float sample = own.samples[at] + (own.samples[at + 1] - own.samples[at]) * between;
        out[i * 2] += sample * v.left;
        out[i * 2 + 1] += sample * v.right;
        v.position += v.step;
    }
    v.start = 0;
}

mixer::mixer(const mixer_options& options) : ambience_on_(options.ambience) {
    for (std::uint32_t kind = 0; kind < sound_kinds; ++kind) {
        sound& own = sounds_[kind];
        own.length = synthesise(static_cast<sound_kind>(kind), options.seed, own.samples);
    }
}

void mixer::begin_frame(std::span<const sound_trigger> triggers) {
    for (const sound_trigger& trigger : triggers) start(trigger);
}

std::uint32_t mixer::parts() const { return voice_parts + 1; }

void mixer::run(std::uint32_t part) {
    buffer& out = buffers_[part];
    out.fill(0.0f);
    if (part == voice_parts) {
        if (ambience_on_) ambience_.mix(out);
        return;
    }
    for (std::uint32_t i = part * voices_per_part; i < (part + 1) * voices_per_part; ++i)
        if (voices_[i].playing) play(voices_[i], out);
}

void mixer::finish_frame() {
    for (std::size_t i = 0; i < samples_.size(); ++i) {
        float sum = 0.0f;
        for (const buffer& part : buffers_) sum += part[i];
        const auto sample = static_cast<std::int16_t>(std::lround(limited(sum) * 32767.0f));
        samples_[i] = sample;
        hash_ = (hash_ ^ static_cast<std::uint16_t>(sample)) * std::uint64_t{0x100000001b3u};
    }
}

std::span<const std::int16_t> mixer::samples() const { return samples_; }

std::uint64_t mixer::hash() const { return hash_; }

std::uint32_t mixer::active_voices() const {
    return static_cast<std::uint32_t>(
        std::count_if(voices_.begin(), voices_.end(), [](const voice& v) { return v.playing; }));
}

}  // namespace arena
