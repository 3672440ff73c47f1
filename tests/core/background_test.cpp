// C13: streaming and long jobs on threads of their own, which run when nothing else wants the core.
#include "core/control/runtime.hpp"
#include "proc_threads.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <sched.h>
#include <array>

namespace {

using braid::task_class;
using braid_test::door;
using braid_test::proc_threads;

BRAID_SCHEDULER_TEST(Background);

constexpr braid::task_options in_background{.runs_as = task_class::background};

TEST_P(Background, RunsOnItsOwnThreadsAndNowhereElse) {
    braid::scheduler s(options());
    std::atomic<int> wrong{0}, ran{0};
    braid::scope all(s);
    for (int i = 0; i < 500; ++i) {
        all.spawn(in_background, [&] {
            wrong += !braid_test::this_proc_thread().name.starts_with("background");
            ++ran;
        });
        all.post([&] { wrong += braid_test::this_proc_thread().name.starts_with("background"); });
    }
    all.wait();
    EXPECT_EQ(ran, 500);
    EXPECT_EQ(wrong, 0);
}

TEST_P(Background, HasNoThreadBeforeItIsUsedAndOnlyAsManyAsAllowed) {
    braid::scheduler_options o = options();
    o.background_threads = 2;
    braid::scheduler s(o);
    EXPECT_EQ(proc_threads("background").size(), 0U);
    std::atomic<int> ran{0};
    braid::scope all(s);
    for (int i = 0; i < 200; ++i) all.spawn(in_background, [&] { ++ran; });
    all.wait();
    const std::size_t threads = proc_threads("background").size();
    EXPECT_GE(threads, 1U);
    EXPECT_LE(threads, 2U);
}

TEST_P(Background, IsIdleScheduledByTheSystem) {
    braid::scheduler s(options());
    s.wait(s.spawn(in_background, [] {
        const braid_test::proc_thread t = braid_test::this_proc_thread();
        EXPECT_TRUE(t.policy == SCHED_IDLE || t.nice == 19)
            << "policy " << t.policy << " nice " << t.nice;
    }));
}

TEST_P(Background, SleepsWhenThereIsNothingToDo) {
    braid::scheduler s(options());
    std::atomic<unsigned> seat{0};
    s.wait(s.spawn(in_background, [&] { seat = s.this_thread().seat; }));
    const auto parks = [&] { return s.statistics(seat).parks; };
    // From here on it sleeps, or is about to.
    braid_test::until([&] { return parks() == 1; });
    // Frame work comes and goes on other threads, and would wake it if that were anybody's habit.
    for (std::size_t i = 0; i < braid_test::scaled(2000); ++i) {
        s.wait(s.spawn([] {}), braid::help::none);
    }
    EXPECT_EQ(parks(), 1U) << "who is woken for nothing falls asleep again";
}

TEST_P(Background, DoesNotHoldUpFrameWorkWhileEveryBackgroundThreadIsStuck) {
    braid::scheduler s(options());
    door go;
    braid::scope stuck(s);
    for (int i = 0; i < 100; ++i) stuck.spawn(in_background, [&] { go.pass(); });
    std::atomic<int> ran{0};
    braid::scope frame(s);
    for (int i = 0; i < 1000; ++i) frame.post([&] { ++ran; });
    frame.wait();
    EXPECT_EQ(ran, 1000);
    go.open();
    stuck.wait();
}

TEST_P(Background, AWaitInsideForBackgroundWorkGetsOnWithOneThread) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    s.wait(s.spawn(in_background, [&](braid::task_context& task) {
        task.wait(task.spawn(in_background, [&](braid::task_context& inner) {
            inner.wait(inner.spawn(in_background, [&] { ++ran; }), braid::help::none);
            ++ran;
        }));
        braid::event happened(s);
        s.post(in_background, [&] { happened.set(); });
        s.do_work_while_waiting_for(happened);
        ++ran;
    }));
    EXPECT_EQ(ran, 3);
}

TEST_P(Background, AWaitInsideStartsNoOtherThreadWhileNothingIsQueued) {
    braid::scheduler_options o = options();
    o.background_threads = 1;
    braid::scheduler s(o);
    std::atomic<bool> waits{false};
    door go;
    const auto waiter = s.spawn(in_background, [&](braid::task_context& task) {
        const auto frame = task.spawn([&] { go.pass(); });
        waits = true;
        task.wait(frame, braid::help::none);
    });
    braid_test::until([&] { return waits && proc_threads("background").at(0).state == 'S'; });
    go.open();
    s.wait(waiter);
    EXPECT_EQ(proc_threads("background").size(), 1U);
}

TEST_P(Background, AWaitInsideForFrameWorkGetsOnWithoutWorkers) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    // The waiter outside helps nobody: with 0 workers a reserve has to stand in.
    s.wait(s.spawn(in_background,
                   [&](braid::task_context& task) { task.wait(task.spawn([&] { ++ran; })); }),
           braid::help::none);
    EXPECT_EQ(ran, 1);
}

TEST_P(Background, AFrameTaskMayWaitForBackgroundWork) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    braid::scope all(s);
    for (int i = 0; i < 20; ++i) {
        all.post([&](braid::task_context& task) {
            task.wait(task.spawn(in_background, [&] { ++ran; }));
        });
    }
    all.wait();
    EXPECT_EQ(ran, 20);
}

