// What the platform's functions do on Windows beyond what their callers' tests show. Other systems
// compile nothing of it.
#if defined(_WIN32)
#include "base/platform/files.hpp"
#include "base/platform/pages_twice.hpp"
#include "base/platform/platform.hpp"
#include "base/platform/poller.hpp"
#include "base/platform/thread_end.hpp"
#include "pipe_ends.hpp"

#include <windows.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace platform = braid::platform;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t far_away = 600'000 * ms;

/// By how many ns sleeps ended after their deadline, in order.
template <class Sleep>
std::vector<std::int64_t> lateness(Sleep&& sleep_until) {
    std::vector<std::int64_t> late;
    for (int i = 0; i < 60; ++i) {
        const std::int64_t deadline = platform::monotonic_ns() + ms + i * 50'000;
        sleep_until(deadline);
        late.push_back(platform::monotonic_ns() - deadline);
    }
    std::sort(late.begin(), late.end());
    return late;
}

TEST(Windows, ASleepWithADeadlineEndsLessThanAMillisecondAfterItAndNotBefore) {
    const std::uint32_t word = 0;
    const auto late =
        lateness([&](std::int64_t deadline) { platform::futex_wait(&word, 0, deadline); });
    // The system's own sleeps end with a tick of up to 15.6 ms. A few threads may be preempted.
    EXPECT_LT(late[late.size() / 2], ms);
    EXPECT_GE(late.front(), 0);
}

TEST(Windows, APollersSleepEndsLessThanAMillisecondAfterItsDeadline) {
    platform::poller p;
    ASSERT_EQ(p.open(), nullptr);
    const auto late =
        lateness([&](std::int64_t deadline) { EXPECT_EQ(p.wait(deadline, nullptr, 0), 0U); });
    EXPECT_LT(late[late.size() / 2], ms);
    EXPECT_GE(late.front(), 0);
}

TEST(Windows, AWakeEndsTheSleepOfAPollerAlsoOneThatComesFirst) {
    platform::poller p;
    ASSERT_EQ(p.open(), nullptr);
    p.wake();
    p.wait(platform::monotonic_ns() + far_away, nullptr, 0);
    p.wake();
    p.wait(INT64_MAX, nullptr, 0);
}

TEST(Windows, APollerThatWatchesSocketsIsAsExactAndWokenAsSurely) {
    platform::poller p;
    ASSERT_EQ(p.open(), nullptr);
    const braid_test::pipe_ends silent;
    p.wake();  // before it knows of sockets
    ASSERT_EQ(p.add(silent.both[0], {.readable = true}, 1), nullptr);
    p.wait(INT64_MAX, nullptr, 0);
    p.wake();
    p.wait(platform::monotonic_ns() + far_away, nullptr, 0);
    const auto sleeps = [&](std::int64_t deadline) {
        while (platform::monotonic_ns() < deadline) p.wait(deadline, nullptr, 0);
    };
    // One good round is enough: a thread of the system's stands between timer and sleep.
    bool is_exact = false;
    for (int round = 0; round < 20 && !is_exact; ++round) {
        const auto late = lateness(sleeps);
        is_exact = late[late.size() / 2] < ms;
    }
    EXPECT_TRUE(is_exact);
}

TEST(Windows, ASleepOfAPollerEndsWhenItsFirstSocketIsAdded) {
    platform::poller p;
    ASSERT_EQ(p.open(), nullptr);
    const braid_test::pipe_ends ends;
    ends.put();
    std::thread other([&] { EXPECT_EQ(p.add(ends.both[0], {.readable = true}, 5), nullptr); });
    platform::poller::arrival got[1];
    unsigned arrived = 0;
    while (arrived == 0) arrived = p.wait(INT64_MAX, got, 1);
    other.join();
    EXPECT_EQ(got[0].tag, 5U);
}

TEST(Windows, WhatAPollerCannotWaitForIsASentence) {
    platform::poller p;
    ASSERT_EQ(p.open(), nullptr);
    const auto refused = [&](int descriptor) {
        const char* const why = p.add(descriptor, {.readable = true}, 1);
        return std::string(why != nullptr ? why : "");
    };
    EXPECT_NE(refused(-1).find("it is no socket"), std::string::npos);
    const HANDLE event = CreateEventW(nullptr, FALSE, FALSE, nullptr);
    const auto number = static_cast<int>(reinterpret_cast<std::intptr_t>(event));
    EXPECT_NE(refused(number).find("it is no socket"), std::string::npos);
    CloseHandle(event);
    braid_test::pipe_ends ends;
    EXPECT_EQ(refused(ends.both[0]), "");
    EXPECT_NE(refused(ends.both[0]).find("already"), std::string::npos);
    p.remove(ends.both[0]);
    EXPECT_EQ(refused(ends.both[0]), "");
    const int closed = ends.both[0];
    ends.close_end(0);
    EXPECT_STREQ(p.arm_again(closed, {.readable = true}, 1), "the descriptor is closed");
}

