// C21: the end, from any thread, with work in flight.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include "core/control/runtime.hpp"

#include <memory>

namespace {

using braid_test::door;

BRAID_SCHEDULER_TEST(Shutdown);

// A thread that was joined is listed for a moment longer, so a count may have one of the test
// before this in it. What is left behind for good is for the fixture to find.

TEST_P(Shutdown, CreatePushDestroyRunsEverythingEachTime) {
    // H8, S2: there was no shutdown; leftovers died after the join, or raced with the destructor.
    const std::size_t rounds = GetParam() > 8 ? 10 : braid_test::scaled(200);
    std::atomic<std::size_t> ran{0};
    for (std::size_t i = 0; i < rounds; ++i) {
        braid::scheduler s(options());
        for (std::size_t n = 0; n < i % 20; ++n) s.post([&ran] { ++ran; });
    }
    std::size_t expected = 0;
    for (std::size_t i = 0; i < rounds; ++i) expected += i % 20;
    EXPECT_EQ(ran, expected);
}

TEST_P(Shutdown, OfAnIdleSchedulerEndsWhileItsThreadsFallAsleep) {
    // S5: the wake-up at the end was lost between the last look and the sleep.
    const int rounds = GetParam() > 8 ? 10 : 100;
    for (int i = 0; i < rounds; ++i) {
        braid::scheduler_options o = options();
        o.idle = i % 2 == 0 ? braid::parking::power : braid::parking::latency;
        braid::scheduler s(o);
        if (i % 3 == 0) s.wait(s.spawn([] {}));
    }
}

TEST_P(Shutdown, DrainRunsWhatTasksStillSpawn) {
    std::atomic<int> ran{0};
    {
        braid::scheduler s(options());
        struct spawner {
            std::atomic<int>& ran;
            int left;
            void operator()(braid::task_context& task) const {
                ++ran;
                if (left != 0) task.spawn(spawner{ran, left - 1});
            }
        };
        for (int i = 0; i < 10; ++i) s.spawn(spawner{ran, 99});
        s.shut_down(braid::shutdown::drain);
        EXPECT_EQ(ran, 1000);
        expect_all_ended(s);
    }
}

TEST_P(Shutdown, DiscardRunsNothingNewAndAccountsForEachTask) {
    // S3, S2: pending tasks vanished without a word.
    std::atomic<int> ran{0};
    std::atomic<int> final_ran{0};
    auto captured = std::make_shared<int>(0);
    const std::weak_ptr<int> seen = captured;
    {
        braid::scheduler s(options());
        auto gate = s.begin({}, braid::empty);
        const auto first = s.spawn({.after = {gate.id()}}, [&ran, captured] { ++ran; });
        for (int i = 0; i < 99; ++i) {
            s.spawn({.after = {gate.id()}}, [&ran, captured] { ++ran; });
        }
        s.spawn({.after_any = {first}}, [&final_ran] { ++final_ran; });
        captured.reset();
        std::thread ends([&s] { s.shut_down(braid::shutdown::discard); });
        braid_test::until([&s] { return !s.spawn([] {}); });
        gate.finish();
        ends.join();
        EXPECT_EQ(ran, 0);
        EXPECT_EQ(final_ran, 1) << "a final task runs in a discarding shutdown too";
        EXPECT_TRUE(seen.expired()) << "captures of discarded tasks are destroyed";
        EXPECT_GE(s.statistics().cancelled, 100U);
        expect_all_ended(s);
    }
}

TEST_P(Shutdown, DiscardInTheMiddleOfWorkLosesCountOfNothing) {
    // L11: quit in the middle of a batch.
    for (int round = 0; round < 20; ++round) {
        braid::scheduler s(options());
        std::atomic<std::uint64_t> ran{0};
        s.spawn_batch({}, 500, [&ran](std::size_t) { ++ran; });
        for (int i = 0; i < 100; ++i) s.post([&ran] { ++ran; });
        braid_test::until(
            [&] { return GetParam() == 0 || ran > static_cast<std::uint64_t>(round); });
        s.shut_down(braid::shutdown::discard);
        const braid::scheduler_statistics sum = s.statistics();
        ASSERT_EQ(sum.created, sum.ended());
    }
}

TEST_P(Shutdown, DiscardThatWaitsForATaskNamesTheEventThatNobodyIsLeftToSet) {
    braid::scheduler_options o = options();
    o.deadlock.after = braid::milliseconds(1);
    braid::scheduler s(o);
    braid::event loaded(s, "loaded");
    std::atomic<bool> entered{false};
    const braid::task_id id = s.spawn({.name = "waits"}, [&] {
        entered = true;
        s.do_work_while_waiting_for(loaded);
    });
    std::thread runs([&] { s.wait(id); });
    braid_test::until([&] { return entered.load(); });
    std::thread outside([&] {
        braid_test::until([&] {
            return notes_.count(&braid_test::recorder::log,
                                "'waits' waits for the event 'loaded'") != 0;
        });
        loaded.set();
    });
    s.shut_down(braid::shutdown::discard);
    outside.join();
    runs.join();
    expect_all_ended(s);
}

TEST_P(Shutdown, APushAfterwardsIsRefusedWithAnError) {
    // S7: a push after the end was ignored.
    braid::scheduler s(options());
    s.shut_down();
    EXPECT_FALSE(s.spawn({.name = "late"}, [] { FAIL(); }));
    EXPECT_FALSE(s.spawn({}, braid::empty));
    EXPECT_FALSE(s.spawn_batch({}, 3, [](std::size_t) { FAIL(); }));
    EXPECT_FALSE(s.try_post([](void*) { FAIL(); }, nullptr));
    EXPECT_FALSE(s.post([] { FAIL(); }));
    EXPECT_FALSE(s.post({.priority = braid::priority_level::high}, [] { FAIL(); }));
    braid::scope level(s);
    EXPECT_FALSE(level.post([] { FAIL(); }));
    auto builder = s.begin({}, [] { FAIL(); });
    EXPECT_FALSE(builder.id());
    EXPECT_FALSE(builder.add_child([] { FAIL(); }));
    EXPECT_FALSE(builder.finish());
    EXPECT_GE(s.statistics().refused, 5U);
    EXPECT_GE(notes_.count(&braid_test::recorder::log, "late"), 1U);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 0U);
}

