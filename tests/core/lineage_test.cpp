// What is left of the defect table of the five designs (docs/design/lineage.md): rows that are
// about several parts at once.
#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>
#include <memory>

namespace {

using braid_test::door;

BRAID_SCHEDULER_TEST(Lineage);

TEST_P(Lineage, ResultsInSpawnOrderAreTheSameWhicheverThreadRanThem) {
    // L7: results were gathered in worker order. Here each task writes its own place.
    braid::scheduler s(options());
    std::vector<std::uint64_t> results(500);
    s.wait(s.spawn_batch({}, results.size(), [&results](std::size_t i) { results[i] = i * i; }));
    std::uint64_t hash = 0;
    for (const std::uint64_t r : results) hash = hash * 31 + r;
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < results.size(); ++i) expected = expected * 31 + i * i;
    EXPECT_EQ(hash, expected);
}

TEST_P(Lineage, AllTasksOnOneSeatOverflowNothing) {
    // L5: lists for each thread overflowed when scheduling put everything on one of them.
    braid::scheduler_options o = options();
    o.ring = 2;
    braid::scheduler s(o);
    const braid::thread_ref here = s.this_thread();
    std::atomic<int> ran{0};
    std::vector<braid::task_id> ids;
    for (int i = 0; i < 500; ++i) ids.push_back(s.spawn({.on = here}, [&ran] { ++ran; }));
    s.wait(s.spawn({.after_all = ids}, braid::empty));
    EXPECT_EQ(ran, 500);
}

TEST_P(Lineage, TasksAreAddedToARunningFrameAndByTwoThreadsAtOnce) {
    // L8, L9: the graph was frozen at submission; a second submitter corrupted it.
    braid::scheduler s(options());
    auto frame = s.begin({}, braid::empty);
    std::atomic<int> ran{0};
    std::vector<std::thread> submitters;
    for (int t = 0; t < 2; ++t) {
        submitters.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                s.spawn({.parent = frame.id()},
                        [&](braid::task_context& task) { task.spawn_child([&ran] { ++ran; }); });
            }
        });
    }
    for (std::thread& t : submitters) t.join();
    s.wait(frame.finish());
    EXPECT_EQ(ran, 400);
}

TEST_P(Lineage, AWaitUsesNoProcessorWhileNothingIsReady) {
    // D10, H9: a wait that burns a core. Here all threads sleep, and the waiter once only.
    braid::scheduler_options o = options();
    o.idle = braid::parking::power;
    braid::scheduler s(o);
    const braid::detail::runtime& rt = s.internals();
    const unsigned waiter = s.this_thread().seat;
    const auto parks = [&](unsigned seat) { return rt.seat_at(seat).report.counters.parks.load(); };
    const std::uint64_t before = parks(waiter);
    auto open = s.begin({}, braid::empty);
    std::thread opener([&] {
        const unsigned seats = 1 + s.worker_count();
        for (unsigned i = 0; i < seats; ++i) {
            const unsigned seat = i == 0 ? waiter : s.worker_thread(i - 1).seat;
            const std::uint64_t of_waiter = i == 0 ? before : 0;
            braid_test::until(
                [&] { return parks(seat) > of_waiter && rt.seat_at(seat).at_rest.load(); });
        }
        open.finish();
    });
    EXPECT_TRUE(s.wait_for(open.id(), braid_test::hang_limit));
    opener.join();
    EXPECT_EQ(parks(waiter), before + 1);
}

TEST_P(Lineage, TenResubmissionsEachWaitForTheirOwnGeneration) {
    // D9: a list submitted again was waited for in the wrong generation. D11: a wait between add
    // and submit.
    braid::scheduler s(options());
    int generation = 0;
    for (int i = 1; i <= 10; ++i) {
        auto list = s.begin({}, braid::empty);
        auto gate = s.begin({}, braid::empty);
        list.add_child({.after = {gate.id()}}, [&generation, i] { generation = i; });
        EXPECT_FALSE(s.wait_for(list.id(), braid::nanoseconds{0}));
        gate.finish();
        s.wait(list.finish());
        ASSERT_EQ(generation, i);
    }
}

TEST_P(Lineage, AThrowingTaskDoesNotEndTheProgramQuietly) {
    // D13: a job that threw ended the process with exit code 0.
    std::atomic<int> after{0};
    {
        braid::scheduler s(options());
        s.post({.name = "first"}, [] { throw std::runtime_error("planned"); });
        for (int i = 0; i < 10; ++i) s.post([&after] { ++after; });
    }
    EXPECT_EQ(after, 10);
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost, "first"), 1U);
}

TEST_P(Lineage, ZeroWorkersWithEveryCoreTakenByMainThreadsStillRun) {
    // B3: 0 workers when the main threads fill the machine.
    braid::scheduler_options o = options();
    o.workers = braid::scheduler_options::automatic;
    o.max_workers = braid::scheduler_options::automatic;
    o.main_threads = 1'000;
    braid::scheduler s(o);
    EXPECT_EQ(s.worker_count(), 0U);
    std::atomic<int> ran{0};
    s.wait(s.spawn_batch({}, 100, [&ran](std::size_t) { ++ran; }));
    EXPECT_EQ(ran, 100);
}

TEST_P(Lineage, TasksOfEqualLevelStartInTheOrderInWhichTheyWereStolen) {
    // B8: a heap is not first-in-first-out among equals.
    braid::scheduler_options o = options();
    o.workers = 1;
    braid::scheduler s(o);
    door busy;
    std::atomic<bool> started{false};
    s.post([&] {
        started = true;
        busy.pass();
    });
    braid_test::until([&] { return started.load(); });
    std::vector<int> order;
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) {
        s.post([&order, &ran, i] {
            order.push_back(i);
            ++ran;
        });
    }
    busy.open();
    // Not a wait of the scheduler's: that would give this thread's permit to a second one.
    braid_test::until([&] { return ran == 100; });
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(order.size(), 100U);
}

TEST_P(Lineage, APushWhileAWorkerFallsAsleepIsNeverLost) {
    // S5: the wake-up between the last look and the sleep. A thread that sleeps at once, and a
    // push at every moment of its falling asleep.
    if (GetParam() == 0) GTEST_SKIP() << "nobody to wake";
    braid::scheduler_options o = options();
    o.idle = braid::parking::power;
    braid::scheduler s(o);
    for (std::size_t i = 0; i < braid_test::scaled(3'000); ++i) {
        std::atomic<bool> ran{false};
        s.post([&ran] { ran = true; });
        for (std::size_t n = 0; n < i % 128; ++n) braid::system_policy::relax();
        braid_test::until([&] { return ran.load(); });
    }
}

TEST_P(Lineage, EachChildIsOneDeeperThanItsParent) {
    // The jump pointers of the ancestor test count on it, and 16 bits hold 65,535 of them.
    braid::scheduler s(options());
    const auto& rt = s.internals();
    std::atomic<int> wrong{0};
    const auto depth = [&](braid::task_id id) { return rt.slots.at(id).depth.load(); };
    s.wait(s.spawn([&](braid::task_context& task) {
        const braid::task_id parent = task.id();
        task.spawn_child([&, parent](braid::task_context& child) {
            wrong += depth(child.id()) != depth(parent) + 1;
            child.spawn_child([&, own = child.id()](braid::task_context& inner) {
                wrong += depth(inner.id()) != depth(own) + 1;
            });
        });
    }));
    EXPECT_EQ(wrong, 0);
}

}  // namespace
