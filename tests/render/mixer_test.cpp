// The mixer: what goes in comes out, the same in any order of parts, and never too loud.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "host/wav.hpp"
#include "scratch_folder.hpp"
#include "sound/mixer.hpp"

namespace {

using arena::sound_kind;
using arena::sound_trigger;

void mix(arena::mixer& mixer, std::span<const sound_trigger> triggers) {
    mixer.begin_frame(triggers);
    for (std::uint32_t part = 0; part < mixer.parts(); ++part) mixer.run(part);
    mixer.finish_frame();
}

std::vector<sound_trigger> random_triggers(std::mt19937& random, std::uint32_t count) {
    std::uniform_real_distribution<float> unit(0.0f, 1.0f);
    std::vector<sound_trigger> triggers;
    for (std::uint32_t i = 0; i < count; ++i) {
        const float gain = unit(random), pan = unit(random) * 2.0f - 1.0f;
        const float pitch = 0.5f + unit(random);
        triggers.push_back({static_cast<sound_kind>(random() % arena::sound_kinds), gain, pan,
                            pitch,
                            static_cast<std::uint32_t>(random() % arena::samples_per_frame)});
    }
    return triggers;
}

int loudest(std::span<const std::int16_t> samples) {
    int peak = 0;
    for (const std::int16_t sample : samples) peak = std::max(peak, std::abs(int{sample}));
    return peak;
}

TEST(Mixer, SilenceStaysSilent) {
    arena::mixer mixer({.ambience = false});
    for (int frame = 0; frame < 3; ++frame) {
        mix(mixer, {});
        EXPECT_EQ(loudest(mixer.samples()), 0);
    }
    EXPECT_EQ(mixer.active_voices(), 0u);
}

TEST(Mixer, EverySoundIsHeardAndEnds) {
    for (std::uint32_t kind = 0; kind < arena::sound_kinds; ++kind) {
        arena::mixer mixer({.ambience = false});
        const sound_trigger trigger{static_cast<sound_kind>(kind), 1.0f, 0.0f, 1.0f, 0};
        mix(mixer, {&trigger, 1});
        int peak = loudest(mixer.samples());
        for (int frame = 0; frame < 120; ++frame) {
            mix(mixer, {});
            peak = std::max(peak, loudest(mixer.samples()));
        }
        EXPECT_GT(peak, 3000) << kind;
        EXPECT_EQ(loudest(mixer.samples()), 0) << kind;
        EXPECT_EQ(mixer.active_voices(), 0u) << kind;
    }
}

TEST(Mixer, StartsAtItsSample) {
    arena::mixer mixer({.ambience = false});
    const sound_trigger trigger{sound_kind::hit, 1.0f, 0.0f, 1.0f, 500};
    mix(mixer, {&trigger, 1});
    EXPECT_EQ(loudest(mixer.samples().first(1000)), 0);
    EXPECT_GT(loudest(mixer.samples().subspan(1000)), 0);
}

TEST(Mixer, PanMovesBetweenTheSides) {
    const auto sides = [](float pan) {
        arena::mixer mixer({.ambience = false});
        const sound_trigger trigger{sound_kind::hit, 0.5f, pan, 1.0f, 0};
        mix(mixer, {&trigger, 1});
        std::int64_t left = 0, right = 0;
        for (std::size_t i = 0; i < mixer.samples().size(); i += 2) {
            left += std::abs(int{mixer.samples()[i]});
            right += std::abs(int{mixer.samples()[i + 1]});
        }
        return std::pair{left, right};
    };
    EXPECT_EQ(sides(-1.0f).second, 0);
    EXPECT_EQ(sides(1.0f).first, 0);
    EXPECT_EQ(sides(0.0f).first, sides(0.0f).second);
    EXPECT_GT(sides(-0.5f).first, sides(-0.5f).second);
}

TEST(Mixer, HigherPitchEndsSooner) {
    const auto frames_until_silent = [](float pitch) {
        arena::mixer mixer({.ambience = false});
        const sound_trigger trigger{sound_kind::chime, 1.0f, 0.0f, pitch, 0};
        mix(mixer, {&trigger, 1});
        int frames = 1;
        for (; mixer.active_voices() != 0; ++frames) mix(mixer, {});
        return frames;
    };
    EXPECT_NEAR(frames_until_silent(0.5f), frames_until_silent(1.0f) * 2, 2);
    EXPECT_NEAR(frames_until_silent(2.0f), frames_until_silent(1.0f) / 2, 2);
}

TEST(Mixer, PartsInAnyOrderGiveTheSameSamples) {
    arena::mixer in_order, shuffled;
    std::mt19937 random(3);
    std::vector<std::uint32_t> order(in_order.parts());
    std::iota(order.begin(), order.end(), 0u);
    for (int frame = 0; frame < 40; ++frame) {
        const std::vector<sound_trigger> triggers = random_triggers(random, 12);
        mix(in_order, triggers);
        std::shuffle(order.begin(), order.end(), random);
        shuffled.begin_frame(triggers);
        for (const std::uint32_t part : order) shuffled.run(part);
        shuffled.finish_frame();
        ASSERT_TRUE(std::ranges::equal(in_order.samples(), shuffled.samples())) << frame;
    }
    EXPECT_EQ(in_order.hash(), shuffled.hash());
}

TEST(Mixer, HashKnowsTheTriggersAndTheSeed) {
    const auto hash_of = [](std::uint64_t seed, float gain) {
        arena::mixer mixer({.seed = seed});
        const sound_trigger trigger{sound_kind::whoosh, gain, 0.0f, 1.0f, 0};
        mix(mixer, {&trigger, 1});
        return mixer.hash();
    };
    EXPECT_EQ(hash_of(1, 0.5f), hash_of(1, 0.5f));
    EXPECT_NE(hash_of(1, 0.5f), hash_of(1, 0.6f));
    EXPECT_NE(hash_of(1, 0.5f), hash_of(2, 0.5f));
}

TEST(Mixer, LimiterKeepsTheWaveInsideAndMonotone) {
    arena::mixer mixer;
    const std::vector<sound_trigger> all(arena::mixer::max_voices,
                                         {sound_kind::hit, 1.0f, 0.0f, 1.0f, 0});
    int peak = 0;
    for (int frame = 0; frame < 30; ++frame) {
        mix(mixer, frame == 0 ? std::span(all) : std::span<const sound_trigger>());
        peak = std::max(peak, loudest(mixer.samples()));
    }
    // 64 equal hits sum to many times full scale: bent close to it, neither wrapped nor cut.
    EXPECT_GT(peak, 32000);
    EXPECT_LT(peak, 32767);
}

TEST(Mixer, FullMixerPrefersWhatIsLouder) {
    arena::mixer mixer({.ambience = false});
    const std::vector<sound_trigger> quiet(arena::mixer::max_voices,
                                           {sound_kind::chime, 0.1f, 0.0f, 1.0f, 0});
    mix(mixer, quiet);
    EXPECT_EQ(mixer.active_voices(), arena::mixer::max_voices);
    const std::vector<std::int16_t> before(mixer.samples().begin(), mixer.samples().end());
    const sound_trigger quieter{sound_kind::hit, 0.01f, 0.0f, 1.0f, 0};
    const sound_trigger louder{sound_kind::hit, 1.0f, 0.0f, 1.0f, 0};

    arena::mixer with_quieter({.ambience = false}), with_louder({.ambience = false});
    mix(with_quieter, quiet);
    mix(with_louder, quiet);
    mix(mixer, {});
    mix(with_quieter, {&quieter, 1});
    mix(with_louder, {&louder, 1});
    EXPECT_TRUE(std::ranges::equal(mixer.samples(), with_quieter.samples()));
    EXPECT_FALSE(std::ranges::equal(mixer.samples(), with_louder.samples()));
    EXPECT_EQ(with_louder.active_voices(), arena::mixer::max_voices);
}

TEST(Mixer, NonsenseInTriggersIsHarmless) {
    arena::mixer mixer({.ambience = false});
    const float nan = std::nanf("");
    const std::vector<sound_trigger> triggers{{sound_kind::hit, nan, 0.0f, 1.0f, 0},
                                              {sound_kind::hit, 1e30f, nan, nan, 4000000000u},
                                              {sound_kind::hit, -1.0f, 5.0f, -3.0f, 0},
                                              {static_cast<sound_kind>(200), 1.0f, 0.0f, 1.0f, 0},
                                              {sound_kind::hit, 1.0f, 1e30f, 1e30f, 799}};
    for (int frame = 0; frame < 4; ++frame) mix(mixer, triggers);
    EXPECT_LT(loudest(mixer.samples()), 32767);
}

TEST(Wav, HeaderSaysWhatFollows) {
    const std::array<std::uint8_t, 44> header = arena::host::wav_header(1000, 48000);
    const auto text = [&](std::size_t at) {
        return std::string(header.begin() + static_cast<std::ptrdiff_t>(at),
                           header.begin() + static_cast<std::ptrdiff_t>(at + 4));
    };
    const auto number = [&](std::size_t at, std::size_t bytes) {
        std::uint32_t value = 0;
        for (std::size_t i = bytes; i-- != 0;) value = value << 8 | header[at + i];
        return value;
    };
    EXPECT_EQ(text(0), "RIFF");
    EXPECT_EQ(number(4, 4), 36u + 4000u);
    EXPECT_EQ(text(8), "WAVE");
    EXPECT_EQ(text(12), "fmt ");
    EXPECT_EQ(number(16, 4), 16u);
    EXPECT_EQ(number(20, 2), 1u);
    EXPECT_EQ(number(22, 2), 2u);
    EXPECT_EQ(number(24, 4), 48000u);
    EXPECT_EQ(number(28, 4), 192000u);
    EXPECT_EQ(number(32, 2), 4u);
    EXPECT_EQ(number(34, 2), 16u);
    EXPECT_EQ(text(36), "data");
    EXPECT_EQ(number(40, 4), 4000u);
}

TEST(Wav, FileHoldsHeaderAndSamples) {
    const braid_test::scratch_folder folder;
    const std::filesystem::path file = folder / "mixed.wav";
    const std::vector<std::int16_t> samples{1, -2, 32767, -32768};
    ASSERT_TRUE(arena::host::write_wav(file, samples, 48000));
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    ASSERT_EQ(bytes.size(), 44u + 8u);
    const unsigned char expected[8] = {1, 0, 0xfe, 0xff, 0xff, 0x7f, 0x00, 0x80};
    for (std::size_t i = 0; i < 8; ++i)
        EXPECT_EQ(static_cast<unsigned char>(bytes[44 + i]), expected[i]) << i;
    EXPECT_FALSE(arena::host::write_wav("/nonexistent/folder/sound.wav", samples, 48000));
}

}  // namespace
