// C24: a long task is named with its thread and duration; so is a wait that parks a worker.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <cstdio>
#include <cstring>
#include <string>

namespace {

using braid_test::recorder;

BRAID_SCHEDULER_TEST(LongTask);

void take(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

TEST_P(LongTask, IsLoggedOnceWithNameThreadAndDuration) {
    braid::scheduler s(options());
    s.wait(s.spawn({.name = "path finding"}, [] { take(std::chrono::milliseconds(25)); }));
    s.shut_down();
    ASSERT_EQ(notes_.count(&recorder::log, "path finding"), 1U);
    double ms = 0;
    char thread[16] = {};
    ASSERT_EQ(std::sscanf(notes_.log[0].c_str(),
                          "braid: task 'path finding' took %lf ms on %15[a-z 0-9];", &ms, thread),
              2)
        << notes_.log[0];
    EXPECT_GE(ms, 15.0);
    const std::string name(thread, std::strcspn(thread, " "));
    EXPECT_TRUE(name == "main" || name == "worker" || name == "reserve") << notes_.log[0];
    EXPECT_EQ(s.statistics().long_tasks, 1U);
}

/// One of 100 ms among forty that take no time.
void run_one_slow(const braid::scheduler_options& o, const char* slow, const char* others) {
    braid::scheduler s(o);
    braid::scope all(s);
    for (int i = 0; i < 41; ++i) {
        all.spawn({.name = i == 20 ? slow : others},
                  [i] { take(std::chrono::milliseconds(i == 20 ? 100 : 0)); });
    }
    all.wait();
    EXPECT_EQ(s.statistics().long_tasks, 1U);
}

TEST_P(LongTask, IsNamedAloneBetweenManyShortOnesOfAnotherName) {
    braid::scheduler_options o = options();
    o.long_task = braid::milliseconds(60);
    run_one_slow(o, "slow", "quick");
    EXPECT_EQ(notes_.count(&recorder::log, "task 'slow' took"), 1U);
}

TEST_P(LongTask, IsFoundAmongShortOnesOfItsName) {
    braid::scheduler_options o = options();
    o.long_task = braid::milliseconds(60);
    run_one_slow(o, "mixed", "mixed");
    EXPECT_EQ(notes_.count(&recorder::log, "'mixed'"), 1U);
}

TEST_P(LongTask, IsSilentWhenItSaidSoOrIsBackgroundOrTheLimitIsOff) {
    {
        braid::scheduler s(options());
        s.wait(s.spawn({.name = "bake", .may_be_long = true},
                       [] { take(std::chrono::milliseconds(25)); }));
        s.wait(s.spawn({.name = "stream", .runs_as = braid::task_class::background},
                       [] { take(std::chrono::milliseconds(25)); }));
        EXPECT_EQ(s.statistics().long_tasks, 0U);
    }
    braid::scheduler_options o = options();
    o.long_task = braid::nanoseconds(0);
    braid::scheduler s(o);
    s.wait(s.spawn([] { take(std::chrono::milliseconds(25)); }));
    EXPECT_EQ(notes_.count(&recorder::log, "took"), 0U);
}

TEST_P(LongTask, HasTheLimitOfTheOptionsAndExactTimesWithStatistics) {
    braid::scheduler_options o = options();
    o.statistics = true;
    o.long_task = braid::milliseconds(1000 * 60);
    braid::scheduler s(o);
    s.wait(s.spawn([] { take(std::chrono::milliseconds(25)); }));
    EXPECT_EQ(s.statistics().long_tasks, 0U);
}

TEST_P(LongTask, MayBeOneNanosecondLong) {
    braid::scheduler_options o = options();
    o.long_task = braid::nanoseconds(1);
    braid::scheduler s(o);
    s.wait(s.spawn([] { take(std::chrono::milliseconds(25)); }));
    EXPECT_EQ(s.statistics().long_tasks, 1U);
}

TEST_P(LongTask, IsNotOneThatWaitsForTheOthers) {
    braid::scheduler_options o = options();
    o.statistics = true;
    braid::scheduler s(o);
    s.wait(s.spawn({.name = "root"}, [&](braid::task_context& task) {
        task.wait(task.spawn({.name = "slow", .may_be_long = true},
                             [] { take(std::chrono::milliseconds(30)); }));
    }));
    s.shut_down();
    EXPECT_EQ(notes_.count(&recorder::log, "root"), 0U);
}

// What a thread did before, sleeping above all, is not the task's time.
TEST_P(LongTask, IsNotAShortOneAfterALongSleepWaitOrBlockingCall) {
    braid::scheduler s(options());
    const auto nap = [] { take(std::chrono::milliseconds(25)); };
    s.wait(s.spawn({.name = "first"}, [] {}));
    nap();
    s.wait(s.spawn({.name = "after idle"}, [] {}));
    s.wait(s.spawn({.name = "waits"}, [&] {
        braid::event happens(s);
        const auto here = s.this_thread();
        std::thread helper([&] {
            nap();
            s.post({.name = "after sleep", .on = here}, [&] { happens.set(); });
        });
        s.do_work_while_waiting_for(happens);
        helper.join();
        s.blocking(nap);
    }));
    s.wait(s.spawn({.name = "yields", .may_be_long = true}, [&](braid::task_context& task) {
        take(std::chrono::milliseconds(25));
        s.post({.name = "high", .priority = braid::priority_level::high}, [] {});
        task.yield_to_higher();
    }));
    s.shut_down();
    EXPECT_EQ(notes_.count(&recorder::log, "took"), 0U) << testing::PrintToString(notes_.log);
}

TEST_P(LongTask, AWaitThatParksAWorkerIsReportedOnceWhenAskedFor) {
    braid::scheduler_options o = options();
    o.warn_when_wait_parks = true;
    braid::scheduler s(o);
    if (s.worker_count() == 0) GTEST_SKIP() << "needs a worker";
    for (int i = 0; i < 3; ++i) {
        braid::event happens(s);
        const auto parks = [&] { return s.statistics(s.worker_thread(0).seat).parks; };
        std::atomic<std::uint64_t> before{UINT64_MAX};
        const braid::task_id waiter = s.spawn({.name = "impatient", .on = s.worker_thread(0)}, [&] {
            before = parks();
            s.do_work_while_waiting_for(happens);
        });
        braid_test::until([&] { return before != UINT64_MAX && parks() > before; });
        happens.set();
        s.wait(waiter);
    }
    s.shut_down();
    EXPECT_EQ(notes_.count(&recorder::log, "impatient"), 1U);
    EXPECT_EQ(notes_.count(&recorder::log, "worker 0"), 1U);
}

}  // namespace
