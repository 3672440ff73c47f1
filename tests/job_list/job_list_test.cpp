// G6: filling, submitting, waiting; what is refused; failures and cancellation.
#include "job_list_fixture.hpp"
#include "quiet_rounds.hpp"

#include <braid/core/error.hpp>

#include <stdexcept>

namespace {

using braid_test::add_one;
using braid_test::comes_to_allocate_nothing;
using braid_test::do_nothing;
using braid_test::door;
using braid_test::scaled;
using braid_test::until;

BRAID_JOB_LIST_TEST(JobList);

// Told apart by their types, as in graph_test.cpp.
struct of_first {};
struct of_another {};

TEST_P(JobList, RunsEachJobOnceInEachSubmission) {
    engine e(options());
    braid::job_list* l = e.lists.allocate({.name = "counts"});
    ASSERT_NE(l, nullptr);
    std::vector<std::atomic<int>> ran(100);
    for (int round = 1; round <= 20; ++round) {
        for (auto& n : ran) ASSERT_TRUE(l->add(&add_one, &n));
        EXPECT_EQ(l->size(), 100U);
        ASSERT_TRUE(l->submit());
        l->wait();
        EXPECT_EQ(l->size(), 0U);
        for (auto& n : ran) ASSERT_EQ(n, round);
    }
}

TEST_P(JobList, TakesJobsInTheOrderInWhichTheyWereAdded) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    std::vector<int> order;  // plain: one thread at a time
    for (int i = 0; i < 50; ++i) e.with.add(l, [&order, i] { order.push_back(i); });
    l->submit({.parallelism = 1});
    l->wait();
    ASSERT_EQ(order.size(), 50U);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_P(JobList, IsSubmittedFromSubmitUntilItIsWaitedFor) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    EXPECT_FALSE(l->is_submitted());
    door go;
    e.with.add(l, [&] { go.pass(); });
    EXPECT_FALSE(l->is_submitted());
    const braid::task_id id = l->submit();
    EXPECT_TRUE(l->is_submitted());
    EXPECT_EQ(l->submission(), id);
    // Without workers the poll would run the job that is held.
    if (GetParam() != 0) {
        EXPECT_FALSE(l->try_wait()) << "its job is held";
    }
    go.open();
    e.s.wait(id);
    EXPECT_TRUE(l->is_submitted()) << "over, but not collected";
    EXPECT_TRUE(l->try_wait());
    EXPECT_FALSE(l->is_submitted());
    EXPECT_FALSE(l->submission());
    EXPECT_TRUE(l->try_wait()) << "there is nothing to wait for";
}

TEST_P(JobList, MayBeCollectedInTheNextFrame) {
    engine e(options());
    braid::job_list* two[] = {e.lists.allocate(), e.lists.allocate()};
    std::atomic<int> ran{0};
    for (int frame = 0; frame < 20; ++frame) {
        braid::job_list* l = two[frame % 2];
        for (int i = 0; i < 10; ++i) ASSERT_TRUE(l->add(&add_one, &ran));
        ASSERT_TRUE(l->submit());
        two[(frame + 1) % 2]->wait();
        EXPECT_GE(ran, 10 * frame);
    }
    e.lists.wait_all();
    EXPECT_EQ(ran, 200);
}

TEST_P(JobList, RefusesChangesFromSubmitToWaitAndLosesNothing) {
    engine e(strict());
    braid::job_list* l = e.lists.allocate();
    std::atomic<int> ran{0};
    for (int i = 0; i < 3; ++i) l->add(&add_one, &ran);
    l->submit();
    EXPECT_FALSE(l->add(&add_one, &ran));
    EXPECT_EQ(reported_.text, "a list takes jobs until it is submitted; wait() for it first");
    EXPECT_FALSE(l->signal());
    EXPECT_EQ(reported_.text,
              "a list takes sync points until it is submitted; wait() for it first");
    EXPECT_FALSE(l->synchronize());
    EXPECT_FALSE(l->submit());
    EXPECT_EQ(reported_.text, "wait() for the list before it is submitted again");
    l->clear();
    EXPECT_EQ(reported_.text, "wait() takes the jobs out of a list that is submitted");
    EXPECT_EQ(reported_.count, 5);
    l->wait();
    EXPECT_EQ(ran, 3);
    EXPECT_EQ(l->statistics().executed, 3U);
    EXPECT_TRUE(l->add(&add_one, &ran));
}

