// G8, G10: how many threads take part, where they go when they find nothing, and what they leave.
#include "job_list_fixture.hpp"

#include "job_list/job_list_state.hpp"
#include "seeded_chooser.hpp"

#include <braid/core/observer.hpp>

namespace {

using braid::job_submission;
using braid::priority_level;
using braid_test::add_one;
using braid_test::do_nothing;
using braid_test::door;
using braid_test::scaled;
using braid_test::until;

BRAID_JOB_LIST_TEST(JobThreads);

TEST_P(JobThreads, AreNeverMoreThanTheSubmissionsParallelism) {
    // In each job a seed decides whether another thread goes on before it ends.
    int most[4] = {};
    const std::uint64_t seeds = GetParam() > 8 ? 3 : 20;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        braid_test::seeded_chooser chooser(seed);
        braid::scheduler_options o = options();
        o.chooser = &chooser;
        engine e(o);
        braid::job_list* l = e.lists.allocate();
        for (const int parallelism : {1, 2, 3}) {
            int now = 0;  // one thread runs at a time
            for (int i = 0; i < 30; ++i) {
                if (i % 10 == 5) l->signal();
                if (i % 10 == 7) l->synchronize();
                e.with.add(l, [&] {
                    most[parallelism] = std::max(most[parallelism], ++now);
                    e.s.wait(e.s.spawn([] {}));
                    --now;
                });
            }
            l->submit({.parallelism = parallelism});
            l->wait();
        }
    }
    for (const int parallelism : {1, 2, 3}) {
        EXPECT_LE(most[parallelism], parallelism);
        if (GetParam() > 8) continue;
        EXPECT_EQ(most[parallelism], std::min(parallelism, GetParam() + 1));
    }
}

TEST_P(JobThreads, AsManyComeAsTheSubmissionAllows) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    // Each job waits for all others, before and behind a sync point: fewer threads would hang.
    const int threads = std::min(GetParam() + 1, 4);
    std::atomic<int> here{0};
    for (int round = 1; round <= 2; ++round) {
        for (int i = 0; i < threads; ++i) {
            e.with.add(l, [&here, threads, round] {
                ++here;
                until([&] { return here >= round * threads; });
            });
        }
        l->signal();
        l->synchronize();
    }
    l->submit({.parallelism = threads});
    l->wait();
    EXPECT_EQ(here, 2 * threads);
}

TEST_P(JobThreads, InlineIsTheSubmittingOneInOrderBeforeSubmitReturns) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    braid::job_list* after = e.lists.allocate();
    for (const bool in_task : {false, true}) {
        std::vector<int> order;
        std::vector<std::thread::id> threads;
        bool early = true;
        const auto submit = [&] {
            for (int i = 0; i < 10; ++i) {
                if (i == 3) l->signal();
                if (i == 6) l->synchronize();
                e.with.add(l, [&, i] {
                    order.push_back(i);
                    threads.push_back(std::this_thread::get_id());
                });
            }
            l->submit({.parallelism = job_submission::inline_run});
            EXPECT_EQ(order.size(), 10U);
            for (std::size_t i = 0; i < order.size(); ++i) {
                EXPECT_EQ(order[i], static_cast<int>(i));
                EXPECT_EQ(threads[i], std::this_thread::get_id());
            }
        };
        in_task ? e.s.wait(e.s.spawn(submit)) : submit();
        EXPECT_TRUE(l->is_submitted());
        // Nothing of it holds others back.
        e.with.add(after, [&] { early = order.size() != 10; });
        after->submit({.after = {l}});
        after->wait();
        EXPECT_FALSE(early);
        EXPECT_TRUE(l->try_wait());
        EXPECT_EQ(l->statistics().executed, 10U);
        EXPECT_EQ(l->statistics().syncs, 1U);
    }
    expect_all_ended(e.s);
}

TEST_P(JobThreads, InlineAfterAnotherListWaitsForIt) {
    engine e(options());
    braid::job_list* first = e.lists.allocate();
    braid::job_list* second = e.lists.allocate();
    for (int round = 0; round < 20; ++round) {
        int ran = 0;
        bool seen = false;
        e.with.add(first, [&ran] { ++ran; });
        e.with.add(first, [] { throw 1; });
        e.with.add(second, [&] { seen = ran == 1; });
        first->submit({.parallelism = 1});
        second->submit({.after = {first}, .parallelism = job_submission::inline_run});
        EXPECT_TRUE(seen);
        second->wait();
        EXPECT_THROW(first->wait(), int) << "its own failure comes to its own wait";
    }
}

