// C24: a long task is named with its thread and duration; so is a wait that parks a worker.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <cstdio>
#include <cstring>
#include <string>

namespace {

using braid_test::recorder;

class LongTask : public braid_test::scheduler_test {
protected:
    static constexpr braid::nanoseconds usual_limit = braid::scheduler_options{}.long_task;

    braid::scheduler_options options() {
        braid::scheduler_options o = scheduler_test::options();
        o.long_task = usual_limit;
        return o;
    }

    /// A short task is long where its thread loses the core in the middle, so the program runs
    /// again until no task is reported; the deadline ends that where one is reported each time.
    template <class Program>
    void comes_to_report_none(const braid::scheduler_options& o, Program&& program) {
        braid_test::until([&] {
            {
                braid::scheduler s(o);
                program(s);
            }
            const bool none = notes_.count(&recorder::log, "took") == 0;
            notes_.log.clear();
            return none;
        });
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, LongTask, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

/// By both clocks with which tasks are timed.
void take(braid::nanoseconds time) {
    using policy = braid::active_policy;
    const std::int64_t end = policy::now() + time.value;
    const std::int64_t coarse_end = policy::coarse_now() + time.value;
    while (policy::now() < end || policy::coarse_now() < coarse_end) {
    }
}

TEST_P(LongTask, IsLoggedOnceWithNameThreadAndDuration) {
    braid::scheduler s(options());
    s.wait(s.spawn({.name = "path finding"}, [] { take(braid::milliseconds(25)); }));
    s.shut_down();
    ASSERT_EQ(notes_.count(&recorder::log, "path finding"), 1U);
    double ms = 0;
    char thread[16] = {};
    ASSERT_EQ(std::sscanf(notes_.log[0].c_str(),
                          "braid: task 'path finding' took %lf ms on %15[a-z 0-9];", &ms, thread),
              2)
        << notes_.log[0];
    EXPECT_GE(ms, 25.0);
    const std::string name(thread, std::strcspn(thread, " "));
    EXPECT_TRUE(name == "main" || name == "worker" || name == "reserve") << notes_.log[0];
    EXPECT_EQ(s.statistics().long_tasks, 1U);
}

/// One of 100 ms among forty that take no time; one of those is long, too, where its thread loses
/// the core for so long.
std::uint64_t run_one_slow(const braid::scheduler_options& o, const char* slow,
                           const char* others) {
    braid::scheduler s(o);
    braid::scope all(s);
    for (int i = 0; i < 41; ++i) {
        all.spawn({.name = i == 20 ? slow : others},
                  [i] { take(braid::milliseconds(i == 20 ? 100 : 0)); });
    }
    all.wait();
    s.shut_down();
    return s.statistics().long_tasks;
}

TEST_P(LongTask, IsNamedAloneBetweenManyShortOnesOfAnotherName) {
    braid::scheduler_options o = options();
    o.long_task = braid::milliseconds(60);
    const std::uint64_t found = run_one_slow(o, "slow", "quick");
    EXPECT_EQ(notes_.count(&recorder::log, "took"), found);
    EXPECT_EQ(notes_.count(&recorder::log, "task 'slow' took"), 1U);
}

TEST_P(LongTask, IsFoundAmongShortOnesOfItsName) {
    braid::scheduler_options o = options();
    o.long_task = braid::milliseconds(60);
    const std::uint64_t found = run_one_slow(o, "mixed", "mixed");
    EXPECT_GE(found, 1U);
    EXPECT_EQ(notes_.count(&recorder::log, "'mixed'"), found);
}

TEST_P(LongTask, IsSilentWhenItSaidSoOrIsBackgroundOrTheLimitIsOff) {
    {
        braid::scheduler s(options());
        s.wait(
            s.spawn({.name = "bake", .may_be_long = true}, [] { take(braid::milliseconds(25)); }));
        s.wait(s.spawn({.name = "stream", .runs_as = braid::task_class::background},
                       [] { take(braid::milliseconds(25)); }));
        s.shut_down();
        EXPECT_EQ(s.statistics().long_tasks, 0U);
    }
    braid::scheduler_options o = options();
    o.long_task = braid::nanoseconds(0);
    braid::scheduler s(o);
    s.wait(s.spawn([] { take(braid::milliseconds(25)); }));
    s.shut_down();
    EXPECT_EQ(notes_.count(&recorder::log, "took"), 0U);
}

TEST_P(LongTask, HasTheLimitOfTheOptionsAndExactTimesWithStatistics) {
    braid::scheduler_options o = options();
    o.statistics = true;
    o.long_task = braid::seconds(3600);
    braid::scheduler s(o);
    s.wait(s.spawn([] { take(braid::milliseconds(25)); }));
    s.shut_down();
    EXPECT_EQ(s.statistics().long_tasks, 0U);
}

TEST_P(LongTask, MayBeOneNanosecondLong) {
    braid::scheduler_options o = options();
    o.long_task = braid::nanoseconds(1);
    braid::scheduler s(o);
    s.wait(s.spawn([] { take(braid::milliseconds(25)); }));
    s.shut_down();
    EXPECT_EQ(s.statistics().long_tasks, 1U);
}

TEST_P(LongTask, IsNotOneThatWaitsForTheOthers) {
    braid::scheduler_options o = options();
    o.statistics = true;
    comes_to_report_none(o, [](braid::scheduler& s) {
        s.wait(s.spawn({.name = "root"}, [&](braid::task_context& task) {
            // For the same thread, so that all of it is in the wait.
            task.wait(task.spawn({.name = "slow", .on = s.this_thread(), .may_be_long = true},
                                 [] { take(braid::milliseconds(30)); }));
        }));
    });
}

// What a thread did before, sleeping above all, is not the task's time.
TEST_P(LongTask, IsNotAShortOneAfterALongSleepWaitOrBlockingCall) {
    comes_to_report_none(options(), [](braid::scheduler& s) {
        const auto nap = [] { take(braid::milliseconds(25)); };
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
            nap();
            s.post({.name = "high", .priority = braid::priority_level::high}, [] {});
            task.yield_to_higher();
        }));
    });
}

TEST_P(LongTask, AWaitThatParksAWorkerIsReportedOnceWhenAskedFor) {
    braid::scheduler_options o = scheduler_test::options();
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
