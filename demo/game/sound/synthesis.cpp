#include "sound/synthesis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace arena {
namespace {

constexpr auto rate = static_cast<float>(sample_rate);

/// White noise, -1 … 1.
class noise {
public:
    explicit noise(std::uint64_t seed) : state_(seed * 2 + 1) {}

    float operator()() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        const auto bits = static_cast<std::int32_t>(state_ >> 40);  // 24 bits
        return static_cast<float>(bits) / 8388608.0f - 1.0f;
    }

private:
    std::uint64_t state_;
};

/// State variable filter; `cutoff` in Hz, well below a sixth of the rate.
struct filter {
    float low = 0.0f, band = 0.0f;

    void feed(float input, float cutoff, float damping) {
        const float f = 2.0f * sine_of_turn(0.5f * cutoff / rate);
        low += f * band;
        band += f * (input - low - damping * band);
    }
};

/// Falls to 1/1000 after `seconds`, by one multiplication per sample.
class decay {
public:
    explicit decay(float seconds) {
        // (1 - 6.9 / n)^n is about 1/1000.
        factor_ = 1.0f - 6.9078f / (seconds * rate);
    }
    float operator()() { return level_ *= factor_; }

private:
    float level_ = 1.0f;
    float factor_;
};

/// The part of `room` that takes so long.
std::span<float> silence(std::span<float> room, float seconds) {
    const std::span<float> sound = room.first(static_cast<std::size_t>(seconds * rate));
    std::ranges::fill(sound, 0.0f);
    return sound;
}

/// A dull thump of the heel and the crunch of the sole a moment later.
std::span<float> footstep(std::span<float> room, noise grain) {
    const std::span<float> sound = silence(room, 0.16f);
    filter thump, crunch;
    decay heel(0.09f), sole(0.12f);
    float phase = 0.0f;
    for (std::size_t i = 0; i < sound.size(); ++i) {
        const float white = grain();
        const float h = heel();
        phase += (62.0f + 70.0f * h) / rate;
        thump.feed(white, 220.0f, 0.9f);
        float out = 0.75f * h * sine_of_turn(phase) + 0.5f * h * thump.low;
        if (i > 700) {
            crunch.feed(white, 1900.0f, 0.7f);
            out += 0.28f * sole() * crunch.band;
        }
        sound[i] = out;
    }
    return sound;
}

/// Noise through a band that rises and falls.
std::span<float> whoosh(std::span<float> room, noise air) {
    const std::span<float> sound = silence(room, 0.42f);
    filter band;
    const auto count = static_cast<float>(sound.size());
    for (std::size_t i = 0; i < sound.size(); ++i) {
        const float t = static_cast<float>(i) / count;
        const float swell = 4.0f * t * (1.0f - t);
        band.feed(air(), 350.0f + 1500.0f * swell * swell, 0.45f);
        sound[i] = 0.55f * swell * swell * band.band;
    }
    return sound;
}

/// A click, a body that falls in pitch, a rattle of noise.
std::span<float> hit(std::span<float> room, noise grain) {
    const std::span<float> sound = silence(room, 0.34f);
    filter rattle;
    decay body(0.28f), click(0.02f), dust(0.14f);
    float phase = 0.0f, overtone = 0.0f;
    for (std::size_t i = 0; i < sound.size(); ++i) {
        const float white = grain();
        const float b = body();
        phase += (85.0f + 150.0f * b * b) / rate;
        overtone += (410.0f + 90.0f * b) / rate;
        rattle.feed(white, 1300.0f, 0.5f);
        sound[i] = 0.8f * b * sine_of_turn(phase) + 0.2f * b * b * sine_of_turn(overtone) +
                   0.35f * click() * white + 0.4f * dust() * rattle.band;
    }
    return sound;
}

/// Partials of a struck bar.
std::span<float> chime(std::span<float> room) {
    const std::span<float> sound = silence(room, 1.4f);
    constexpr float ratios[] = {1.0f, 2.76f, 5.40f, 8.93f};
    constexpr float levels[] = {0.5f, 0.24f, 0.12f, 0.06f};
    constexpr float lengths[] = {1.35f, 0.8f, 0.45f, 0.25f};
    for (std::size_t partial = 0; partial < 4; ++partial) {
        decay fade(lengths[partial]);
        float phase = 0.0f;
        for (float& sample : sound) {
            phase += 660.0f * ratios[partial] / rate;
            sample += levels[partial] * fade() * sine_of_turn(phase);
        }
    }
    return sound;
}

/// No click at either end.
void soften_ends(std::span<float> sound) {
    constexpr std::size_t attack = 48, release = 480;
    for (std::size_t i = 0; i < attack; ++i) sound[i] *= static_cast<float>(i) / attack;
    for (std::size_t i = 0; i < release; ++i)
        sound[sound.size() - 1 - i] *= static_cast<float>(i) / release;
}

}  // namespace

float sine_of_turn(float turn) {
    const float x = turn - std::floor(turn + 0.5f);  // -0.5 … 0.5
    const float parabola = 8.0f * x - 16.0f * x * std::fabs(x);
    return parabola * (0.775f + 0.225f * std::fabs(parabola));
}

std::size_t synthesise(sound_kind kind, std::uint64_t seed, std::span<float> room) {
    const noise source(seed * sound_kinds + static_cast<std::uint64_t>(kind) + 1);
    std::span<float> sound;
    switch (kind) {
        case sound_kind::footstep:
            sound = footstep(room, source);
            break;
        case sound_kind::whoosh:
            sound = whoosh(room, source);
            break;
        case sound_kind::hit:
            sound = hit(room, source);
            break;
        case sound_kind::chime:
            sound = chime(room);
            break;
    }
    soften_ends(sound);
    for (float& sample : sound) sample = std::clamp(sample, -1.0f, 1.0f);
    return sound.size();
}

}  // namespace arena
