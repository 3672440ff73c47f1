// Files are read by two threads at a time, each once, whatever one of them throws.
#include "reload/plan/two_threads.hpp"

#include "scheduler_test.hpp"

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace braid_test {
namespace {

using braid::reload::detail::on_two_threads;
using braid::reload::detail::stay_on_one_thread;

TEST(TwoThreads, MakeEachCallOnce) {
    const deadline limit;
    for (const std::size_t count : {0U, 1U, 2U, 3U, 100U}) {
        std::vector<std::atomic<int>> calls(count);
        on_two_threads(count, [&](std::size_t i) { ++calls.at(i); });
        for (const auto& one : calls) EXPECT_EQ(one, 1);
    }
}

void work_for(std::chrono::microseconds time) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < until) {
    }
}

TEST(TwoThreads, CallAtTheSameTimeAndHaveBothEndedAfterwards) {
    const deadline limit;
    const std::thread::id caller = std::this_thread::get_id();
    std::latch both(2);
    std::atomic<int> ended{0};
    on_two_threads(2, [&](std::size_t) {
        both.arrive_and_wait();
        if (std::this_thread::get_id() != caller) work_for(std::chrono::milliseconds(5));
        ++ended;
    });
    EXPECT_EQ(ended, 2);
}

TEST(TwoThreads, ASingleCallIsMadeByTheCaller) {
    const deadline limit;
    std::thread::id called;
    on_two_threads(1, [&](std::size_t) { called = std::this_thread::get_id(); });
    EXPECT_EQ(called, std::this_thread::get_id());
}

TEST(TwoThreads, AChildOfAProgramWithSeveralThreadsStaysOnItsOnlyOne) {
    const deadline limit;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        stay_on_one_thread();
        const std::thread::id caller = std::this_thread::get_id();
        int here = 0;
        on_two_threads(100, [&](std::size_t) { here += std::this_thread::get_id() == caller; });
        _exit(here);
    }
    int state = 0;
    ASSERT_EQ(waitpid(child, &state, 0), child);
    ASSERT_TRUE(WIFEXITED(state));
    EXPECT_EQ(WEXITSTATUS(state), 100);
}

TEST(TwoThreads, WhatEitherThrowsIsThrownWhenBothHaveEnded) {
    const deadline limit;
    for (const bool by_the_caller : {true, false}) {
        const std::thread::id caller = std::this_thread::get_id();
        std::latch both(2);
        std::atomic<int> ended{0};
        const auto call = [&](std::size_t i) {
            if (i > 1) return;
            both.arrive_and_wait();
            if ((std::this_thread::get_id() == caller) == by_the_caller) {
                throw std::runtime_error("unreadable");
            }
            ++ended;
        };
        EXPECT_THROW(on_two_threads(2, call), std::runtime_error);
        EXPECT_EQ(ended, 1);
    }
}

TEST(TwoThreads, AfterAThrowTheOtherLeavesOutTheRest) {
    const deadline limit;
    constexpr int count = 10'000'000;
    std::atomic<bool> throws{false};
    std::atomic<int> calls{0};
    const auto call = [&](std::size_t i) {
        ++calls;
        if (i == 0) {
            throws = true;
            throw std::runtime_error("unreadable");
        }
        while (!throws) std::this_thread::yield();
        work_for(std::chrono::microseconds(10));  // all of them would take 100 seconds
    };
    EXPECT_THROW(on_two_threads(count, call), std::runtime_error);
    EXPECT_LT(calls, count);
}

}  // namespace
}  // namespace braid_test
