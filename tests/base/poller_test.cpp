// The poller: it ends at its moment, when woken and when something arrives, once each; and what the
// system refuses is a sentence.
#include "base/platform/poller.hpp"

#include "base/platform/platform.hpp"
#include "pipe_ends.hpp"
#include "scheduler_test.hpp"

#include <string>
#include <thread>

#if !defined(_WIN32)
#include <sys/resource.h>
#endif

namespace {

using braid::platform::descriptor_events;
using braid::platform::monotonic_ns;
using braid::platform::poller;
using braid_test::pipe_ends;

constexpr std::int64_t ms = 1'000'000;

class Poller : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(tested_.open(), nullptr); }
    unsigned wait(std::int64_t deadline = INT64_MAX) { return tested_.wait(deadline, got_, 8); }

    /// A sleep may end early, with nothing.
    unsigned wait_for_some() {
        unsigned some = 0;
        braid_test::until([&] { return (some = wait()) != 0; });
        return some;
    }

    braid_test::deadline deadline_;
    poller tested_;
    poller::arrival got_[8];
};

TEST_F(Poller, SleepsUntilItsMomentAndNotMuchLess) {
    for (int i = 0; i < 5; ++i) {
        const std::int64_t until = monotonic_ns() + 3 * ms;
        while (monotonic_ns() < until) EXPECT_EQ(wait(until), 0U);
    }
    // One that has passed, however long ago: it only looks.
    for (const std::int64_t past : {monotonic_ns(), std::int64_t{1}, std::int64_t{0}, INT64_MIN}) {
        EXPECT_EQ(wait(past), 0U);
    }
}

TEST_F(Poller, AMomentThatWasGivenUpWakesNobody) {
    const pipe_ends one;
    ASSERT_EQ(tested_.add(one.both[0], {.readable = true}, 1), nullptr);
    bool slept_on = false;
    // The moment may pass before the second sleep begins, so one good round is enough.
    for (int i = 0; i < 100 && !slept_on; ++i) {
        EXPECT_EQ(wait(0), 0U);
        tested_.wake();
        const std::int64_t given_up = monotonic_ns() + 5 * ms;
        EXPECT_EQ(wait(given_up), 0U);  // by wake()
        std::thread writer([&] {
            while (monotonic_ns() < given_up + ms) {
            }
            one.put();
        });
        slept_on = wait() == 1;
        if (!slept_on) wait_for_some();
        writer.join();
        EXPECT_TRUE(one.take());
        ASSERT_EQ(tested_.arm_again(one.both[0], {.readable = true}, 1), nullptr);
    }
    EXPECT_TRUE(slept_on);
}

TEST_F(Poller, AWakeThatCameFirstIsKept) {
    tested_.wake();
    tested_.wake();
    EXPECT_EQ(wait(), 0U);
    const std::int64_t until = monotonic_ns() + 2 * ms;
    while (monotonic_ns() < until) EXPECT_EQ(wait(until), 0U);
}

TEST_F(Poller, IsWokenByAnotherThread) {
    for (int i = 0; i < 100; ++i) {
        std::thread waker([this] { tested_.wake(); });
        EXPECT_EQ(wait(), 0U);
        waker.join();
    }
}

TEST_F(Poller, AnArrivalComesOnceUntilItIsArmedAgain) {
    const pipe_ends one;
    ASSERT_EQ(tested_.add(one.both[0], {.readable = true}, 7), nullptr);
    EXPECT_EQ(wait(0), 0U);
    one.put();
    one.put();
    ASSERT_EQ(wait_for_some(), 1U);
    EXPECT_EQ(got_[0].tag, 7U);
    EXPECT_TRUE(got_[0].events.readable);
    EXPECT_FALSE(got_[0].events.hung_up);
    EXPECT_EQ(wait(0), 0U);
    // More is there, so arming it again is enough.
    ASSERT_EQ(tested_.arm_again(one.both[0], {.readable = true}, 8), nullptr);
    ASSERT_EQ(wait_for_some(), 1U);
    EXPECT_EQ(got_[0].tag, 8U);
    tested_.remove(one.both[0]);
    EXPECT_STREQ(tested_.arm_again(one.both[0], {.readable = true}, 8), "the descriptor is closed");
}

TEST_F(Poller, SaysThatTheOtherSideIsGone) {
    pipe_ends one, other;
    ASSERT_EQ(tested_.add(one.both[0], {.readable = true}, 1), nullptr);
    EXPECT_EQ(wait(0), 0U);
    one.close_end(1);
    ASSERT_EQ(wait_for_some(), 1U);
    EXPECT_TRUE(got_[0].events.hung_up);
    ASSERT_EQ(tested_.add(other.both[1], {.writable = true}, 2), nullptr);
    ASSERT_EQ(wait_for_some(), 1U);
    EXPECT_TRUE(got_[0].events.writable);
    EXPECT_FALSE(got_[0].events.readable);
}

TEST_F(Poller, NoDescriptorStarvesWhereMoreAreReadyThanThereIsRoomFor) {
    const pipe_ends ends[3];
    for (std::uint64_t tag = 0; tag < 3; ++tag) {
        ASSERT_EQ(tested_.add(ends[tag].both[0], {.readable = true}, tag), nullptr);
        ends[tag].put();
    }
    unsigned times[3] = {};
    for (int i = 0; i < 30; ++i) {
        poller::arrival one[1];
        braid_test::until([&] { return tested_.wait(INT64_MAX, one, 1) == 1; });
        const std::uint64_t tag = one[0].tag;
        ASSERT_LT(tag, 3U);
        ++times[tag];
        ASSERT_EQ(tested_.arm_again(ends[tag].both[0], {.readable = true}, tag), nullptr);
    }
    for (const unsigned each : times) EXPECT_EQ(each, 10U);
}

#if !defined(_WIN32)

TEST_F(Poller, WhatCannotBeWaitedForIsASentence) {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    const auto refused = [&](int descriptor) {
        const char* const why = tested_.add(descriptor, {.readable = true}, 1);
        return std::string(why != nullptr ? why : "");
    };
    EXPECT_NE(refused(file).find("regular file"), std::string::npos) << refused(file);
    close(file);
    EXPECT_EQ(refused(file), "the descriptor is closed");
    EXPECT_EQ(refused(-1), "the descriptor is closed");
    const pipe_ends one;
    EXPECT_EQ(refused(one.both[0]), "");
    EXPECT_NE(refused(one.both[0]).find("already"), std::string::npos);
}

TEST_F(Poller, IsRefusedWithASentenceWhereNoDescriptorIsLeft) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const int next = dup(0);  // the lowest that is free
    close(next);
    for (int granted = 0; granted < 4; ++granted) {
        rlimit few = before;
        few.rlim_cur = static_cast<rlim_t>(next + granted);
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        poller one;
        const char* const why = one.open();
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (granted == 3) {
            EXPECT_EQ(why, nullptr);
            continue;
        }
        ASSERT_NE(why, nullptr);
        EXPECT_NE(std::string(why).find("descriptor"), std::string::npos);
        EXPECT_EQ(dup(0), next) << "descriptors were left open";
        close(next);
    }
}

#endif

}  // namespace
