// Timers: each tick is a task, none comes early, twice or beside another one, and none is left.
#include <braid/async/timer.hpp>
#include <braid/core/decision.hpp>

#include "proc_threads.hpp"
#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using braid::active_policy;
using braid::milliseconds;
using braid::nanoseconds;
using braid::timer;
using braid::timer_tick;
using braid_test::recorder;

BRAID_SCHEDULER_TEST(Timer);

/// The caller works until `enough`, as the last wait of a frame does.
template <class Enough>
void work_until(braid::scheduler& s, Enough&& enough) {
    braid::event never(s);
    while (!enough()) s.do_work_while_waiting_for(never, braid::microseconds(200));
}

std::size_t source_threads() { return braid_test::proc_threads("source").size(); }

TEST_P(Timer, TicksOnceAndNotBeforeItsTime) {
    braid::scheduler s(options());
    std::atomic<std::int64_t> came{0};
    const std::int64_t before = active_policy::now();
    timer one(s, {.name = "one", .in = milliseconds(3)}, [&](const timer_tick& tick) {
        EXPECT_EQ(tick.number, 0U);
        EXPECT_EQ(tick.missed, 0U);
        EXPECT_GE(tick.due, before + 3'000'000);
        EXPECT_GE(active_policy::now(), tick.due);
        EXPECT_STREQ(braid::this_task::name(), "one");
        came.fetch_add(1);
    });
    // It may be due by now, and its task not made yet.
    EXPECT_TRUE(one.armed() || s.statistics().timers_fired == 1);
    work_until(s, [&] { return came != 0; });
    EXPECT_FALSE(one.armed());
    EXPECT_FALSE(one.cancel());  // returns when the thread of the timers has counted the tick
    s.wait(one.task());
    EXPECT_EQ(came, 1);
    EXPECT_EQ(one.report().ticks, 1U);
    const braid::scheduler_statistics sum = s.statistics();
    EXPECT_EQ(sum.timers_armed, 1U);
    EXPECT_EQ(sum.timers_fired, 1U);
    EXPECT_EQ(sum.timers_cancelled, 0U);
}

TEST_P(Timer, ThatIsStartedAgainWhileATickIsLateIsDueAtItsNewTime) {
    braid::scheduler s(options());
    braid_test::door held;
    std::vector<std::int64_t> due;
    timer one(s, {.in = nanoseconds(0)}, [&](const timer_tick& tick) {
        due.push_back(tick.due);
        if (due.size() == 1) held.pass();
    });
    const auto fired = [&] { return s.statistics().timers_fired; };
    std::thread other([&] {
        // The first one runs, or waits for a thread; the second one comes due, and has to wait.
        braid_test::until([&] { return fired() >= 1; });
        one.restart({});
        braid_test::until([&] { return fired() >= 3; });
        const std::int64_t before = active_policy::now();
        one.restart(milliseconds(5));
        held.open();
        braid_test::until([&] { return one.report().ticks == 2; });
        s.wait(one.task());
        EXPECT_GE(due.back(), before + 5'000'000);
    });
    work_until(s, [&] { return one.report().ticks == 2; });
    other.join();
}

TEST_P(Timer, CallsWhatTakesATaskATickBothOrNothing) {
    braid::scheduler s(options());
    std::atomic<int> calls{0};
    timer a(s, {}, [&] { ++calls; });
    timer b(s, {}, [&](const timer_tick&) { ++calls; });
    timer c(s, {}, [&](braid::task_context& task) { calls += task.id() ? 1 : 0; });
    timer d(s, {},
            [&](braid::task_context& task, const timer_tick&) { calls += task.id() ? 1 : 0; });
    work_until(s, [&] { return calls == 4; });
}

TEST_P(Timer, ThatIsCancelledNeverTicks) {
    braid::scheduler s(options());
    bool came = false;
    timer one(s, {.in = braid::seconds(3600)}, [&] { came = true; });
    EXPECT_TRUE(one.armed());
    EXPECT_TRUE(one.cancel());
    EXPECT_FALSE(one.armed());
    EXPECT_FALSE(one.cancel());
    {
        timer other(s, {.in = braid::seconds(3600)}, [&] { came = true; });
    }
    s.shut_down();
    EXPECT_FALSE(came);
    EXPECT_EQ(s.statistics().timers_cancelled, 2U);
    EXPECT_EQ(s.statistics().created, 0U);
}

TEST_P(Timer, AgainAndAgainOnAGridWithoutDrift) {
    braid::scheduler s(options());
    std::vector<timer_tick> all;
    std::atomic<std::size_t> count{0};
    timer one(s, {.in = milliseconds(1), .every = milliseconds(1)}, [&](const timer_tick& tick) {
        all.push_back(tick);  // never two at a time
        count.store(all.size());
    });
    work_until(s, [&] { return count >= 20; });
    EXPECT_TRUE(one.cancel());
    if (one.task()) s.wait(one.task());
    std::uint64_t missed = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        missed += all[i].missed;
        EXPECT_EQ(all[i].number, i + missed);
        EXPECT_EQ(
            all[i].due,
            all[0].due + static_cast<std::int64_t>(all[i].number - all[0].number) * 1'000'000);
    }
    EXPECT_EQ(one.report().ticks, all.size());
    EXPECT_GE(one.report().missed, missed);
}