TEST_P(JobList, RefusesFunctionsThatAreNotRegistered) {
    engine e(strict());
    braid::job_list* l = e.lists.allocate();
    constexpr braid::job_function unknown = [](void*) {};
    EXPECT_FALSE(l->add(unknown, nullptr));
    EXPECT_EQ(reported_.text,
              "register_job() gives the function a name, before it is added to a list");
    EXPECT_FALSE(l->add(nullptr, nullptr));
    EXPECT_TRUE(l->add(&do_nothing, nullptr));
    EXPECT_FALSE(l->add(unknown, nullptr)) << "also behind one that is";
    EXPECT_FALSE(l->add(nullptr, nullptr));
    EXPECT_EQ(reported_.count, 4);
    EXPECT_EQ(l->size(), 1U);
    EXPECT_TRUE(e.lists.register_job(unknown, "known now"));
    EXPECT_TRUE(l->add(unknown, nullptr));
    l->submit();
    l->wait();
    EXPECT_EQ(l->statistics().executed, 2U);
}

TEST_P(JobList, WhenFullRefusesAndNamesTheFunctionsThatFillIt) {
    engine e(strict());
    braid::job_list* l = e.lists.allocate({.name = "front end", .max_jobs = 10});
    std::atomic<int> ran{0};
    for (int round = 1; round <= 2; ++round) {
        for (int i = 0; i < 10; ++i) {
            EXPECT_TRUE(i % 3 == 0 ? l->add(&do_nothing, nullptr) : l->add(&add_one, &ran));
        }
        reported_ = {};
        EXPECT_FALSE(l->add(&add_one, &ran));
        EXPECT_EQ(reported_.text,
                  "job list 'front end' is full, with 10 jobs: 6 add one, 4 do nothing; raise "
                  "max_jobs");
        EXPECT_FALSE(l->add(&do_nothing, nullptr));
        EXPECT_EQ(reported_.count, 1) << "once in a submission";
        l->submit();
        l->wait();
        EXPECT_EQ(ran, 6 * round) << "those that found room";
    }
}

template <std::size_t N>
void one_of_many(void*) {}

TEST_P(JobList, WhenFullNamesAtMostEightFunctions) {
    engine e(strict());
    [&]<std::size_t... N>(std::index_sequence<N...>) {
        braid::job_list* l = e.lists.allocate({.name = "many", .max_jobs = sizeof...(N)});
        (e.lists.register_job(&one_of_many<N>, "one of many"), ...);
        reported_ = {};
        EXPECT_TRUE((l->add(&one_of_many<N>, nullptr) && ...));
        EXPECT_FALSE(l->add(&do_nothing, nullptr));
        std::size_t named = 0;
        for (std::size_t at = 0;
             (at = reported_.text.find("1 one of many", at)) != std::string::npos; ++at) {
            ++named;
        }
        EXPECT_EQ(named, 8U) << reported_.text;
        l->submit();
        l->wait();
    }(std::make_index_sequence<12>());
}

TEST_P(JobList, MoreSyncPointsThanItHasRoomForAreRefusedAndSoIsTheSubmission) {
    engine e(strict());
    braid::job_list* l = e.lists.allocate({.name = "back end", .max_syncs = 2});
    std::atomic<int> ran{0};
    const auto fill = [&](int syncs) {
        for (int i = 0; i < syncs; ++i) {
            EXPECT_TRUE(l->add(&add_one, &ran));
            EXPECT_TRUE(l->signal());
            EXPECT_TRUE(l->synchronize());
        }
    };
    fill(2);
    EXPECT_FALSE(l->signal());
    EXPECT_EQ(reported_.text,
              "job list 'back end' is full, with 2 sync points: 2 add one; raise max_syncs");
    EXPECT_FALSE(l->synchronize()) << "it has no signal";
    EXPECT_EQ(reported_.count, 1) << "one mistake, one report";
    l->add(&add_one, &ran);
    EXPECT_FALSE(l->submit()) << "the last job would start early";
    EXPECT_EQ(reported_.text, "a sync point is missing, it was refused; raise max_syncs");
    l->clear();
    EXPECT_EQ(l->size(), 0U);
    fill(2);
    EXPECT_TRUE(l->submit());
    l->wait();
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(l->statistics().syncs, 2U);
}