TEST_P(Shutdown, FromOneOfItsOwnTasksBegins) {
    std::atomic<int> ran{0};
    std::atomic<bool> begun{false};
    {
        braid::scheduler s(options());
        for (int i = 0; i < 10; ++i) s.post([&ran] { ++ran; });
        s.post([&] {
            s.shut_down();
            begun = true;
        });
        for (int i = 0; i < 10; ++i) s.post([&ran] { ++ran; });
    }
    EXPECT_TRUE(begun);
    EXPECT_GE(ran, 10);
    EXPECT_EQ(static_cast<std::size_t>(20 - ran.load()), notes_.log.size())
        << "each that did not run was refused with an error";
}

TEST_P(Shutdown, TwiceAndFromTwoThreadsIsFine) {
    std::atomic<int> ran{0};
    braid::scheduler s(options());
    for (int i = 0; i < 100; ++i) s.post([&ran] { ++ran; });
    std::thread other([&s] { s.shut_down(); });
    s.shut_down();
    other.join();
    s.shut_down(braid::shutdown::discard);
    EXPECT_EQ(ran, 100);
}

TEST_P(Shutdown, FromAForeignThreadWhileTheMainThreadWaits) {
    // L11: a wait ignored the shutdown and slept on.
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    const auto id = s.spawn({.after = {gate.id()}}, [] {});
    std::thread foreign([&] {
        std::thread ends([&s] { s.shut_down(braid::shutdown::discard); });
        braid_test::until([&s] { return !s.spawn([] {}); });
        gate.finish();
        ends.join();
    });
    EXPECT_THROW(
        {
            s.wait(id);
            throw braid::task_cancelled{};  // it had ended before the wait began
        },
        braid::task_cancelled);
    foreign.join();
}

