// C4: many bodies in one submission.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>
#include <memory>

namespace {

BRAID_SCHEDULER_TEST(Batch);

TEST_P(Batch, RunsEveryIndexExactlyOnce) {
    braid::scheduler s(options());
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{5000}}) {
        std::vector<std::atomic<int>> runs(count);
        s.wait(s.spawn_batch({}, count, [&runs](std::size_t i) { ++runs[i]; }));
        EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& n) { return n == 1; }));
    }
}

TEST_P(Batch, OfNothingIsDoneAndReleasesItsSuccessors) {
    // L3: an empty batch slept for ever.
    braid::scheduler s(options());
    const auto none = s.spawn_batch({}, 0, [](std::size_t) { FAIL(); });
    bool after = false;
    s.wait(s.spawn({.after = {none}}, [&after] { after = true; }));
    EXPECT_TRUE(after);
}

TEST_P(Batch, BeyondTheRingLosesNothing) {
    // L6, L8: caps that nobody checked.
    braid::scheduler_options o = options();
    o.ring = 4;
    braid::scheduler s(o);
    std::atomic<int> ran{0};
    s.wait(s.spawn_batch({}, 1000, [&ran](std::size_t) { ++ran; }));
    EXPECT_EQ(ran, 1000);
    s.shut_down();
    expect_all_ended(s);
}

TEST_P(Batch, TheCallableIsCopiedOnceAndDestroyedBeforeCompletionIsVisible) {
    braid::scheduler s(options());
    for (int round = 0; round < 20; ++round) {
        auto owned = std::make_shared<int>(0);
        const std::weak_ptr<int> seen = owned;
        std::atomic<long> most{0};
        s.wait(s.spawn_batch({}, 100, [owned = std::move(owned), &most](std::size_t) {
            if (owned.use_count() > most) most = owned.use_count();
        }));
        ASSERT_TRUE(seen.expired());
        ASSERT_EQ(most, 1);
    }
}

TEST_P(Batch, CostsOneWakeDecision) {
    // L10: one wake for each entry. The members are pushed while all workers sleep.
    if (GetParam() == 0) GTEST_SKIP() << "nobody to wake";
    braid::scheduler_options o = options();
    o.idle = braid::parking::power;
    braid::scheduler s(o);
    const std::uint64_t before = s.statistics().wakes;
    std::atomic<int> ran{0};
    s.wait(s.spawn_batch({}, 1000, [&ran](std::size_t) { ++ran; }));
    EXPECT_EQ(ran, 1000);
    // The batch itself, its members, and one for each thread that finds more than it takes.
    EXPECT_LE(s.statistics().wakes - before, 8 + 4 * static_cast<std::uint64_t>(GetParam()));
}

TEST_P(Batch, RethrowsTheFailureOfTheLowestIndexAndReportsTheOthers) {
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    struct seventh : std::exception {};  // told apart by type, see failure_test.cpp
    struct later : std::exception {};
    const auto batch = s.spawn_batch({.after = {gate.id()}}, 100, [](std::size_t i) {
        if (i == 7) throw seventh{};
        if (i % 10 == 7) throw later{};
    });
    bool was_there = false;
    std::thread opener([&] { gate.finish(); });
    try {
        s.wait(batch);
    } catch (const seventh&) {
        was_there = true;
    }
    opener.join();
    s.shut_down();
    // A wait that begins after the batch is over only hears "done"; the handler has all ten then.
    EXPECT_EQ(notes_.lost.size(), was_there ? 9U : 10U);
}

TEST_P(Batch, AThrowingMemberDoesNotStopItsSiblings) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    const auto batch = s.spawn_batch({}, 50, [&ran](std::size_t i) {
        ++ran;
        if (i == 0) throw std::runtime_error("planned");
    });
    try {
        s.wait(batch);
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(ran, 50);
}

TEST_P(Batch, OfABatchOfABatchCompletesFromTheInside) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    s.wait(s.spawn_batch({}, 8, [&](std::size_t) {
        s.wait(s.spawn_batch({}, 8, [&](std::size_t) {
            s.wait(s.spawn_batch({}, 8, [&ran](std::size_t) { ++ran; }));
        }));
    }));
    EXPECT_EQ(ran, 512);
}

}  // namespace