TEST_P(JobList, WaitingForWhatIsNotSubmittedReturnsAtOnce) {
    engine e(strict());
    braid::job_list* l = e.lists.allocate();
    l->wait();
    e.lists.wait_all();
    EXPECT_EQ(reported_.count, 0) << "there is nothing to wait for";
    std::atomic<int> ran{0};
    l->add(&add_one, &ran);
    l->wait();
    EXPECT_EQ(reported_.text, "submit() comes before wait(); nobody runs these jobs");
    EXPECT_TRUE(l->try_wait());
    EXPECT_EQ(reported_.count, 2);
    EXPECT_EQ(l->size(), 1U) << "the job is still there";
    l->submit();
    l->wait();
    EXPECT_EQ(ran, 1);
}

TEST_P(JobList, StartsAfterTheListsThatItComesAfter) {
    engine e(options());
    braid::job_list* first = e.lists.allocate();
    braid::job_list* second = e.lists.allocate();
    braid::job_list* third = e.lists.allocate();
    for (int round = 0; round < 20; ++round) {
        int one[8] = {}, two[8] = {};  // plain: ThreadSanitizer is the judge of the order
        std::atomic<int> early{0};
        for (int& n : one) e.with.add(first, [&n] { n = 1; });
        for (int& n : two) e.with.add(second, [&n] { n = 1; });
        for (int i = 0; i < 8; ++i) {
            e.with.add(third, [&] {
                for (const int n : one) early += n != 1;
                for (const int n : two) early += n != 1;
            });
        }
        first->submit();
        second->submit();
        third->submit({.after = {first, second}});
        third->wait();
        EXPECT_EQ(early, 0);
        e.lists.wait_all();
    }
}

TEST_P(JobList, StartsAfterEachOfTheEightListsThatItMayComeAfter) {
    engine e(options());
    braid::job_list* before[8];
    for (braid::job_list*& one : before) one = e.lists.allocate();
    braid::job_list* last = e.lists.allocate();
    std::atomic<int> ran{0};
    int seen = 0;
    for (braid::job_list* one : before) {
        e.with.add(one, [&ran] { ++ran; });
        one->submit();
    }
    e.with.add(last, [&] { seen = ran; });
    last->submit({.after = {before[0], before[1], before[2], before[3], before[4], before[5],
                            before[6], before[7]}});
    last->wait();  // without workers it runs what is needed, and nothing else
    EXPECT_EQ(seen, 8);
    e.lists.wait_all();
}

TEST_P(JobList, CannotComeAfterOneThatWasNotSubmittedOrItself) {
    engine e(strict());
    braid::scheduler other_scheduler(options());
    braid::job_list_manager elsewhere(other_scheduler);
    braid::job_list* a = e.lists.allocate();
    braid::job_list* b = e.lists.allocate();
    std::atomic<int> ran{0};
    a->add(&add_one, &ran);
    b->add(&add_one, &ran);
    EXPECT_FALSE(b->submit({.after = {a}}));
    EXPECT_EQ(reported_.text, "submit the list that this one comes after first");
    reported_.text.clear();
    braid::job_list* only_syncs = e.lists.allocate();
    EXPECT_TRUE(only_syncs->signal() && only_syncs->synchronize());
    EXPECT_FALSE(b->submit({.after = {only_syncs}}));
    EXPECT_EQ(reported_.text, "submit the list that this one comes after first");
    only_syncs->clear();
    EXPECT_FALSE(b->submit({.after = {b}}));
    EXPECT_EQ(reported_.text, "a list cannot come after itself");
    EXPECT_FALSE(b->submit({.after = {elsewhere.allocate()}}));
    EXPECT_EQ(reported_.text, "lists in `after` must belong to the same scheduler");
    EXPECT_FALSE(b->submit({.after = {a, a, a, a, a, a, a, a, a}}));
    EXPECT_EQ(reported_.text, "a list comes after 8 others at most; chain them");
    EXPECT_FALSE(b->submit({.parallelism = -4}));
    EXPECT_EQ(reported_.text,
              "parallelism is a number of threads, or one of job_submission's names");
    EXPECT_EQ(reported_.count, 6);
    EXPECT_EQ(b->size(), 1U);
    a->submit();
    a->wait();
    EXPECT_TRUE(b->submit({.after = {a, nullptr}})) << "collected: it holds nobody back";
    b->wait();
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(reported_.count, 6);
}