TEST_P(JobThreads, OfAListAndItsSuccessorMayBeAnyMixture) {
    engine e(options());
    braid::job_list* first = e.lists.allocate();
    braid::job_list* second = e.lists.allocate();
    constexpr int ways[] = {job_submission::inline_run,
                            job_submission::automatic,
                            job_submission::cores,
                            job_submission::threads,
                            1,
                            2,
                            7};
    for (const int one : ways) {
        for (const int two : ways) {
            int written[20] = {};  // plain
            std::atomic<int> early{0};
            for (int& n : written) {
                e.with.add(first, [&n] {
                    std::this_thread::yield();
                    n = 1;
                });
            }
            for (int i = 0; i < 10; ++i) {
                e.with.add(second, [&] {
                    for (const int n : written) early += n != 1;
                });
            }
            first->submit({.parallelism = one});
            second->submit({.after = {first}, .parallelism = two});
            second->wait();
            EXPECT_EQ(early, 0) << one << " then " << two;
            first->wait();
        }
    }
}

TEST(JobCores, AreCountedOnceForAllTheirHardwareThreads) {
    braid::topology machine;
    EXPECT_EQ(braid::detail::count_cores(nullptr, 6), 6U) << "nobody knows";
    EXPECT_EQ(braid::detail::count_cores(&machine, 6), 6U) << "nobody knows";
    for (std::uint16_t i = 0; i < 8; ++i) {
        machine.processors[3 * i] = {.core = static_cast<std::uint16_t>(i / 2), .known = true};
    }
    EXPECT_EQ(braid::detail::count_cores(&machine, 8), 4U);
    EXPECT_EQ(braid::detail::count_cores(&machine, 3), 3U) << "the process may use fewer";
}

// ---- what a thread does that finds nothing, and after each job ----------------------------------

/// One worker, and a thread that watches: the order of events is the program's. (Where that thread
/// waits, a reserve may stand in for it.)
class JobOrder : public braid_test::job_list_test {
protected:
    /// A list of `outer` priority, "abc", whose first job submits one of `inner`, "xyz".
    std::string order_of(priority_level outer, priority_level inner) {
        engine e(options());
        braid::job_list* first = e.lists.allocate({.name = "outer", .priority = outer});
        braid::job_list* second = e.lists.allocate({.name = "inner", .priority = inner});
        std::string order;
        const auto add = [&](braid::job_list* l, char letter) {
            e.with.add(l, [&order, letter] { order += letter; });
        };
        for (const char letter : {'x', 'y', 'z'}) add(second, letter);
        e.with.add(first, [&] {
            order += 'a';
            second->submit({.parallelism = 1});
        });
        for (const char letter : {'b', 'c'}) add(first, letter);
        first->submit({.parallelism = 1});
        until([&] { return e.s.done(first->submission()) && e.s.done(second->submission()); });
        e.lists.wait_all();
        tasks_ = e.s.statistics().created;
        return order;
    }
    std::uint64_t tasks_ = 0;  // two submissions, and one each time that a list was left
};
INSTANTIATE_TEST_SUITE_P(Worker, JobOrder, testing::Values(1));

TEST_P(JobOrder, AfterEachJobAThreadLooksForSomethingHigher) {
    EXPECT_EQ(order_of(priority_level::normal, priority_level::high), "axyzbc");
    EXPECT_EQ(tasks_, 3U);
    EXPECT_EQ(order_of(priority_level::low, priority_level::high), "axyzbc");
    EXPECT_EQ(tasks_, 3U);
    EXPECT_EQ(order_of(priority_level::low, priority_level::normal), "axyzbc");
    EXPECT_EQ(tasks_, 3U);
}

TEST_P(JobOrder, ItGoesOnForWhatIsNotHigher) {
    EXPECT_EQ(order_of(priority_level::normal, priority_level::normal), "abcxyz");
    EXPECT_EQ(tasks_, 2U);
    EXPECT_EQ(order_of(priority_level::normal, priority_level::low), "abcxyz");
    EXPECT_EQ(tasks_, 2U);
    EXPECT_EQ(order_of(priority_level::low, priority_level::low), "abcxyz");
    EXPECT_EQ(tasks_, 2U);
}

TEST_P(JobOrder, AHighListIsRunThrough) {
    EXPECT_EQ(order_of(priority_level::high, priority_level::high), "abcxyz");
    EXPECT_EQ(tasks_, 2U);
    EXPECT_EQ(order_of(priority_level::high, priority_level::normal), "abcxyz");
    EXPECT_EQ(tasks_, 2U);
}

TEST_P(JobOrder, ALowListIsLeftWhenFurtherThreadsAreCalledIntoANormalOne) {
    engine e(options());
    braid::job_list* low = e.lists.allocate({.priority = priority_level::low});
    braid::job_list* normal = e.lists.allocate();
    std::string order;  // plain: the jobs that write follow each other
    std::atomic<bool> x_ran{false};
    // This thread holds the normal list's first job, and has called for one more thread.
    door worker_came, held;
    for (const char letter : {'a', 'b'}) {
        e.with.add(low, [&, letter] {
            order += letter;
            if (letter != 'a') return;
            held.open();
            worker_came.pass();
        });
    }
    e.with.add(normal, [&] { worker_came.open(); });
    e.with.add(normal, [&] { until([&] { return x_ran.load(); }); });
    e.with.add(normal, [&] {
        order += 'x';
        x_ran = true;
    });
    low->submit({.parallelism = 1});
    held.pass();
    normal->submit({.parallelism = 2});
    normal->wait();
    low->wait();
    EXPECT_EQ(order, "axb");
}

