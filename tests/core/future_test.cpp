// C19: values of tasks.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/core/observer.hpp>

#include <array>
#include <atomic>
#include <memory>

namespace {

BRAID_SCHEDULER_TEST(Future);

TEST_P(Future, GetGivesTheValueAway) {
    braid::scheduler s(options());
    auto number = s.async([] { return 42; });
    EXPECT_TRUE(number.valid());
    EXPECT_EQ(number.get(), 42);
    EXPECT_FALSE(number.valid());
    EXPECT_THROW(number.get(), braid::broken_promise);
}

TEST_P(Future, OfAMoveOnlyValue) {
    braid::scheduler s(options());
    auto owned = s.async([] { return std::make_unique<int>(7); });
    EXPECT_EQ(*owned.get(), 7);
}

TEST_P(Future, OfALargeValueAndOfAWideOne) {
    braid::scheduler s(options());
    auto large = s.async([] {
        std::array<std::uint64_t, 100> values{};
        values[99] = 5;
        return values;
    });
    EXPECT_EQ(large.get()[99], 5U);
    struct alignas(128) wide {
        int value = 3;
    };
    EXPECT_EQ(s.async([] { return wide{}; }).get().value, 3);
    // The worker may be the last to leave the slot, a moment after the value was taken.
    braid_test::until([&] { return s.bytes(braid::memory_tag::closure) == 0; });
}

TEST_P(Future, OfNothingOnlySaysWhenAndWhether) {
    braid::scheduler s(options());
    bool ran = false;
    auto done = s.async([&ran] { ran = true; });
    done.wait();
    EXPECT_TRUE(done.ready());
    done.get();
    EXPECT_TRUE(ran);
}

TEST_P(Future, RethrowsWhatTheTaskThrew) {
    // S4: futures did not exist; exceptions were dropped.
    braid::scheduler s(options());
    auto fails = s.async([]() -> int { throw std::out_of_range("planned"); });
    fails.wait();
    EXPECT_THROW(fails.get(), std::out_of_range);
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 0U);
}

TEST_P(Future, RethrowsWhatAChildThrewAlsoWhenThereIsAValue) {
    braid::scheduler s(options());
    auto parent = s.async([](braid::task_context& task) {
        task.spawn_child([] { throw std::out_of_range("planned"); });
        return 1;
    });
    EXPECT_THROW(parent.get(), std::out_of_range);
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 0U);
}

/// Who makes `at` ready goes on when `free` is set.
struct pause_when_ready final : braid::observer {
    void on_event(const braid::task_event& e) override {
        if (e.kind != braid::event_kind::ready || e.task != at) return;
        came = true;
        braid_test::until([this] { return free.load(); });
    }
    braid::task_id at;
    std::atomic<bool> came{false}, free{false};
};

TEST_P(Future, HasTheFailureThoughASuccessorTakesItAtOnceAndDropsTheHandle) {
    // The parent failed, too, where the successor was quicker than the end of the task.
    if (GetParam() == 0) GTEST_SKIP() << "nobody else takes it";
    pause_when_ready pause;
    braid::scheduler_options o = options();
    o.observer = &pause;
    braid::scheduler s(o);
    auto gate = s.begin({}, braid::empty), parent = s.begin({}, braid::empty);
    auto fails = s.async({.after = {gate.id()}, .parent = parent.id()},
                         []() -> int { throw std::out_of_range("planned"); });
    const braid::task_id failed = fails.id();
    // The newest is ready first. One of them may stay with the thread that made it ready.
    pause.at = s.spawn({.after_any = {failed}}, [] {});
    const auto taken = s.spawn({.after_any = {failed}}, [one = std::move(fails), &pause]() mutable {
        EXPECT_THROW(one.get(), std::out_of_range);
        pause.free = true;
    });
    s.spawn({.after_any = {failed}}, [] {});
    std::atomic<bool> well{false};
    const auto last = s.spawn({.after = {parent.id()}}, [&well] { well = true; });
    gate.finish();
    s.wait(taken);  // which may have been quicker than the thread that pauses
    parent.finish();
    s.wait(last);
    EXPECT_TRUE(well) << "the parent has failed";
    s.shut_down();
    EXPECT_TRUE(pause.came);
    EXPECT_EQ(notes_.lost.size(), 0U);
}

TEST_P(Future, IsReadyOnlyAfterTheChildren) {
    braid::scheduler s(options());
    std::atomic<bool> child_ran{false};
    auto parent = s.async([&](braid::task_context& task) {
        task.spawn_child([&child_ran] { child_ran = true; });
        return 1;
    });
    EXPECT_EQ(parent.get(), 1);
    EXPECT_TRUE(child_ran);
}

TEST_P(Future, ThenRunsAfterItWithItsValue) {
    braid::scheduler s(options());
    auto chain = s.async([] { return 20; })
                     .then([](int n) { return std::make_unique<int>(n + 1); })
                     .then([](std::unique_ptr<int> n) { return *n * 2; });
    EXPECT_EQ(chain.get(), 42);
    int order = 0;
    s.async([&order] { order = 1; }).then([&order] { order = order == 1 ? 2 : -1; }).get();
    EXPECT_EQ(order, 2);
}

TEST_P(Future, ThenOfAFailureIsCancelledWithTheSameCause) {
    braid::scheduler s(options());
    bool ran = false;
    auto chain = s.async([]() -> int { throw std::out_of_range("origin"); })
                     .then([&ran](int) { ran = true; })
                     .then([&ran] { ran = true; });
    EXPECT_THROW(chain.get(), std::out_of_range);
    EXPECT_FALSE(ran);
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 0U);
}

