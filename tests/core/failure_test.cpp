// C18: who receives an exception, and what becomes of the tasks behind it.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <memory>
#include <utility>

namespace {

BRAID_SCHEDULER_TEST(Failure);

/// Told apart by type. Who caught one never looks into it: threads share the object, and
/// ThreadSanitizer does not see the count of references in the standard library.
template <int N>
struct planned : std::exception {};

/// Which planned failure `body` throws; 0: none, -1: task_cancelled.
template <class Body>
int caught(Body&& body) {
    try {
        body();
    } catch (const planned<1>&) {
        return 1;
    } catch (const planned<2>&) {
        return 2;
    } catch (const planned<3>&) {
        return 3;
    } catch (const planned<4>&) {
        return 4;
    } catch (const braid::task_cancelled&) {
        return -1;
    }
    return 0;
}

int outcome_of(braid::scheduler& s, braid::task_id id) {
    return caught([&] { s.wait(id); });
}

TEST_P(Failure, IsRethrownAtTheWait) {
    // D13, S4: the process ended with 0, or the exception was swallowed.
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    const auto id = s.spawn({.after = {gate.id()}}, [] { throw planned<1>{}; });
    const auto open = s.spawn({.after_any = {id}}, [] {});
    std::thread opener([&gate] { gate.finish(); });
    const int what = outcome_of(s, id);
    opener.join();
    s.wait(open);
    s.shut_down();
    // Either the wait came in time, or the handler got it; never neither, never both.
    EXPECT_EQ((what == 1) + notes_.count(&braid_test::recorder::lost), 1U);
    EXPECT_EQ(s.statistics().failed, 1U);
}

TEST_P(Failure, ReachesEveryWaiterThatWasThere) {
    braid::scheduler s(options());
    braid_test::door go;
    std::atomic<int> caught{0};
    std::atomic<int> done_before{0};
    const auto id = s.spawn([&go] {
        go.pass();
        throw planned<1>{};
    });
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            try {
                s.wait(id);
                ++done_before;
            } catch (const planned<1>&) {
                ++caught;
            }
        });
    }
    go.open();
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(caught + done_before, 4);
    if (caught != 0) {
        s.shut_down();
        EXPECT_EQ(notes_.lost.size(), 0U);
    }
}

TEST_P(Failure, ThatNobodyWaitedForReachesTheHandlerWithTheTasksName) {
    {
        braid::scheduler s(options());
        s.post({.name = "thrower"}, [] { throw planned<1>{}; });
    }
    ASSERT_EQ(notes_.lost.size(), 1U);
    EXPECT_EQ(notes_.lost[0], "thrower");
}

TEST_P(Failure, CancelsSuccessorsWithItsCauseAndRunsTheFinalOnes) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    bool finally_ran = false;
    auto gate = s.begin({}, braid::empty);
    const auto fails = s.spawn({.after = {gate.id()}}, [] { throw planned<1>{}; });
    const auto second = s.spawn({.after = {fails}}, [&ran] { ++ran; });
    const auto third = s.spawn({.after = {second}}, [&ran] { ++ran; });
    const auto finally = s.spawn({.after_any = {third}}, [&finally_ran] { finally_ran = true; });
    std::thread opener([&gate] { gate.finish(); });
    const int what = outcome_of(s, third);
    opener.join();
    s.wait(finally);
    EXPECT_TRUE(finally_ran);
    EXPECT_EQ(ran, 0);
    s.shut_down();
    EXPECT_EQ(s.statistics().cancelled, 2U);
    EXPECT_EQ((what == 1) + notes_.count(&braid_test::recorder::lost), 1U);
}

TEST_P(Failure, KeepsItsCauseThroughAChainOfAThousandOnAWorkerThatWaits) {
    braid::scheduler s(options());
    int what = 0;
    s.wait(s.spawn([&](braid::task_context& task) {
        auto gate = s.begin({}, braid::empty);
        braid::task_id last = task.spawn({.after = {gate.id()}}, [] { throw planned<1>{}; });
        for (int i = 0; i < 1000; ++i) last = task.spawn({.after = {last}}, [] {});
        auto watched = s.async({.after = {last}}, [] {});
        gate.finish();
        what = caught([&] { watched.get(); });
    }));
    EXPECT_EQ(what, 1);
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 0U);
}

TEST_P(Failure, OfAChildReachesTheWaiterOfTheParent) {
    braid::scheduler s(options());
    auto building = s.begin({}, [] {});
    building.add_child(
        [](braid::task_context& child) { child.spawn_child([] { throw planned<1>{}; }); });
    const braid::task_id id = building.id();
    std::thread finisher([&building] { building.finish(); });
    const int what = outcome_of(s, id);
    finisher.join();
    s.shut_down();
    EXPECT_EQ((what == 1) + notes_.count(&braid_test::recorder::lost), 1U);
}

TEST_P(Failure, OfSeveralChildrenTheFirstByCreationWinsAndTheOthersAreReported) {
    braid::scheduler s(options());
    int what = 0;
    for (int round = 0; round < 10; ++round) {
        auto parent = s.async([](braid::task_context& task) {
            // The later children end first.
            const auto third = task.spawn_child([] { throw planned<1>{}; });
            static_cast<void>(third);
            auto late = task.id();
            task.spawn({.after_any = {third}, .parent = late}, [] { throw planned<2>{}; });
        });
        what = caught([&] { parent.get(); });
        ASSERT_EQ(what, 1);
    }
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 10U);
    EXPECT_EQ(s.statistics().unobserved_exceptions, 10U);
}

