// A1: a coroutine waits for a descriptor without a thread, and how each such wait ends.
#include "co_fixture.hpp"
#include "pipe_ends.hpp"
#include "refusing_memory.hpp"
#include "scale.hpp"
#include "seeded_chooser.hpp"

#include <array>
#include <string>

namespace {

using braid::co;
using braid::completion_error;
using braid::fd_event;
using braid::future;
using braid::milliseconds;
using braid_test::pipe_ends;

class AwaitFd : public braid_test::coroutine_test {
protected:
    /// The observer hears of a suspension before the task is one that waits.
    void until_outside(braid::scheduler& s, std::uint64_t count) const {
        until(s, [&] { return s.statistics().suspended() == count; });
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, AwaitFd, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

constexpr int late = completion_error::deadline_passed;

/// 0: it came. The error's code; -1: cancelled.
co<int> how_it_ends(int descriptor, braid::nanoseconds deadline) {
    try {
        co_await braid::readable(descriptor, deadline);
    } catch (const completion_error& e) {
        co_return braid_test::code_of(e, late);
    } catch (const braid::task_cancelled&) {
        co_return -1;
    }
    co_return 0;
}

TEST_P(AwaitFd, EachByteIsReadByACoroutineThatHadGivenItsThreadBack) {
    braid::scheduler s(options());
    const pipe_ends there, back;
    const auto answers = [](const pipe_ends& in, const pipe_ends& out) -> co<int> {
        for (int i = 0; i < 50; ++i) {
            const fd_event e = co_await braid::readable(in.both[0]);
            EXPECT_TRUE(e.readable && !e.writable && !e.hung_up);
            EXPECT_EQ(e.descriptor, in.both[0]);
            EXPECT_TRUE(in.take());
            EXPECT_FALSE(in.take());
            out.put();
        }
        co_return 50;
    };
    future<int> one = braid::co_spawn(s, {}, answers(there, back));
    for (unsigned i = 1; i <= 50; ++i) {
        until_suspended(s, i);
        there.put();
        until(s, [&] { return back.take(); });
    }
    EXPECT_EQ(one.get(), 50);
    EXPECT_EQ(s.statistics().outside(), 0U);
    expect_all_ended(s);
}

TEST_P(AwaitFd, WhatIsThereAlreadyComes) {
    braid::scheduler s(options());
    const pipe_ends ends;
    ends.put();
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(braid::co_spawn(s, {}, how_it_ends(ends.both[0], braid::no_limit)).get(), 0);
    }
    EXPECT_TRUE(ends.take());
}

TEST_P(AwaitFd, SaysThatTheOtherSideIsGone) {
    braid::scheduler s(options());
    pipe_ends ends;
    const auto waits = [](int in) -> co<bool> { co_return (co_await braid::readable(in)).hung_up; };
    future<bool> gone = braid::co_spawn(s, {}, waits(ends.both[0]));
    until_outside(s, 1);
    ends.close_end(1);
    EXPECT_TRUE(gone.get());
}

TEST_P(AwaitFd, WaitsUntilThereIsRoomToWrite) {
    braid::scheduler s(options());
    const pipe_ends ends;
    ends.fill();
    const auto waits = [](int out) -> co<bool> {
        const fd_event e = co_await braid::writable(out);
        co_return e.writable && !e.readable;
    };
    future<bool> room = braid::co_spawn(s, {}, waits(ends.both[1]));
    until_outside(s, 1);
    EXPECT_FALSE(room.ready());
    // What is on its way comes a little later.
    until(s, [&] {
        ends.drain();
        return room.ready();
    });
    EXPECT_TRUE(room.get());
}

TEST_P(AwaitFd, ManyThatWaitHoldNoThread) {
    constexpr unsigned many = 100;
    braid::scheduler s(options());
    const std::vector<pipe_ends> pipes(many);
    std::vector<future<int>> all;
    for (const pipe_ends& one : pipes) {
        all.push_back(braid::co_spawn(s, {}, how_it_ends(one.both[0], braid::no_limit)));
    }
    until_outside(s, many);
    EXPECT_EQ(s.statistics().outside(), many);
    EXPECT_EQ(s.async({}, [] { return 7; }).get(), 7);
    EXPECT_LT(s.statistics().reserves_started, many / 2);
    for (const pipe_ends& one : pipes) one.put();
    for (future<int>& f : all) EXPECT_EQ(f.get(), 0);
    expect_all_ended(s);
}

// ---- ends without a byte -----------------------------------------------------------------------

TEST_P(AwaitFd, AtItsDeadlineItFailsAndLeavesTheDescriptor) {
    braid::scheduler s(options());
    const pipe_ends ends;
    for (const auto deadline : {milliseconds(2), milliseconds(0), milliseconds(-1)}) {
        EXPECT_EQ(braid::co_spawn(s, {}, how_it_ends(ends.both[0], deadline)).get(), late);
    }
    ends.put();  // nobody waits there any more, or the next wait would be refused
    EXPECT_EQ(braid::co_spawn(s, {}, how_it_ends(ends.both[0], braid::seconds(3600))).get(), 0);
    expect_all_ended(s);
}

TEST_P(AwaitFd, IsCancelledAtOnceWithItsScope) {
    braid::scheduler s(options());
    const pipe_ends ends;
    braid::scope level(s);
    future<int> one =
        braid::co_spawn(s, {.within = &level}, how_it_ends(ends.both[0], braid::no_limit));
    until_outside(s, 1);
    level.cancel();
    EXPECT_EQ(one.get(), -1);
    level.wait();
    ends.put();
    EXPECT_EQ(braid::co_spawn(s, {}, how_it_ends(ends.both[0], braid::no_limit)).get(), 0);
}

TEST_P(AwaitFd, IsCancelledByADiscardingShutdown) {
    const pipe_ends ends;
    braid::scheduler s(options());
    future<int> one = braid::co_spawn(s, {}, how_it_ends(ends.both[0], braid::no_limit));
    until_outside(s, 1);
    s.shut_down(braid::shutdown::discard);
    EXPECT_EQ(one.get(), -1);
    expect_all_ended(s);
}

TEST_P(AwaitFd, GoesOnWhileTheSchedulerDrains) {
    braid::scheduler s(options());
    const pipe_ends first, second;
    const auto reads = [](int one, int other) -> co<int> {
        co_await braid::readable(one);
        co_await braid::readable(other);  // begins while it drains
        co_return 2;
    };
    future<int> both = braid::co_spawn(s, {}, reads(first.both[0], second.both[0]));
    until_outside(s, 1);
    std::thread outside([&] {
        while (s.spawn([] {})) std::this_thread::yield();
        first.put();
        second.put();
    });
    s.shut_down();
    outside.join();
    EXPECT_EQ(both.get(), 2);
}

#if !defined(_WIN32)  // platform_windows_test.cpp

TEST_P(AwaitFd, WhatCannotBeWaitedForIsOneSentence) {
    braid::scheduler s(options());
    const auto refused = [](braid::scheduler& on, int descriptor, const char* sentence) {
        const auto waits = [](int in) -> co<> { co_await braid::readable(in); };
        try {
            braid::co_spawn(on, {}, waits(descriptor)).get();
        } catch (const completion_error& e) {
            return braid_test::says(e, sentence);
        }
        return false;
    };
    const int low = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const int file = fcntl(low, F_DUPFD_CLOEXEC, 900);  // nobody else gets it when it is closed
    close(low);
    EXPECT_TRUE(refused(s, file, "regular file"));
    close(file);
    EXPECT_TRUE(refused(s, file, "the descriptor is closed"));
    EXPECT_TRUE(refused(s, -1, "the descriptor is closed"));
    const pipe_ends ends;
    future<int> first = braid::co_spawn(s, {}, how_it_ends(ends.both[0], braid::no_limit));
    until_outside(s, 1);
    EXPECT_TRUE(refused(s, ends.both[0], "waited for already"));
    ends.put();
    EXPECT_EQ(first.get(), 0);
    expect_all_ended(s);

    braid_test::seeded_chooser chooser(1);
    auto o = options();
    o.chooser = &chooser;
    braid::scheduler chosen(o);
    EXPECT_TRUE(refused(chosen, ends.both[0], "chooser"));
}

#endif

TEST_P(AwaitFd, NobodyElseSettles) {
    braid::scheduler s(options());
    const pipe_ends ends;
    future<int> one = braid::co_spawn(s, {}, how_it_ends(ends.both[0], braid::no_limit));
    until_outside(s, 1);
    braid::completion_info row;
    ASSERT_EQ(s.open_completions(&row, 1), 1U);
    EXPECT_STREQ(row.name, "readable");
    EXPECT_FALSE(s.complete(row.id));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "a wait of a coroutine ends by what"),
              1U);
    ends.put();
    EXPECT_EQ(one.get(), 0);
}

