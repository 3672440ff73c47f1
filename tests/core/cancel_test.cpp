// C20: cancelling, and the account of what ran and what did not.
#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

BRAID_SCHEDULER_TEST(Cancel);

TEST_P(Cancel, TasksThatHaveNotStartedNeverRun) {
    braid::scheduler s(options());
    braid::scope all(s);
    std::atomic<int> ran{0};
    auto gate = s.begin({}, braid::empty);
    for (int i = 0; i < 100; ++i) all.spawn({.after = {gate.id()}}, [&ran] { ++ran; });
    all.cancel();
    gate.finish();
    try {
        all.wait();
    } catch (const braid::task_cancelled&) {
    }
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(all.account().cancelled, 100U);
    EXPECT_EQ(all.account().executed, 0U);
}

TEST_P(Cancel, ARunningTaskSeesTheTokenAndReturns) {
    braid::scheduler s(options());
    braid::scope all(s);
    std::atomic<bool> running{false};
    const auto id = all.spawn({}, [&running](braid::task_context& task) {
        EXPECT_FALSE(braid::this_task::cancelled() && !task.cancelled());
        running = true;
        braid_test::until([&] { return task.cancelled(); });
        EXPECT_TRUE(braid::this_task::cancelled());
    });
    std::thread canceller([&] {
        braid_test::until([&] { return running.load(); });
        all.cancel();
    });
    s.wait(id);
    canceller.join();
    all.wait();
    EXPECT_EQ(all.account().executed, 1U);
    EXPECT_EQ(all.account().cancelled, 0U);
}

TEST_P(Cancel, TheFirstFailureCancelsAFailFastScope) {
    braid::scheduler_options o = options();
    o.workers = 0;
    braid::scheduler s(o);
    braid::scope all(s, braid::on_failure::cancel);
    int ran = 0;
    auto gate = s.begin({}, braid::empty);
    const auto fails =
        all.spawn({.after = {gate.id()}}, [] { throw std::runtime_error("planned"); });
    const auto over = s.spawn({.after_any = {fails}}, braid::empty);
    for (int i = 0; i < 50; ++i) all.spawn({.after = {over}}, [&ran] { ++ran; });
    gate.finish();
    EXPECT_THROW(all.wait(), std::runtime_error);
    EXPECT_EQ(ran, 0);
    EXPECT_TRUE(all.cancelled());
    EXPECT_EQ(all.account().failed, 1U);
    EXPECT_EQ(all.account().cancelled, 50U);
}

TEST_P(Cancel, EveryTaskIsAccountedForWheneverTheCancelComes) {
    braid::scheduler s(options());
    for (int round = 0; round < 20; ++round) {
        braid::scope all(s);
        std::atomic<std::uint64_t> ran{0};
        std::thread canceller([&] {
            braid_test::until(
                [&] { return ran >= static_cast<std::uint64_t>(round) || GetParam() == 0; });
            all.cancel();
        });
        for (int i = 0; i < 200; ++i) {
            all.post([&ran, i] {
                ++ran;
                if (i % 50 == 3) throw std::runtime_error("planned");
            });
        }
        try {
            all.wait();
        } catch (const std::exception&) {
        }
        canceller.join();
        const braid::scope_account account = all.account();
        ASSERT_EQ(account.created, 200U);
        ASSERT_EQ(account.executed + account.failed + account.cancelled, account.created);
        ASSERT_EQ(account.executed + account.failed, ran);
    }
    s.shut_down();
    expect_all_ended(s);
}

TEST_P(Cancel, AWaitOnACancelledTaskThrows) {
    braid::scheduler s(options());
    braid::scope all(s);
    auto gate = s.begin({}, braid::empty);
    auto watched = s.async({.after = {gate.id()}, .within = &all}, [] {});
    auto value = s.async({.after = {gate.id()}, .within = &all}, [] { return 1; });
    // This thread runs it in its wait, so that the wait begins before the end.
    const auto opener = s.spawn({.on = s.this_thread()}, [&] {
        all.cancel();
        gate.finish();
    });
    const auto id = all.spawn({.after = {opener}}, [] {});
    EXPECT_THROW(s.wait(id), braid::task_cancelled);
    EXPECT_THROW(watched.get(), braid::broken_promise);
    EXPECT_THROW(value.get(), braid::broken_promise);
    all.wait();
    EXPECT_EQ(all.account().cancelled, 3U);
}

TEST_P(Cancel, ABatchStopsWhereItIs) {
    braid::scheduler s(options());
    braid::scope all(s);
    std::atomic<int> ran{0};
    braid_test::door cancelled;
    const auto batch = s.spawn_batch({.within = &all}, 1000, [&](std::size_t) {
        const int number = ++ran;
        if (number == 10) {
            all.cancel();
            cancelled.open();
        }
        // So each thread has begun one more at most when the scope is cancelled.
        if (number > 10) cancelled.pass();
    });
    try {
        s.wait(batch);
    } catch (const braid::task_cancelled&) {
    }
    try {
        all.wait();
    } catch (const braid::task_cancelled&) {
    }
    EXPECT_GE(ran, 10);
    EXPECT_EQ(all.account().created, 1001U);
    EXPECT_LE(ran, 10 + static_cast<int>(s.internals().seat_count()));
}

TEST_P(Cancel, FinalTasksOutsideTheScopeStillRun) {
    braid::scheduler s(options());
    braid::scope all(s);
    bool unlocked = false;
    auto gate = s.begin({}, braid::empty);
    const auto id = all.spawn({.after = {gate.id()}}, [] {});
    const auto finally = s.spawn({.after_any = {id}}, [&unlocked] { unlocked = true; });
    all.cancel();
    gate.finish();
    s.wait(finally);
    EXPECT_TRUE(unlocked);
    try {
        all.wait();
    } catch (const braid::task_cancelled&) {
    }
}

}  // namespace