TEST(Windows, AWakeEndsSleepsWithAndWithoutADeadline) {
    for (const bool has_deadline : {false, true}) {
        std::atomic<std::uint32_t> ball{0};
        // Each throws to the other, who sleeps until it comes.
        const auto play = [&](std::uint32_t own) {
            for (std::uint32_t i = 0; i < 2'000; ++i) {
                while (ball.load() % 2 != own) {
                    const std::uint32_t seen = ball.load();
                    if (seen % 2 == own) break;
                    platform::futex_wait(
                        &ball, seen,
                        has_deadline ? platform::monotonic_ns() + far_away : INT64_MAX);
                }
                ball.fetch_add(1);
                platform::futex_wake_one(&ball);
            }
        };
        std::thread other([&] { play(1); });
        play(0);
        other.join();
        EXPECT_EQ(ball.load(), 4'000U);
    }
}

TEST(Windows, TheEndOfAFiberIsNotTheEndOfItsThread) {
    std::atomic<int> runs{0};
    platform::thread_end_step step{
        .run = [](void* data) noexcept { ++*static_cast<std::atomic<int>*>(data); }, .data = &runs};
    struct both {
        platform::thread_end_step& step;
        void* thread;
        bool given;
    };
    int after_fiber = -1;
    std::thread([&] {
        both b{step, ConvertThreadToFiber(nullptr), false};
        const auto body = [](void* argument) {
            auto& to = *static_cast<both*>(argument);
            to.given = platform::at_thread_end(to.step);
            SwitchToFiber(to.thread);
        };
        void* const fiber = CreateFiber(0, body, &b);
        SwitchToFiber(fiber);
        DeleteFiber(fiber);
        EXPECT_TRUE(b.given);
        after_fiber = runs;
        ConvertFiberToThread();
    }).join();
    EXPECT_EQ(after_fiber, 0);
    EXPECT_EQ(runs, 1);
}

TEST(Windows, ASleepWhoseWordHasChangedDoesNotBegin) {
    const std::uint32_t word = 1;
    platform::futex_wait(&word, 0, INT64_MAX);
    platform::futex_wait(&word, 0, platform::monotonic_ns() + far_away);
}

TEST(Windows, TheCoarseClockDoesNotStepByTheSystemsTick) {
    std::set<std::int64_t> seen;
    const std::int64_t end = platform::monotonic_ns() + 20 * ms;
    while (platform::monotonic_ns() < end) seen.insert(platform::coarse_monotonic_ns());
    EXPECT_GE(seen.size(), 10U);
}

TEST(Windows, AThreadHasItsNameStackAndTime) {
    struct result {
        char name[32];
        bool own_stack;
        std::size_t stack;
        std::atomic<int> clock{0};
        std::atomic<bool> may_end{false};
    } r{};
    platform::thread_request request;
    request.name = "a name of more than 15";
    request.stack_bytes = 4 << 20;
    request.scheduling = platform::thread_class::idle;
    request.pin_to_cpu = 0;
    request.argument = &r;
    request.entry = [](void* argument) {
        auto& to = *static_cast<result*>(argument);
        platform::thread_name(to.name, sizeof to.name);
        const platform::stack_bounds bounds = platform::current_stack();
        const auto here = reinterpret_cast<std::uintptr_t>(&bounds);
        to.own_stack = bounds.low < here && here < bounds.high;
        to.stack = bounds.high - bounds.low;
        to.clock = platform::this_thread_time_clock();
        while (!to.may_end) platform::cpu_relax();
    };
    const platform::thread_handle thread = platform::start_thread(request);
    ASSERT_NE(thread, 0U);
    EXPECT_FALSE(platform::is_current(thread));
    while (r.clock == 0) std::this_thread::yield();
    EXPECT_GE(platform::thread_time(r.clock), 0);
    r.may_end = true;
    platform::join_thread(thread);
    EXPECT_STREQ(r.name, "a name of more than 15");
    EXPECT_TRUE(r.own_stack);
    EXPECT_GE(r.stack, 4U << 20);
    EXPECT_LT(r.stack, 8U << 20);
    EXPECT_LT(platform::thread_time(r.clock), 0);
}

TEST(Windows, CoresAreThoseOfTheThread) {
    const platform::core_set own = platform::own_cores();
    ASSERT_FALSE(own.empty());
    EXPECT_FALSE(platform::set_cores(0, {}));
    EXPECT_TRUE(platform::set_cores(0, own));
    const std::uint32_t core = platform::current_core();
    EXPECT_NE(own.words[core / 64] >> core % 64 & 1, 0U);
    EXPECT_GE(platform::usable_cores(), 1U);
    EXPECT_LE(platform::usable_cores(), platform::mask_cores());
}

char* open_page = nullptr;

TEST(Windows, AnAccessToAClosedPageIsAskedAbout) {
    const std::size_t page = platform::page_bytes();
    open_page = static_cast<char*>(platform::map_guarded(page));
    ASSERT_NE(open_page, nullptr);
    platform::protect(open_page, page, platform::access::read);
    static std::atomic<int> asked{0};
    platform::watch_access([](const platform::access_fault& what) {
        if (what.address != reinterpret_cast<std::uintptr_t>(open_page) + 3) return false;
        if (!what.writes || !what.is_closed) return false;
        ++asked;
        platform::protect(open_page, platform::page_bytes(), platform::access::all);
        return true;
    });
    open_page[3] = 'x';
    EXPECT_EQ(open_page[3], 'x');
    EXPECT_EQ(asked, 1);
    platform::watch_access(nullptr);
    platform::unmap_guarded(open_page, page);
}

TEST(Windows, PagesTwiceAreTheSamePages) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{300'000}}) {
        const platform::pages_twice pages = platform::map_twice(bytes);
        ASSERT_NE(pages.first, nullptr);
        ASSERT_NE(pages.first, pages.second);
        static_cast<char*>(pages.first)[bytes - 1] = 'b';
        EXPECT_EQ(static_cast<char*>(pages.second)[bytes - 1], 'b');
        platform::unmap_twice(pages, bytes);
    }
    EXPECT_EQ(platform::map_twice(SIZE_MAX - 1).first, nullptr);
    EXPECT_EQ(platform::map_guarded(SIZE_MAX - 1), nullptr);
}