// ---- all at once -------------------------------------------------------------------------------

TEST_P(AwaitFd, AByteADeadlineAndACancellationAtOnceEndItOnce) {
    braid::scheduler s(options());
    std::array<std::size_t, 3> ends{};
    const std::size_t rounds = braid_test::scaled(300);
    for (std::size_t i = 0; i < rounds; ++i) {
        const pipe_ends in;
        braid::scope level(s);
        const auto deadline = i % 3 == 1 ? braid::no_limit : braid::microseconds(i % 50);
        future<int> one = braid::co_spawn(s, {.within = &level}, how_it_ends(in.both[0], deadline));
        std::thread outside([&] { in.put(); });
        if (i % 3 != 0) level.cancel();
        outside.join();
        until(s, [&] { return one.ready(); });
        try {
            const int how = one.get();
            EXPECT_TRUE(how == 0 || how == late || (how == -1 && i % 3 != 0)) << how;
            ++ends[how == 0 ? 0 : how == late ? 1 : 2];
        } catch (const braid::broken_promise&) {  // it had not begun
            ++ends[2];
        }
        level.wait();
    }
    EXPECT_EQ(ends[0] + ends[1] + ends[2], rounds);
    EXPECT_EQ(s.statistics().suspended(), 0U);
    expect_all_ended(s);
}

TEST_P(AwaitFd, WithoutMemoryAtAnyRequestItSaysSoAndNothingIsLost) {
    const pipe_ends ends;
    ends.put();
    bool refused = false, came = false;
    for (int granted = 0; granted < 30; ++granted) {
        SCOPED_TRACE(granted);
        auto o = options();
        o.workers = std::min(o.workers, 2);
        braid_test::refusing_memory memory(o.memory);
        o.memory = memory.hooks();
        braid::scheduler s(o);
        const auto waits = [](int in) -> co<int> {
            int times = 0;
            for (int i = 0; i < 5; ++i) {
                const auto r = co_await braid::as_result(braid::readable(in, braid::seconds(3600)));
                EXPECT_EQ(r.value.has_value(), static_cast<bool>(r));
                EXPECT_FALSE(r.cancelled);
                times += r.value && r.value->readable;
            }
            co_return times;
        };
        memory.refuse_after(granted);
        future<int> f = braid::co_spawn(s, {}, waits(ends.both[0]));
        if (f.valid()) {
            const int times = f.get();
            refused |= times < 5;
            came |= times == 5;
        }
        memory.give_back();
        s.shut_down();
        expect_all_ended(s);
    }
    EXPECT_TRUE(refused && came);
}

}  // namespace