TEST_P(Timer, ATickWhoseTaskIsStillOpenIsMissed) {
    braid::scheduler s(options());
    std::atomic<int> inside{0}, most{0}, ticks{0};
    std::atomic<std::uint64_t> missed{0};
    std::atomic<bool> go_on{false};
    timer one(s, {.every = braid::microseconds(200), .task = {.may_be_long = true}},
              [&](const timer_tick& tick) {
                  most = std::max<int>(most, ++inside);
                  missed += tick.missed;
                  if (++ticks == 1) {
                      while (!go_on) active_policy::relax();
                  }
                  --inside;
              });
    std::thread other([&] {
        while (one.report().missed < 3) active_policy::relax();
        go_on = true;
    });
    work_until(s, [&] { return ticks >= 3; });
    other.join();
    EXPECT_EQ(most, 1);
    EXPECT_GE(missed, 3U);
}

TEST_P(Timer, IsArmedAgainFromItsOwnTask) {
    braid::scheduler s(options());
    std::atomic<int> ticks{0};
    timer* self = nullptr;
    timer one(s, {.in = braid::no_limit}, [&] {
        if (++ticks < 5) {
            EXPECT_TRUE(self->restart(braid::microseconds(50)));
        }
    });
    EXPECT_FALSE(one.armed());
    self = &one;
    EXPECT_TRUE(one.restart({}));
    work_until(s, [&] { return ticks == 5; });
}

TEST_P(Timer, IsNotArmedByATaskThatItsDestructorWaitsFor) {
    braid::scheduler s(options());
    for (int i = 0; i < 200; ++i) {
        timer* self = nullptr;
        std::atomic<int> state{0};
        timer one(s, {.in = braid::no_limit}, [&] {
            state = 1;
            for (int n = 0; n < 20; ++n) self->restart({});
            state = 2;
        });
        self = &one;
        one.restart({});
        if (GetParam() != 0) {
            while (state == 0) active_policy::relax();
        }
    }
}

/// Time passes when nobody can go on, and not before.
struct latest_time final : braid::chooser {
    std::size_t choose(braid::decision_kind, const braid::alternative*, std::size_t) override {
        return 0;
    }
};

