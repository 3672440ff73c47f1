// G9: what a list knows of its submissions; long jobs.
#include "job_list_fixture.hpp"

namespace {

using braid_test::add_one;
using braid_test::do_nothing;
using braid_test::recorder;

BRAID_JOB_LIST_TEST(JobStatistics);

using clock_type = std::chrono::steady_clock;

std::int64_t now() { return clock_type::now().time_since_epoch() / std::chrono::nanoseconds(1); }

void take(std::chrono::microseconds time) {
    const auto end = clock_type::now() + time;
    while (clock_type::now() < end) {
    }
}

/// What must be so of every submission that was waited for.
void check(const braid::job_list_statistics& sum, const braid::job_list& l, unsigned seats) {
    EXPECT_EQ(sum.executed + sum.cancelled, sum.jobs);
    EXPECT_GE(sum.processing_ns, 0);
    EXPECT_GE(sum.wasted_ns, 0);
    EXPECT_GE(sum.waited_ns, 0);
    EXPECT_EQ(sum.total_ns(), sum.processing_ns + sum.wasted_ns);
    EXPECT_GE(sum.started_at, sum.submitted_at);
    EXPECT_GE(sum.finished_at, sum.started_at);
    braid::job_unit_statistics units;
    for (unsigned i = 0; i < seats; ++i) {
        const braid::job_unit_statistics unit = l.statistics(i);
        EXPECT_GE(unit.processing_ns, 0);
        EXPECT_GE(unit.wasted_ns, 0);
        units.executed += unit.executed;
        units.processing_ns += unit.processing_ns;
        units.wasted_ns += unit.wasted_ns;
        units.stalls += unit.stalls;
        units.from_stalled += unit.from_stalled;
    }
    EXPECT_EQ(units.executed, sum.executed);
    EXPECT_EQ(units.processing_ns, sum.processing_ns);
    EXPECT_EQ(units.wasted_ns, sum.wasted_ns);
    EXPECT_EQ(units.total_ns(), sum.total_ns());
    EXPECT_EQ(units.stalls, sum.stalls);
    EXPECT_EQ(units.from_stalled, sum.from_stalled);
}

TEST_P(JobStatistics, AddUpByListAndByUnitAndAreNeverNegative) {
    for (const bool each : {false, true}) {
        braid::scheduler_options o = options();
        o.statistics = each;
        engine e(o);
        braid::job_list* l = e.lists.allocate();
        std::atomic<int> ran{0};
        for (int round = 1; round <= 30; ++round) {
            const int jobs = round % 7 * 5;
            for (int i = 0; i < jobs; ++i) {
                if (i % 10 == 0) l->signal();
                l->add(&add_one, &ran);
                if (i % 10 == 5) l->synchronize();
            }
            if (jobs % 10 != 0 && jobs % 10 <= 5) l->synchronize();
            const std::int64_t before = now();
            const int parallelism = round % 5 - 1;
            ASSERT_TRUE(l->submit({.parallelism = parallelism}));
            l->wait();
            const std::int64_t after = now();
            const braid::job_list_statistics sum = l->statistics();
            check(sum, *l, e.s.seat_count());
            EXPECT_EQ(sum.submissions, static_cast<unsigned>(round));
            EXPECT_EQ(sum.executed, static_cast<unsigned>(jobs));
            EXPECT_GE(sum.submitted_at, before);
            EXPECT_LE(sum.finished_at, after);
            EXPECT_LE(sum.waited_ns, after - before);
            const int all = GetParam() + 1;
            // A thread that has left a shut sync point counts on until its part ends, beside the
            // one that was called in its place, so that any thread may count beside any other.
            const int threads = parallelism == 0 || parallelism == 1 ? 1 : all;
            EXPECT_LE(sum.total_ns(), (after - before) * threads) << "each thread once at a time";
        }
    }
}

TEST_P(JobStatistics, ProcessingIsTheTimeInJobs) {
    for (const bool each : {false, true}) {
        braid::scheduler_options o = options();
        o.statistics = each;
        engine e(o);
        braid::job_list* l = e.lists.allocate();
        for (int i = 0; i < 10; ++i) {
            e.with.add(l, [] { take(std::chrono::microseconds(500)); });
        }
        l->submit();
        l->wait();
        const braid::job_list_statistics sum = l->statistics();
        EXPECT_GE(sum.processing_ns, 5'000'000);
        EXPECT_GE(sum.finished_at - sum.started_at, 500'000);
    }
}

TEST_P(JobStatistics, TimeOfAListThatRunsOnTopIsCountedOnce) {
    for (const bool each : {false, true}) {
        braid::scheduler_options o = options();
        o.statistics = each;
        engine e(o);
        braid::job_list* outer = e.lists.allocate();
        braid::job_list* inner = e.lists.allocate();
        // Inline: on top of the outer job, on the same thread.
        e.with.add(inner, [] { take(std::chrono::microseconds(3'000)); });
        e.with.add(outer, [&] {
            inner->submit({.parallelism = braid::job_submission::inline_run});
            inner->wait();
        });
        const std::int64_t before = now();
        outer->submit({.parallelism = 1});
        outer->wait();
        const std::int64_t took = now() - before;
        EXPECT_GE(inner->statistics().processing_ns, 3'000'000);
        EXPECT_LE(outer->statistics().total_ns() + inner->statistics().total_ns(), took);
        check(outer->statistics(), *outer, e.s.seat_count());
        check(inner->statistics(), *inner, e.s.seat_count());
    }
}

TEST_P(JobStatistics, OfTheLastSubmissionStayWhileTheNextOneRuns) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    EXPECT_EQ(l->statistics().submissions, 0U);
    l->add(&do_nothing, nullptr);
    l->submit();
    l->wait();
    const std::int64_t finished = l->statistics().finished_at;
    for (int i = 0; i < 5; ++i) l->add(&do_nothing, nullptr);
    const braid::task_id id = l->submit();
    e.s.wait(id);
    EXPECT_EQ(l->statistics().executed, 1U);
    EXPECT_EQ(l->statistics().finished_at, finished);
    l->wait();
    EXPECT_EQ(l->statistics().executed, 5U);
    EXPECT_EQ(l->statistics().submissions, 2U);
    EXPECT_EQ(l->statistics(braid_test::scaled(1'000'000)).executed, 0U) << "there is no such seat";
}

TEST_P(JobStatistics, AnEmptySubmissionHasAllTimes) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    for (const int parallelism : {-1, 0, 1}) {
        l->submit({.parallelism = parallelism});
        l->wait();
        check(l->statistics(), *l, e.s.seat_count());
        EXPECT_NE(l->statistics().finished_at, 0);
        EXPECT_EQ(l->statistics().executed, 0U);
    }
}

TEST_P(JobStatistics, OfTheSchedulerNameTheJobs) {
    braid::scheduler_options o = options();
    o.statistics = true;
    engine e(o);
    braid::job_list* l = e.lists.allocate({.name = "list"});
    std::atomic<int> ran{0};
    for (int i = 0; i < 12; ++i) l->add(i % 3 == 0 ? &do_nothing : &add_one, &ran);
    e.with.add(l, [] { take(std::chrono::microseconds(2'000)); });
    const std::int64_t before = now();
    l->submit({.parallelism = 1});
    l->wait();
    const auto passed = static_cast<std::uint64_t>(now() - before);
    braid::task_type_statistics rows[8];
    const std::size_t count = e.s.statistics(rows, 8);
    std::uint64_t adds = 0, nothings = 0, of_call = 0, around = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, 8); ++i) {
        const std::string name = rows[i].name;
        if (name == "add one") adds = rows[i].count;
        if (name == "do nothing") nothings = rows[i].count;
        if (name == "call") of_call = rows[i].total_ns;
        if (name == "list") around = rows[i].total_ns;
    }
    EXPECT_EQ(adds, 8U);
    EXPECT_EQ(nothings, 4U);
    EXPECT_GE(of_call, 2'000'000U);
    // One thread at a time has done all of it.
    EXPECT_LE(around + of_call, passed) << "the jobs' time is not the list's, too";
}

TEST_P(JobStatistics, ALongJobIsNamedUnlessItsListIsExempt) {
    for (const bool each : {false, true}) {
        for (const int parallelism : {-1, 0}) {
            braid::scheduler_options o = options();
            o.statistics = each;
            o.long_task = braid::milliseconds(20);
            engine e(o);
            notes_.log.clear();
            braid::job_list* l = e.lists.allocate({.name = "normal"});
            braid::job_list* exempt = e.lists.allocate({.name = "loading", .may_be_long = true});
            std::atomic<int> ran{0};
            std::function<void()> long_one = [] { take(std::chrono::microseconds(50'000)); };
            for (int i = 0; i < 9; ++i) {
                for (braid::job_list* const list : {exempt, l}) {
                    if (i == 4) {
                        list->add(&braid_test::jobs::other, &long_one);
                    } else {
                        list->add(&add_one, &ran);
                    }
                }
            }
            exempt->submit({.parallelism = parallelism});
            exempt->wait();
            EXPECT_EQ(notes_.count(&recorder::log, "took"), 0U);
            l->submit({.parallelism = parallelism});
            l->wait();
            EXPECT_EQ(ran, 16);
            EXPECT_EQ(notes_.count(&recorder::log, "'other' took"), 1U);
            // A short job whose thread lost its core is long, too.
            EXPECT_EQ(notes_.count(&recorder::log, "took"), e.s.statistics().long_tasks);
        }
    }
}

TEST_P(JobStatistics, NoJobIsNamedThatTakesLessThanALongTask) {
    for (const bool each : {false, true}) {
        for (const int parallelism : {-1, 0}) {
            braid::scheduler_options o = options();
            o.statistics = each;
            o.long_task = braid_test::hang_limit;
            engine e(o);
            notes_.log.clear();
            braid::job_list* l = e.lists.allocate({.name = "normal"});
            for (int i = 0; i < 9; ++i) {
                e.with.add(l, [] { take(std::chrono::microseconds(300)); });
            }
            l->submit({.parallelism = parallelism});
            l->wait();
            EXPECT_EQ(notes_.count(&recorder::log, "took"), 0U);
            EXPECT_EQ(e.s.statistics().long_tasks, 0U);
        }
    }
}

}  // namespace