TEST_P(Failure, OfTheEarliestChildWinsAlsoWhenItEndsLast) {
    braid::scheduler s(options());
    for (int round = 0; round < 10; ++round) {
        auto gate = s.begin({}, braid::empty);
        auto building = s.begin({}, braid::empty);
        const braid::task_id id = building.id();
        const auto first = building.add_child({.after = {gate.id()}}, [] { throw planned<1>{}; });
        static_cast<void>(first);
        const auto second = building.add_child([] { throw planned<2>{}; });
        const auto gate_after_second = s.spawn({.after_any = {second}}, [] {});
        auto watched = s.async({.after = {id}}, [] {});
        building.finish();
        s.wait(gate_after_second);
        gate.finish();
        int what = 0;
        what = caught([&] { watched.get(); });
        ASSERT_EQ(what, 1);
    }
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 10U);
}

TEST_P(Failure, OfTheParentItselfComesBeforeThoseOfItsChildren) {
    braid::scheduler s(options());
    auto parent = s.async([](braid::task_context& task) {
        task.spawn_child([] { throw planned<2>{}; });
        throw planned<1>{};
    });
    int what = 0;
    what = caught([&] { parent.get(); });
    EXPECT_EQ(what, 1);
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 1U);
}

TEST_P(Failure, LetsTheSiblingsGoOn) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    auto parent = s.async([&ran](braid::task_context& task) {
        task.spawn_child([] { throw planned<1>{}; });
        for (int i = 0; i < 50; ++i) task.spawn_child([&ran] { ++ran; });
    });
    EXPECT_THROW(parent.get(), planned<1>);
    EXPECT_EQ(ran, 50);
}

TEST_P(Failure, OfATaskIsNotAFailureOfTheTaskThatWaitedAndCaughtIt) {
    braid::scheduler s(options());
    bool went_on = false;
    s.wait(s.spawn([&](braid::task_context& task) {
        auto gate = s.begin({}, braid::empty);
        const auto id = task.spawn({.after = {gate.id()}}, [] { throw planned<1>{}; });
        gate.finish();
        try {
            task.wait(id);
        } catch (const planned<1>&) {
        }
        went_on = true;
    }));
    EXPECT_TRUE(went_on);
}

TEST_P(Failure, ThatIsNotCaughtAtTheWaitBecomesTheWaitersOwn) {
    braid::scheduler s(options());
    auto outer = s.async([&s] {
        auto inner = s.async([] { throw planned<1>{}; });
        inner.get();
    });
    EXPECT_THROW(outer.get(), planned<1>);
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 0U);
}

/// Waits for a task when it is destroyed.
class waits_at_the_end {
public:
    explicit waits_at_the_end(braid::scheduler& s) : s_(&s) {}
    ~waits_at_the_end() {
        s_->wait(s_->spawn({.may_be_long = true}, [] {}));
        s_->wait(s_->spawn({.after = {s_->spawn([] {})}}, [] {}));
    }
    waits_at_the_end(const waits_at_the_end&) = delete;
    waits_at_the_end& operator=(const waits_at_the_end&) = delete;

private:
    braid::scheduler* s_;
};

TEST_P(Failure, WhatACancelledTaskHeldMayWaitWhenItIsDestroyed) {
    braid::scheduler s(options());
    for (std::size_t round = 0; round < braid_test::scaled(50); ++round) {
        auto held = std::make_shared<waits_at_the_end>(s);
        const std::weak_ptr<waits_at_the_end> gone = held;
        auto gate = s.begin({}, braid::empty);
        const auto fails = s.spawn({.after = {gate.id()}}, [] { throw planned<1>{}; });
        const auto cancelled = s.spawn({.after = {fails}}, [held = std::move(held)] {});
        gate.finish();
        try {
            s.wait(cancelled);
        } catch (const planned<1>&) {  // unless it was cancelled before the wait
        }
        EXPECT_TRUE(gone.expired());
    }
}

/// The destructor waits for a task that is cancelled by the same failure, right before this one.
struct waits_for_its_neighbour {
    braid::scheduler& s;
    braid::task_id neighbour;
    bool blocks;
    ~waits_for_its_neighbour() {
        const auto look = [this] {
            try {
                s.wait(neighbour);
            } catch (const planned<1>&) {
            }
        };
        if (blocks) s.blocking([this] { braid_test::until([this] { return s.done(neighbour); }); });
        look();
    }
};

TEST_P(Failure, WhatACancelledTaskHeldMayWaitForOneThatTheSameFailureCancels) {
    braid::scheduler s(options());
    for (std::size_t round = 0; round < braid_test::scaled(50); ++round) {
        auto gate = s.begin({}, braid::empty);
        const auto fails = s.spawn({.after = {gate.id()}}, [] { throw planned<1>{}; });
        // The successor that was added last is cancelled first; so there is one on either side.
        auto held = std::make_shared<waits_for_its_neighbour>(s, braid::task_id{}, round % 2 != 0);
        const std::weak_ptr<waits_for_its_neighbour> gone = held;
        waits_for_its_neighbour& shown = *held;
        const auto holds = s.spawn({.after = {fails}}, [held = std::move(held)] {});
        shown.neighbour = s.spawn({.after = {fails}}, [] {});
        gate.finish();
        try {
            s.wait(holds);
        } catch (const planned<1>&) {  // unless it was cancelled before the wait
        }
        EXPECT_TRUE(gone.expired());
    }
}

TEST_P(Failure, TheResultOfATaskMayWaitWhenItIsDestroyed) {
    braid::scheduler s(options());
    for (std::size_t round = 0; round < braid_test::scaled(50); ++round) {
        braid::scope all(s);
        {
            auto result =
                s.async({.within = &all}, [&] { return std::make_unique<waits_at_the_end>(s); });
        }
        all.wait();
    }
}

}  // namespace