TEST_P(Background, RunsTheHighestFirst) {
    braid::scheduler s(options());
    door held, go;
    braid::scope all(s);
    std::vector<std::string> order;  // one thread
    all.spawn(in_background, [&] {
        held.open();
        go.pass();
    });
    held.pass();
    const auto add = [&](braid::priority_level level, const char* name) {
        all.spawn({.priority = level, .runs_as = task_class::background},
                  [&order, name] { order.push_back(name); });
    };
    add(braid::priority_level::low, "low");
    add(braid::priority_level::normal, "normal 1");
    add(braid::priority_level::normal, "normal 2");
    add(braid::priority_level::high, "high");
    go.open();
    all.wait();
    EXPECT_EQ(order, (std::vector<std::string>{"high", "normal 1", "normal 2", "low"}));
}

/// What further threads are asked for; the options themselves never change in a program.
std::size_t& stack_of_threads(braid::scheduler& s) {
    const braid::scheduler_options& fixed = s.internals().options;
    return const_cast<braid::scheduler_options&>(fixed).worker_threads.stack_bytes;
}

/// Threads that exist stay; from here on the system refuses each further one.
void refuse_threads(braid::scheduler& s) { stack_of_threads(s) = std::size_t{1} << 50; }

TEST_P(Background, RunsAsFrameWorkWhereTheSystemRefusesItsThread) {
    braid::scheduler s(options());
    refuse_threads(s);
    const unsigned seats = s.internals().seat_count();
    std::atomic<int> ran{0};
    for (int i = 0; i < 300; ++i) s.wait(s.spawn(in_background, [&] { ++ran; }));
    braid::scope all(s);
    for (int i = 0; i < 300; ++i) all.spawn(in_background, [&] { ++ran; });
    all.wait();
    s.wait(s.spawn_batch(in_background, 300, [&](std::size_t) { ++ran; }));
    EXPECT_EQ(ran, 900);
    // One for the thread of the class, one for a reserve.
    EXPECT_LE(s.internals().seat_count(), seats + 2);
    EXPECT_EQ(notes_.count(&braid_test::recorder::log, "'background 0'"), 1U);
    EXPECT_EQ(proc_threads("background").size(), 0U);
    s.shut_down();
    expect_all_ended(s);
}

TEST_P(Background, WaitsOfItsOnlyThreadGetOnWhereTheSystemRefusesAnother) {
    braid::scheduler_options o = options();
    o.background_threads = 4;
    braid::scheduler s(o);
    s.wait(s.spawn(in_background, [] {}));
    refuse_threads(s);
    std::atomic<int> ran{0};
    s.wait(s.spawn(in_background, [&](braid::task_context& task) {
        braid::event happened(s);
        s.post(in_background, [&] { happened.set(); });
        s.do_work_while_waiting_for(happened);
        // Queued before the wait, and no part of it.
        s.post(in_background, [&] { happened.set(); });
        task.wait(task.spawn([&] { s.do_work_while_waiting_for(happened); }));
        task.wait(task.spawn(in_background, [&] { ++ran; }), braid::help::none);
        ++ran;
    }));
    EXPECT_EQ(ran, 2);
}

TEST_P(Background, AThreadThatTheSystemGrantsAgainRunsTheClass) {
    braid::scheduler s(options());
    const std::size_t usual = stack_of_threads(s);
    refuse_threads(s);
    s.wait(s.spawn(in_background, [] {}));
    stack_of_threads(s) = usual;
    std::string name;
    s.wait(s.spawn(in_background, [&] { name = braid_test::this_proc_thread().name; }));
    EXPECT_EQ(name, "background 0");
}

TEST_P(Background, IsDrainedAndDiscardedLikeTheRest) {
    std::atomic<int> ran{0};
    {
        braid::scheduler s(options());
        for (int i = 0; i < 50; ++i) s.post(in_background, [&] { ++ran; });
    }
    EXPECT_EQ(ran, 50);
    braid::scheduler s(options());
    door held, go;
    s.post(in_background, [&] {
        held.open();
        go.pass();
    });
    held.pass();
    for (int i = 0; i < 50; ++i) s.post(in_background, [&] { ++ran; });
    std::thread opener([&] {
        braid_test::until([&] { return !s.spawn({.may_be_long = true}, [] {}); });
        go.open();
    });
    s.shut_down(braid::shutdown::discard);
    opener.join();
    EXPECT_EQ(ran, 50);
    expect_all_ended(s);
}

TEST_P(Background, AFrameTaskThatItWaitsForRunsElsewhereEvenIfItReleasedIt) {
    braid::scheduler s(options());
    const auto background = braid::task_class::background;
    for (int round = 0; round < 50; ++round) {
        std::thread::id waiter, frame;
        s.wait(s.spawn({.runs_as = background}, [&](braid::task_context& task) {
            waiter = std::this_thread::get_id();
            const braid::task_id first = task.spawn({.runs_as = background}, [] {});
            task.wait(task.spawn({.after = {first}}, [&] { frame = std::this_thread::get_id(); }));
        }));
        ASSERT_NE(frame, waiter);
    }
}

}  // namespace
