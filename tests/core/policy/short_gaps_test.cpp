// After short gaps a thread looks for longer, and after a long one as without the policy.
#include "core/run/policy/short_gaps.hpp"

#include "braid/braid.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <atomic>
#include <thread>

namespace {

using braid::detail::gap_estimate;
constexpr std::int64_t least = 25'000, second = 1'000'000'000;

TEST(ShortGaps, AThreadThatKnowsOfNoneLooksAsWithoutThePolicy) {
    EXPECT_EQ(gap_estimate{}.search_time(least), least);
}

TEST(ShortGaps, AThreadLooksForTwiceAsLongAsTheLastOnesWere) {
    gap_estimate gaps;
    for (int i = 0; i < 50; ++i) gaps.note(100'000);
    EXPECT_NEAR(static_cast<double>(gaps.search_time(least)), 200'000.0, 1'000.0);
}

TEST(ShortGaps, NoShorterThanWithoutThePolicy) {
    gap_estimate gaps;
    for (int i = 0; i < 50; ++i) gaps.note(100);
    EXPECT_EQ(gaps.search_time(least), least);
}

TEST(ShortGaps, AfterOneLongGapItSleepsAsSoonAsWithoutThePolicy) {
    gap_estimate gaps;
    for (int i = 0; i < 50; ++i) gaps.note(100'000);
    gaps.note(second);
    EXPECT_EQ(gaps.search_time(least), least);
}

TEST(ShortGaps, GapsTooLongToBeLookedThroughAreSleptThrough) {
    gap_estimate gaps;
    for (int i = 0; i < 50; ++i) gaps.note(gap_estimate::longest + 5'000);
    EXPECT_EQ(gaps.search_time(least), least);
}

TEST(ShortGaps, NoGapOfAnyLengthMakesItLookForMoreThanTwiceTheLongest) {
    gap_estimate gaps;
    for (const std::int64_t gap :
         {std::int64_t{0}, INT64_MAX, INT64_MIN, std::int64_t{1}, gap_estimate::longest}) {
        for (int i = 0; i < 20; ++i) {
            gaps.note(gap);
            EXPECT_GE(gaps.search_time(least), least);
            EXPECT_LE(gaps.search_time(least), 2 * gap_estimate::longest);
        }
    }
}

TEST(ShortGaps, AWorkerStaysAwakeWhileTasksComeEach100MicrosecondsAndSleepsAfterThat) {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
    const braid_test::deadline deadline;
    braid::scheduler s({.workers = 1});
    std::atomic<unsigned> worker{0};
    std::atomic<int> ran{0};
    s.post([&] {
        worker = s.this_thread().seat;
        ++ran;
    });
    braid_test::until([&] { return ran == 1; });
    const auto parks = [&] { return s.statistics(worker).parks; };
    const auto comes_without_sleep = [&] {
        const std::uint64_t before = parks();
        const std::int64_t at = braid::active_policy::now() + 100'000;
        while (braid::active_policy::now() < at) {
        }
        const int wanted = ran + 1;
        s.post([&] { ++ran; });
        braid_test::until([&] { return ran == wanted; });
        return parks() == before;
    };
    // A thread that stands still meanwhile ends a row; without the policy each gap does.
    constexpr int wanted = 20, most = 20'000;
    int in_a_row = 0;
    for (int i = 0; i < most && in_a_row != wanted; ++i) {
        in_a_row = comes_without_sleep() ? in_a_row + 1 : 0;
    }
    EXPECT_EQ(in_a_row, wanted);
    const std::uint64_t awake = parks();
    braid_test::until([&] { return parks() > awake; });
}

}  // namespace