TEST_P(Timer, AThousandInOneWindowCostTwoWakesAtMost) {
    latest_time chooser;
    auto o = options();
    o.chooser = &chooser;
    braid::scheduler s(o);
    std::atomic<int> ticks{0};
    std::vector<std::unique_ptr<timer>> all;
    for (int i = 0; i < 1'000; ++i) {
        const nanoseconds in{2'000'000 + i * 5'000};
        all.push_back(std::make_unique<timer>(
            s, braid::timer_options{.in = in, .slack = milliseconds(100)}, [&] { ++ticks; }));
    }
    work_until(s, [&] { return ticks == 1'000; });
    const braid::scheduler_statistics sum = s.statistics();
    EXPECT_EQ(sum.timers_fired, 1'000U);
    // One when the first was armed, one for all of them.
    EXPECT_LE(sum.source_wakes, 2U);
}

TEST_P(Timer, ThoseThatFollowEachOtherCloselyWakeTheirThreadOnceIn50Microseconds) {
    constexpr std::int64_t briefly = 50'000, long_enough = 20'000'000;
    braid::scheduler s(options());
    const std::int64_t before = active_policy::now();
    timer often(s, {.every = braid::microseconds(5)}, [] {});
    work_until(s, [&] {
        return active_policy::now() - before > long_enough && often.report().ticks != 0;
    });
    const std::uint64_t wakes = s.statistics().source_wakes;
    // One sleep that is exact, as no short one precedes it; one that is not counted yet, or ends
    // now.
    const auto most = static_cast<std::uint64_t>((active_policy::now() - before) / briefly + 2);
    EXPECT_LE(wakes, most);
}

TEST_P(Timer, WithoutOneThereIsNoThreadForThem) {
    const std::size_t before = source_threads();
    braid::scheduler s(options());
    s.wait(s.spawn([] {}));
    EXPECT_EQ(source_threads(), before);
    timer idle(s, {.in = braid::no_limit}, [] {});
    EXPECT_EQ(source_threads(), before);
    timer a(s, {.in = braid::seconds(3600)}, [] {}), b(s, {.in = braid::seconds(3600)}, [] {});
    work_until(s, [&] { return source_threads() == before + 1; });
}

TEST_P(Timer, PendingOnesAreCancelledWhenAShutdownBegins) {
    for (const auto how : {braid::shutdown::drain, braid::shutdown::discard}) {
        braid::scheduler s(options());
        std::atomic<int> ticks{0};
        {
            timer far(s, {.in = braid::seconds(3600)}, [&] { ++ticks; });
            timer often(s, {.every = braid::microseconds(50)}, [&] { ++ticks; });
            work_until(s, [&] { return ticks >= 3; });
            s.shut_down(how);
            const int then = ticks;
            EXPECT_FALSE(far.armed());
            EXPECT_FALSE(often.armed());
            EXPECT_FALSE(often.restart({}));
            timer late(s, {}, [&] { ++ticks; });
            EXPECT_FALSE(late.armed());
            EXPECT_EQ(ticks, then);
        }
        const braid::scheduler_statistics sum = s.statistics();
        EXPECT_EQ(sum.timers_armed, sum.timers_fired + sum.timers_cancelled);
        expect_all_ended(s);
    }
}

TEST_P(Timer, MayTickWhileTheSchedulerEnds) {
    for (int i = 0; i < 50; ++i) {
        std::atomic<int> ticks{0};
        braid::scheduler s(options());
        timer often(s, {.every = braid::microseconds(1)}, [&] { ++ticks; });
        timer other(s, {.in = braid::microseconds(i * 7)}, [&] { ++ticks; });
        if (i % 2 == 0) s.shut_down(i % 4 == 0 ? braid::shutdown::drain : braid::shutdown::discard);
    }
}

TEST_P(Timer, WhatItThrowsGoesToTheHandlerAndItGoesOn) {
    braid::scheduler s(options());
    std::atomic<int> ticks{0};
    {
        timer one(s, {.name = "bad", .every = braid::microseconds(100)}, [&] {
            ++ticks;
            throw std::runtime_error("bad");
        });
        work_until(s, [&] { return ticks >= 3; });
    }
    s.shut_down();  // a task counts as complete before the handler has heard of it
    EXPECT_GE(notes_.count(&recorder::lost, "bad"), 3U);
}

TEST_P(Timer, BelongsToAScopeThatIsGiven) {
    braid::scheduler s(options());
    std::atomic<int> ticks{0};
    braid::scope level(s);
    {
        timer one(s, {.every = braid::microseconds(100), .task = {.within = &level}},
                  [&] { ++ticks; });
        work_until(s, [&] { return ticks >= 3; });
        level.cancel();
    }
    level.wait();
    EXPECT_GE(level.account().executed, 3U);
}

TEST_P(Timer, ThatOutlivesItsSchedulerIsReported) {
    auto s = std::make_unique<braid::scheduler>(options());
    timer left(*s, {.in = braid::seconds(3600)}, [] {});
    timer other(*s, {.every = braid::microseconds(10)}, [] {});
    s.reset();
    EXPECT_EQ(notes_.count(&recorder::misuse, "before their scheduler"), 1U);
    EXPECT_FALSE(left.armed());
    EXPECT_FALSE(left.restart({}));
    EXPECT_FALSE(left.cancel());
    EXPECT_FALSE(left.task());
    EXPECT_EQ(left.report().ticks, 0U);
}

TEST_P(Timer, ComesDueWhileTheSchedulerIsFrozenAndRunsAfterwards) {
    braid::scheduler s(options());
    std::atomic<int> ticks{0};
    timer one(s, {.in = braid::microseconds(100)}, [&] { ++ticks; });
    work_until(s, [&] { return ticks == 1; });
    s.freeze();
    one.restart({});
    while (s.statistics().timers_fired < 2) active_policy::relax();
    while (one.report().ticks < 2) active_policy::relax();
    EXPECT_EQ(ticks, 1);
    s.resume();
    work_until(s, [&] { return ticks == 2; });
}

TEST_P(Timer, AnyNumberIsATime) {
    braid::scheduler s(options());
    std::atomic<int> ticks{0};
    const std::int64_t all[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    for (const std::int64_t in : all) {
        for (const std::int64_t every : all) {
            for (const std::int64_t slack : {INT64_MIN, std::int64_t{0}, INT64_MAX}) {
                timer one(s,
                          {.in = nanoseconds{in},
                           .every = nanoseconds{every},
                           .slack = nanoseconds{slack}},
                          [&] { ++ticks; });
                if (in > 1 || slack == INT64_MAX) continue;
                work_until(s, [&] { return one.report().ticks != 0; });
            }
        }
    }
}

TEST_P(Timer, LosesNothingWhereMemoryRunsOutAtAnyPoint) {
    for (int granted = 0; granted < 40; ++granted) {
        braid_test::refusing_memory memory(memory_.hooks());
        auto o = options();
        o.memory = memory.hooks();
        o.out_of_memory = {};
        std::atomic<int> ticks{0};
        braid::scheduler s(o);
        memory.refuse_after(granted);
        timer one(s, {.every = braid::microseconds(50)}, [&] { ++ticks; });
        timer other(s, {.in = braid::microseconds(10)}, [&] { ++ticks; });
        const bool armed = one.armed();
        if (armed) work_until(s, [&] { return one.report().ticks + one.report().refused != 0; });
        memory.give_back();
        if (!armed) {
            EXPECT_NE(memory.refused(), 0);
            continue;
        }
        work_until(s, [&] { return ticks != 0; });
    }
}

}  // namespace