TEST_P(JobList, PollingIsEnoughWithoutWorkersAndRunsOneLongJobATime) {
    if (GetParam() != 0) GTEST_SKIP() << "workers run the jobs";
    engine e(options());
    braid::job_list* before = e.lists.allocate();
    braid::job_list* l = e.lists.allocate();
    int ran = 0;
    for (int i = 0; i < 20; ++i) {
        e.with.add(i < 5 ? before : l, [&] {
            const std::int64_t until = braid::active_policy::now() + 60'000;
            while (braid::active_policy::now() < until) {
            }
            ++ran;
        });
    }
    before->submit();
    l->submit({.after = {before}});
    int polls = 0, most = 0;
    for (bool over = false; !over; ++polls) {
        const int then = ran;
        over = l->try_wait();
        most = std::max(most, ran - then);
    }
    EXPECT_EQ(ran, 20);
    EXPECT_EQ(most, 1) << "each takes longer than a poll helps";
    EXPECT_GE(polls, 20);
    EXPECT_TRUE(before->try_wait());
}

TEST_P(JobList, PollingInATaskOnTheOnlyThreadGetsToAnEnd) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    std::vector<std::atomic<int>> ran(100);
    for (int round = 1; round <= 5; ++round) {
        e.s.wait(e.s.spawn([&] {
            for (auto& n : ran) l->add(&add_one, &n);
            l->submit();
            while (!l->try_wait()) {
            }
        }));
        for (auto& n : ran) ASSERT_EQ(n, round);
    }
}

TEST_P(JobList, PollingInATaskOfTheMainThreadNeedsNoWorker) {
    // It left the jobs to the workers, which may all wait until this task is complete.
    if (GetParam() != 1) GTEST_SKIP() << "the one worker is held";
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    std::atomic<int> ran{0};
    std::atomic<bool> busy{false};
    door go;
    const auto held = e.s.spawn([&] {
        busy = true;
        go.pass();
    });
    braid_test::until([&] { return busy.load(); });
    e.s.wait(e.s.spawn({.on = e.s.this_thread()}, [&] {
        l->add(&add_one, &ran);
        l->submit();
        while (!l->try_wait()) {
        }
    }));
    go.open();
    e.s.wait(held);
    EXPECT_EQ(ran, 1);
}

TEST_P(JobList, WithoutJobsOrdersOthersAllTheSame) {
    if (GetParam() == 0) GTEST_SKIP() << "who waits would run the job that is held";
    engine e(options());
    braid::job_list* a = e.lists.allocate();
    braid::job_list* nothing = e.lists.allocate();
    braid::job_list* b = e.lists.allocate();
    door go;
    bool over = false, seen = false;
    e.with.add(a, [&] {
        go.pass();
        over = true;
    });
    e.with.add(b, [&] { seen = over; });
    a->submit();
    nothing->submit({.after = {a}});
    b->submit({.after = {nothing}});
    EXPECT_FALSE(nothing->try_wait());
    EXPECT_FALSE(b->try_wait());
    go.open();
    b->wait();
    EXPECT_TRUE(seen);
}

TEST_P(JobList, ResubmittedManyTimesKeepsItsOrderWithAnother) {
    engine e(options());
    braid::job_list* two[] = {e.lists.allocate(), e.lists.allocate()};
    int next = 0;  // plain: the submissions follow each other
    std::atomic<int> wrong{0};
    for (int i = 0; i < 60; ++i) {
        braid::job_list* own = two[i % 2];
        braid::job_list* other = two[(i + 1) % 2];
        // The later one first: then who waits would run it first, if it were not held back.
        if (i % 4 == 3) e.s.wait(other->submission());
        own->wait();  // its submission before the other's, which may still run
        e.with.add(own, [&next, &wrong, i] { wrong += next++ != i; });
        ASSERT_TRUE(own->submit({.after = {other}, .parallelism = i % 5}));
    }
    e.lists.wait_all();
    EXPECT_EQ(next, 60);
    EXPECT_EQ(wrong, 0);
}

TEST_P(JobList, IsOverOnlyWhenNoThreadLooksAtItAnyMore) {
    engine e(options());
    for (std::size_t round = 0; round < scaled(300); ++round) {
        braid::job_list* l = e.lists.allocate({.max_jobs = 3, .max_syncs = 1});
        l->add(&do_nothing, nullptr);
        l->add(&do_nothing, nullptr);
        l->signal();
        l->synchronize();
        l->add(&do_nothing, nullptr);
        l->submit({.parallelism = 8});
        if (round % 2 == 0) l->wait();
        e.lists.free(l);
        // Also those that came late and found nothing.
        const braid::scheduler_statistics sum = e.s.statistics();
        ASSERT_EQ(sum.created, sum.ended());
    }
}