TEST_P(Shutdown, DestructionFromATaskOfItsOwnEndsEverything) {
    // S2: a pool that joins itself.
    std::atomic<int> ran{0};
    const bool own_threads = GetParam() != 0;
    const std::size_t threads = braid_test::thread_count();
    const int rounds = GetParam() > 8 ? 2 : 10;
    for (int round = 0; round < rounds; ++round) {
        std::atomic<bool> gone{false};
        auto* s = new braid::scheduler(options());
        for (int i = 0; i < 10; ++i) s->post([&ran] { ++ran; });
        door spawned;
        const auto end = s->spawn([s, &gone, &spawned] {
            spawned.pass();  // nobody is inside a call any more, but for a wait that runs this
            delete s;
            gone = true;
        });
        spawned.open();
        // Without workers only a wait runs it: the scheduler then goes while this thread waits.
        if (!own_threads) s->wait(end);
        braid_test::until([&] { return gone.load(); });
        // The rest of the teardown is on a thread of its own.
        braid_test::until(
            [&] { return memory_.live == 0 && braid_test::thread_count() <= threads; });
    }
    EXPECT_EQ(ran, rounds * 10);
}

TEST_P(Shutdown, DestructionFromATaskThatWaitsUntilItsPostHasReturnedTouchesNothingAfterwards) {
    // A post() that has made its task visible still looks for a thread to wake.
    if (GetParam() == 0) GTEST_SKIP() << "needs a worker";
    const std::size_t threads = braid_test::thread_count();
    const int rounds = GetParam() > 8 ? 5 : 60;
    for (int round = 0; round < rounds; ++round) {
        auto* s = new braid::scheduler(options());
        auto* posted = new braid::event(*s);
        EXPECT_TRUE(s->post([s, posted] {
            s->do_work_while_waiting_for(*posted);
            delete posted;
            delete s;
        }));
        posted->set();
        braid_test::until(
            [&] { return memory_.live == 0 && braid_test::thread_count() <= threads; });
    }
}

TEST_P(Shutdown, DestructionFromAWorkersTaskLetsTheOwnerOutOfItsWaitFirst) {
    // The memory went while the owner's thread was on the last steps of the wait that it ended.
    if (GetParam() == 0) GTEST_SKIP() << "needs a worker";
    const std::size_t threads = braid_test::thread_count();
    const int rounds = GetParam() > 8 ? 5 : 60;
    for (int round = 0; round < rounds; ++round) {
        auto* s = new braid::scheduler(options());
        const braid::detail::runtime& rt = s->internals();
        door spawned;
        const auto end = s->spawn([s, &rt, &spawned] {
            spawned.pass();
            const auto& owner = rt.seat_at(0);
            braid_test::until([&] { return owner.inside.load(std::memory_order_acquire); });
            delete s;
        });
        spawned.open();
        s->wait(end, braid::help::none);
        braid_test::until(
            [&] { return memory_.live == 0 && braid_test::thread_count() <= threads; });
    }
}

TEST_P(Shutdown, WaitsOfTasksEndBeforeIt) {
    std::atomic<int> ran{0};
    {
        braid::scheduler s(options());
        for (int i = 0; i < 20; ++i) {
            s.post([&](braid::task_context& task) {
                task.wait(task.spawn([&ran] { ++ran; }));
                ++ran;
            });
        }
    }
    EXPECT_EQ(ran, 40);
}

TEST_P(Shutdown, WhenNoThreadCanBeCreatedEverythingStillRuns) {
    // S6: hardware_concurrency of 0, and a thread creation that fails.
    braid::scheduler_options o = options();
    o.worker_threads.stack_bytes = std::size_t{1} << 50;
    std::atomic<int> ran{0};
    {
        braid::scheduler s(o);
        EXPECT_EQ(s.worker_count(), 0U);
        s.wait(s.spawn([&](braid::task_context& task) {
            task.wait(task.spawn([&ran] { ++ran; }));
            for (int i = 0; i < 10; ++i) task.post([&ran] { ++ran; });
        }));
        braid::event happened(s);
        s.post([&happened] { happened.set(); });
        EXPECT_TRUE(s.do_work_while_waiting_for(happened));
    }
    EXPECT_EQ(ran, 11);
    EXPECT_GE(notes_.count(&braid_test::recorder::log, "refused"), 1U);
}

TEST_P(Shutdown, LeavesTheThreadCountFlat) {
    const std::size_t before = braid_test::thread_count();
    const int rounds = GetParam() > 8 ? 5 : 50;
    for (int i = 0; i < rounds; ++i) {
        braid::scheduler s(options());
        s.wait(s.spawn([](braid::task_context& task) { task.wait(task.spawn([] {})); }));
    }
    braid_test::until([&] { return braid_test::thread_count() <= before; });
}

}  // namespace