TEST_P(JobOrder, AThreadThatFindsASyncPointShutTakesAnotherListTheHigherOneFirst) {
    engine e(options());
    braid::job_list* stalled = e.lists.allocate({.name = "stalled"});
    braid::job_list* low = e.lists.allocate({.name = "low", .priority = priority_level::low});
    braid::job_list* equal = e.lists.allocate({.name = "equal"});
    std::string order;
    door submitted;
    braid::event over(e.s);
    e.with.add(equal, [&] { order += 'e'; });
    e.with.add(low, [&] { order += 'l'; });
    e.with.add(stalled, [&] {
        low->submit({.parallelism = 1});
        equal->submit({.parallelism = 1});
        submitted.open();
        // Both are run by the other thread, while this job holds the sync point shut.
        until([&] { return e.s.done(low->submission()); });
    });
    e.with.add(stalled, [&] { submitted.pass(); });
    stalled->signal();
    stalled->synchronize();
    e.with.add(stalled, [&] {
        order += 's';
        over.set();
    });
    stalled->submit({.parallelism = 2});
    e.s.work_until(over);
    e.lists.wait_all();
    EXPECT_EQ(order, "els");
    EXPECT_GE(stalled->statistics().stalls, 1U);
    EXPECT_EQ(equal->statistics().from_stalled, 1U);
    EXPECT_EQ(low->statistics().from_stalled, 0U) << "the thread came from the list between";
    EXPECT_EQ(low->statistics().stalls, 0U);
}

// ---- instruments --------------------------------------------------------------------------------

std::vector<std::uint64_t> run_with_seed(braid::scheduler_options o, std::uint64_t seed) {
    braid_test::seeded_chooser chooser(seed);
    o.chooser = &chooser;
    {
        braid::scheduler s(o);
        braid::job_list_manager lists(s);
        braid_test::jobs with;
        lists.register_job(&braid_test::jobs::call, "call");
        int before[2][6] = {};
        int early = 0, ran = 0;
        braid::job_list* two[] = {lists.allocate({.priority = priority_level::low}),
                                  lists.allocate()};
        for (std::size_t k = 0; k < 2; ++k) {
            for (int& n : before[k]) with.add(two[k], [&n] { n = 1; });
            two[k]->signal();
            with.add(two[k], [&ran] { ++ran; });
            two[k]->synchronize();
            for (int i = 0; i < 4; ++i) {
                with.add(two[k], [&, k] {
                    for (const int n : before[k]) early += n != 1;
                    ++ran;
                });
            }
            two[k]->submit({.parallelism = 3});
        }
        braid::job_list* here = lists.allocate();
        with.add(here, [&ran] { ++ran; });
        here->submit({.after = {two[0]}, .parallelism = job_submission::inline_run});
        lists.wait_all();
        EXPECT_EQ(early, 0) << "seed " << seed;
        EXPECT_EQ(ran, 11) << "seed " << seed;
        EXPECT_GE(s.statistics().created, 23U) << "a task for each job: the chooser's choice";
    }
    return chooser.log();
}

TEST_P(JobThreads, AreChosenByTheChooserAfterEachJob) {
    braid::scheduler_options o = options();
    o.max_workers = 2;
    if (GetParam() > 2) GTEST_SKIP() << "one thread at a time: more show nothing new";
    std::size_t different = 0;
    std::vector<std::uint64_t> last;
    for (std::uint64_t seed = 0; seed < scaled(100); ++seed) {
        const std::vector<std::uint64_t> log = run_with_seed(o, seed);
        EXPECT_EQ(log, run_with_seed(o, seed)) << "the same seed, the same run";
        different += log != last;
        last = log;
    }
    EXPECT_GT(different, scaled(100) / 2);
}

class names final : public braid::observer {
public:
    void on_event(const braid::task_event& e) override {
        if (e.kind == braid::event_kind::started && std::string(e.name) == "seen") ++started;
        if (e.kind == braid::event_kind::ended) ++ended;
    }
    std::atomic<int> started{0}, ended{0};
};

TEST_P(JobThreads, AnObserverSeesEachJobAsATaskOfTheListsName) {
    names seen;
    braid::scheduler_options o = options();
    o.observer = &seen;
    engine e(o);
    braid::job_list* l = e.lists.allocate({.name = "seen"});
    for (int i = 0; i < 10; ++i) l->add(&do_nothing, nullptr);
    l->submit({.parallelism = 1});
    l->wait();
    EXPECT_EQ(seen.started, 10);
    EXPECT_EQ(seen.ended, 10);
    std::atomic<int> ran{0};
    for (int i = 0; i < 3; ++i) l->add(&add_one, &ran);
    l->submit({.parallelism = job_submission::inline_run});
    EXPECT_EQ(ran, 3) << "but no other thread may go on with jobs that run inline";
    EXPECT_EQ(seen.started, 11);
}

}  // namespace