TEST_P(JobList, AJobThatThrowsStopsNoOtherAndTheFirstAddedIsThrown) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    braid::job_list* later = e.lists.allocate();
    for (const int parallelism : {-1, 0, 1, 3}) {
        std::atomic<int> ran{0}, after{0};
        for (int i = 0; i < 30; ++i) {
            e.with.add(l, [&ran, i] {
                ++ran;
                if (i == 7) throw of_first();
                if (i == 8 || i == 29) throw of_another();
            });
        }
        later->add(&add_one, &after);
        l->submit({.parallelism = parallelism});
        later->submit({.after = {l}});
        later->wait();
        EXPECT_EQ(after, 1) << "it comes after, however that ended";
        EXPECT_THROW(l->wait(), of_first) << "parallelism " << parallelism;
        EXPECT_EQ(ran, 30);
        EXPECT_FALSE(l->is_submitted());
        EXPECT_EQ(l->statistics().executed, 30U);
        l->add(&add_one, &ran);
        l->submit();
        l->wait();  // starts afresh
        EXPECT_EQ(ran, 31);
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 8U) << "two of three each time";
}

TEST_P(JobList, TryWaitThrowsAsWell) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    e.with.add(l, [] { throw of_first(); });
    l->submit({.parallelism = braid::job_submission::inline_run});
    EXPECT_THROW(l->try_wait(), of_first);
    EXPECT_FALSE(l->is_submitted());
}

TEST_P(JobList, AFailureThatNobodyWaitedForGoesToTheHandlerWhenItIsFreed) {
    {
        engine e(options());
        braid::job_list* l = e.lists.allocate();
        e.with.add(l, [] { throw std::runtime_error("nobody"); });
        l->submit();
        e.lists.free(l);
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost, "call"), 1U) << "by the job's name";
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 1U);
}

TEST_P(JobList, WaitAllCollectsAllAndThrowsTheFirstInTheOrderOfIds) {
    {
        engine e(options());
        braid::job_list* second = e.lists.allocate({.id = 20});
        braid::job_list* first = e.lists.allocate({.id = 10});
        std::atomic<int> ran{0};
        e.with.add(second, [] { throw of_another(); });
        e.with.add(first, [] { throw of_first(); });
        for (braid::job_list* l : {second, first}) {
            l->add(&add_one, &ran);
            l->submit();
        }
        EXPECT_THROW(e.lists.wait_all(), of_first);
        EXPECT_FALSE(first->is_submitted());
        EXPECT_FALSE(second->is_submitted());
        EXPECT_EQ(ran, 2);
    }
    // The thread that drops the failure last calls the handler: one that is on its way out,
    // perhaps.
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 1U) << "the other one";
}

TEST_P(JobList, JobsThatHaveNotStartedWhenTheirScopeIsCancelledAreCancelled) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    for (const int parallelism : {0, 1, 4}) {
        braid::scope level(e.s);
        std::atomic<int> ran{0};
        e.s.wait(level.spawn({}, [&] {
            e.with.add(l, [&] {
                ++ran;
                level.cancel();
            });
            l->signal();
            l->synchronize();
            for (int i = 0; i < 9; ++i) l->add(&add_one, &ran);
            l->submit({.parallelism = parallelism});
        }));
        EXPECT_THROW(l->wait(), braid::task_cancelled);
        level.wait();
        EXPECT_EQ(ran, 1);
        EXPECT_EQ(l->statistics().executed, 1U);
        EXPECT_EQ(l->statistics().cancelled, 9U);
        EXPECT_EQ(level.account().created,
                  level.account().executed + level.account().failed + level.account().cancelled);
    }
}

TEST_P(JobList, WhatIsDiscardedWithTheSchedulersWorkIsCancelled) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    braid::job_list* after = e.lists.allocate();
    door go;
    std::atomic<int> ran{0};
    e.with.add(l, [&] {
        ++ran;
        go.pass();
    });
    l->signal();
    l->synchronize();
    for (int i = 0; i < 9; ++i) l->add(&add_one, &ran);
    after->add(&add_one, &ran);
    l->submit();
    after->submit({.after = {l}});
    if (GetParam() != 0) until([&] { return ran == 1; });
    std::thread shutting([&] { e.s.shut_down(braid::shutdown::discard); });
    if (GetParam() != 0) {
        // It has begun when nothing is taken in any more.
        until([&] { return !e.s.spawn([] {}); });
    }
    go.open();
    shutting.join();
    EXPECT_THROW(l->wait(), braid::task_cancelled);
    EXPECT_THROW(after->wait(), braid::task_cancelled);
    EXPECT_EQ(ran, GetParam() != 0 ? 1 : 0);
    EXPECT_EQ(after->statistics().cancelled, 1U);
    after->add(&add_one, &ran);
    EXPECT_FALSE(after->submit());
    EXPECT_FALSE(after->submit({.parallelism = braid::job_submission::inline_run}));
    EXPECT_EQ(after->size(), 1U);
}