TEST_P(Future, OfADiscardedTaskIsABrokenPromise) {
    // S3: pending tasks vanished, and their waiters waited for ever.
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    auto never = s.async({.after = {gate.id()}}, [] { return 1; });
    auto nothing = s.async({.after = {gate.id()}}, [] {});
    std::thread discards([&s] { s.shut_down(braid::shutdown::discard); });
    braid_test::until([&] {
        // Refused from the moment at which the end has begun.
        return !s.spawn([] {});
    });
    gate.finish();
    discards.join();
    EXPECT_THROW(never.get(), braid::broken_promise);
    EXPECT_THROW(nothing.get(), braid::broken_promise);
}

TEST_P(Future, OfARefusedTaskIsInvalidAndSoIsWhatFollowsIt) {
    braid::scheduler s(options());
    s.shut_down();
    auto refused = s.async([] { return 1; });
    EXPECT_FALSE(refused.valid());
    EXPECT_TRUE(refused.ready());
    refused.wait();
    auto next = std::move(refused).then([](int n) { return n; });
    EXPECT_FALSE(next.valid());
    EXPECT_THROW(next.get(), braid::broken_promise);
}

TEST_P(Future, DroppedBeforeTheEndLetsTheTaskRunAndDestroysItsValue) {
    auto alive = std::make_shared<int>(0);
    const std::weak_ptr<int> seen = alive;
    std::atomic<bool> ran{false};
    {
        braid::scheduler s(options());
        auto gate = s.begin({}, braid::empty);
        {
            auto dropped = s.async({.after = {gate.id()}}, [&ran, alive = std::move(alive)] {
                ran = true;
                return alive;
            });
        }
        EXPECT_FALSE(ran);
        gate.finish();
        s.shut_down();
        EXPECT_TRUE(ran);
        EXPECT_TRUE(seen.expired());
    }
}

TEST_P(Future, DroppedAfterTheEndDestroysItsValue) {
    braid::scheduler s(options());
    auto alive = std::make_shared<int>(0);
    const std::weak_ptr<int> seen = alive;
    {
        auto value = s.async([alive = std::move(alive)] { return alive; });
        value.wait();
        EXPECT_FALSE(seen.expired());
    }
    // The thread that ran the task may be the last to let go of it.
    braid_test::until([&] { return seen.expired(); });
}

TEST_P(Future, DroppedAtAnyMomentFreesItsSlot) {
    braid::scheduler s(options());
    for (std::size_t i = 0; i < braid_test::scaled(2'000); ++i) {
        auto value = s.async([] { return std::make_shared<int>(1); });
        if (i % 3 == 0) value.wait();
        if (i % 3 == 1) s.post([] {});
    }
    s.shut_down();
    expect_all_ended(s);
    // 2,000 that stayed would have taken 2,000 slots of 128 bytes.
    EXPECT_LT(s.bytes(braid::memory_tag::slot), 8192 * 128U);
}

TEST_P(Future, FailureOfADroppedOneReachesItsParent) {
    braid::scheduler s(options());
    auto parent = s.async([&s](braid::task_context& task) {
        auto gate = s.begin({}, braid::empty);
        {
            auto dropped = s.async({.after = {gate.id()}, .parent = task.id()},
                                   [] { throw std::out_of_range("planned"); });
        }
        gate.finish();
    });
    EXPECT_THROW(parent.get(), std::out_of_range);
}

TEST_P(Future, FailureOfADroppedOneWithoutParentReachesTheHandler) {
    {
        braid::scheduler s(options());
        auto gate = s.begin({}, braid::empty);
        {
            auto dropped =
                s.async({.after = {gate.id()}}, [] { throw std::out_of_range("planned"); });
        }
        gate.finish();
    }
    EXPECT_EQ(notes_.lost.size(), 1U);
}

TEST_P(Future, NestedGetOnOneThreadDoesNotDeadlock) {
    // S8: waiting on one's own pool from one of its tasks.
    braid::scheduler_options o = options();
    o.max_reserves = 0;
    braid::scheduler s(o);
    struct sum {
        braid::scheduler& s;
        int operator()(int depth) const {
            if (depth == 0) return 1;
            auto a = s.async([this, depth] { return (*this)(depth - 1); });
            auto b = s.async([this, depth] { return (*this)(depth - 1); });
            return a.get() + b.get();
        }
    };
    const sum count{s};
    EXPECT_EQ(s.async([&] { return count(8); }).get(), 256);
}

TEST_P(Future, MoveOfAFutureMovesTheOwnership) {
    braid::scheduler s(options());
    auto first = s.async([] { return 5; });
    braid::future<int> second = std::move(first);
    EXPECT_FALSE(first.valid());
    braid::future<int> third;
    EXPECT_FALSE(third.valid());
    third = std::move(second);
    EXPECT_EQ(third.get(), 5);
}

TEST_P(Future, AValueThatThrowsWhenItMovesIsAFailureOfItsTask) {
    struct moves_once {
        moves_once() = default;
        moves_once(moves_once&&) { throw std::out_of_range("no move"); }
    };
    braid::scheduler s(options());
    auto value = s.async([]() -> moves_once { return {}; });
    EXPECT_THROW(value.get(), std::out_of_range);
}

}  // namespace