TEST(Windows, AProgramGetsItsArgumentsAndSaysItsFirstLine) {
    char said[64];
    const char* const exits[] = {"cmd", "/c", "exit 3", nullptr};
    EXPECT_EQ(platform::run_program(exits, "", 0, said, sizeof said), 3);
    const char* const unknown[] = {"no such program", nullptr};
    EXPECT_EQ(platform::run_program(unknown, "", 0, said, sizeof said), -1);
    const std::string endless(10'000, 'a');
    const char* const too_long[] = {"cmd", endless.c_str(), nullptr};
    EXPECT_EQ(platform::run_program(too_long, "", 0, said, sizeof said), -1);
}

TEST(Windows, FilesAreReadInPiecesAndErrorsAreThoseOfTheStandardLibrary) {
    const char* const name = "platform_windows_test.txt";
    std::ofstream(name) << "0123456789";
    EXPECT_EQ(platform::open_to_read("no such file", false), -ENOENT);
    EXPECT_EQ(platform::open_to_read(".", false), -EISDIR);
    EXPECT_LT(platform::open_to_read("\xff", false), 0);
    EXPECT_EQ(platform::open_to_read(std::string(40'000, 'a').c_str(), false), -ENAMETOOLONG);
    const int file = platform::open_to_read(name, false);
    ASSERT_GE(file, 0);
    EXPECT_EQ(platform::size_of_file(file), 10);
    char first[4] = {};
    char second[8] = {};
    const platform::file_piece pieces[] = {{first, 3}, {second, 8}};
    EXPECT_EQ(platform::read_pieces(file, pieces, 2, 1), 9);
    EXPECT_EQ(std::string(first, 3), "123");
    EXPECT_EQ(std::string(second, 6), "456789");
    EXPECT_EQ(platform::read_pieces(file, pieces, 2, 10), 0);
    platform::close_file(file);
    std::remove(name);
    char words[64];
    platform::words_of_error(ENOENT, words, sizeof words);
    EXPECT_STRNE(words, "");
}

TEST(Windows, AStackIsWalkedFromItsInnermostFrame) {
    std::vector<std::uintptr_t> frames;
    platform::walk_stack(
        [](void* to, std::uintptr_t address) {
            auto& list = *static_cast<std::vector<std::uintptr_t>*>(to);
            list.push_back(address);
            return list.size() < 3;
        },
        &frames);
    EXPECT_EQ(frames.size(), 3U);
}

}  // namespace
#endif
