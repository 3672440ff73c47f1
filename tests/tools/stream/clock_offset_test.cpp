// Another clock is found, whatever the connection does to the answers.
#include "profile/stream/clock_offset.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace {

using braid::profile::clock_offset;

TEST(ClockOffset, KnowsNothingBeforeTheFirstAnswer) { EXPECT_FALSE(clock_offset().best()); }

TEST(ClockOffset, IsOffByHalfTheQuickestRoundTripAtMost) {
    std::mt19937_64 random(7);
    for (const std::int64_t skew : {std::int64_t{-5'000'000'000}, std::int64_t{0},
                                    std::int64_t{123'456'789}, std::int64_t{86'400'000'000'000}}) {
        clock_offset offset(16);
        // Most answers are late by up to 20 ms on either way, a few by less than 50 µs.
        std::int64_t now = 1'000'000'000;
        for (int i = 0; i < 200; ++i) {
            const std::int64_t most = i % 8 == 0 ? 50'000 : 20'000'000;
            std::uniform_int_distribution<std::int64_t> late(1'000, most);
            const std::int64_t there = late(random), back = late(random);
            offset.add(now, now + there + skew, now + there + back);
            now += 50'000'000;
            const auto best = offset.best();
            ASSERT_TRUE(best);
            EXPECT_LE(std::abs(best->ahead - skew), best->round_trip / 2 + 1);
            EXPECT_LE(best->round_trip, 100'000);
            EXPECT_LE(std::abs(best->ahead - skew), 50'000);
        }
    }
}

TEST(ClockOffset, FollowsAClockThatDrifts) {
    clock_offset offset(16);
    // 50 µs a second; old answers that were quicker must not hold it back.
    std::int64_t skew = 0;
    offset.add(0, 0, 10);
    for (std::int64_t second = 1; second < 100; ++second) {
        const std::int64_t asked = second * 1'000'000'000;
        skew += 50'000;
        offset.add(asked, asked + 100'000 + skew, asked + 200'000);
    }
    ASSERT_TRUE(offset.best());
    EXPECT_LE(std::abs(offset.best()->ahead - skew), 16 * 50'000);
}

TEST(ClockOffset, LeavesOutAnswersFromBeforeTheQuestion) {
    clock_offset offset;
    offset.add(100, 5'000, 50);
    EXPECT_FALSE(offset.best());
}

}  // namespace