TEST_P(JobList, JobsSpawnWaitAndJoinAsPartsOfTheSubmission) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    for (const int parallelism : {-1, 0, 2}) {
        std::atomic<int> children{0}, wrong{0}, here{0};
        const int together = parallelism == 0 || GetParam() == 0 ? 1 : 2;
        std::vector<braid::task_id> ids(20);
        for (braid::task_id& id : ids) {
            e.with.add(l, [&] {
                id = braid::this_task::id();
                // The first two at once: by the submission's own task, and by one that joins in.
                ++here;
                until([&] { return here >= together; });
                e.s.spawn({.parent = id}, [&children] { ++children; });
                int sum = 0;
                e.s.wait(e.s.spawn([&sum] { sum = 1; }));
                wrong += sum != 1;
                int left = 0, right = 0;
                braid::join([&] { left = 1; }, [&] { right = 1; });
                wrong += left + right != 2;
            });
        }
        const braid::task_id submitted = l->submit({.parallelism = parallelism});
        e.s.wait(submitted);
        EXPECT_EQ(children, 20) << "not over before the children";
        l->wait();
        EXPECT_EQ(wrong, 0);
        for (const braid::task_id id : ids) EXPECT_EQ(id, submitted);
    }
}

TEST_P(JobList, AJobMayFillSubmitAndWaitForOtherLists) {
    engine e(options());
    braid::job_list* outer = e.lists.allocate();
    std::atomic<int> ran{0};
    for (int i = 0; i < 8; ++i) {
        braid::job_list* own = e.lists.allocate();
        e.with.add(outer, [&ran, own] {
            for (int round = 0; round < 5; ++round) {
                for (int n = 0; n < 10; ++n) own->add(&add_one, &ran);
                own->submit({.parallelism = round - 1});
                own->wait();
            }
        });
    }
    outer->submit();
    outer->wait();
    EXPECT_EQ(ran, 400);
}

TEST_P(JobList, AJobCannotWaitForItsOwnList) {
    engine e(strict());
    braid::job_list* l = e.lists.allocate();
    e.with.add(l, [l] { l->wait(); });
    l->submit();
    l->wait();
    EXPECT_EQ(reported_.count, 1);
    EXPECT_EQ(reported_.text.find("a task cannot wait for itself"), 0U) << reported_.text;
    EXPECT_FALSE(l->is_submitted());
}

TEST_P(JobList, ForeignThreadsOwnListsToo) {
    engine e(options());
    std::atomic<int> ran{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        braid::job_list* l = e.lists.allocate();
        threads.emplace_back([&ran, l, i] {
            for (int round = 0; round < 20; ++round) {
                for (int n = 0; n < 5; ++n) l->add(&add_one, &ran);
                l->submit({.parallelism = i - 1});
                l->wait();
            }
        });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(ran, 300);
}

TEST_P(JobList, AllocatesNothingOnceItHasRun) {
    engine e(options());
    braid::job_list* a = e.lists.allocate();
    braid::job_list* b = e.lists.allocate();
    std::atomic<int> ran{0};
    const auto frame = [&] {
        for (braid::job_list* l : {a, b}) {
            for (int i = 0; i < 20; ++i) l->add(&add_one, &ran);
            l->signal();
            l->add(&do_nothing, nullptr);
            l->synchronize();
            for (int i = 0; i < 20; ++i) l->add(&add_one, &ran);
        }
        a->submit();
        b->submit({.after = {a}});
        e.lists.wait_all();
    };
    EXPECT_TRUE(comes_to_allocate_nothing(e.s, frame));
}

TEST_P(JobList, ASubmissionLeavesNoTaskBehind) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    const std::size_t rounds = scaled(20'000);
    const auto bytes = [&e] {
        return e.s.bytes(braid::memory_tag::slot) + e.s.bytes(braid::memory_tag::detail);
    };
    const std::size_t before = bytes();
    for (std::size_t i = 0; i < rounds; ++i) {
        l->add(&do_nothing, nullptr);
        l->submit({.parallelism = static_cast<int>(i % 2)});
        l->wait();
    }
    EXPECT_LT(bytes() - before, rounds * 64) << "half a slot for each";
}

}  // namespace
