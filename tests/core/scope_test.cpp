// C20: scopes count their tasks, are waited for as one, and report the first failure.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <memory>

namespace {

BRAID_SCHEDULER_TEST(Scope);

TEST_P(Scope, WaitReturnsAfterEveryPostedTaskAlsoWhenTheLastOneRunsElsewhere) {
    // The last task to end notifies the waiter, whatever thread it is on and whatever that does
    // next.
    braid::scheduler s(options());
    for (std::size_t round = 0; round < braid_test::scaled(500); ++round) {
        braid::scope all(s);
        std::atomic<int> ran{0};
        const int count = 1 + static_cast<int>(round % 7);
        for (int i = 0; i < count; ++i) all.post([&ran] { ++ran; });
        all.wait();
        ASSERT_EQ(ran, count);
    }
}

TEST_P(Scope, WaitReturnsWhenAReserveRanTheLastTask) {
    // The thread that stood in for a waiter runs the last task and then steps aside.
    braid::scheduler s(options());
    for (int round = 0; round < 100; ++round) {
        braid::scope all(s);
        std::atomic<int> ran{0};
        for (int i = 0; i < 4; ++i) all.post([&ran] { ++ran; });
        all.wait(braid::help::none);
        ASSERT_EQ(ran, 4);
    }
}

TEST_P(Scope, TasksOfItsTasksBelongToIt) {
    braid::scheduler s(options());
    braid::scope all(s);
    std::atomic<int> ran{0};
    all.post([&](braid::task_context& task) {
        task.post([&](braid::task_context& inner) {
            inner.spawn([&ran] { ++ran; });
            ++ran;
        });
        ++ran;
    });
    all.wait();
    EXPECT_EQ(ran, 3);
    EXPECT_EQ(all.account().created, 3U);
    EXPECT_EQ(all.account().executed, 3U);
}

TEST_P(Scope, AnEmptyOneIsDone) {
    // L3: an empty batch slept for ever.
    braid::scheduler s(options());
    braid::scope none(s);
    none.wait();
    EXPECT_TRUE(none.wait_for(braid::nanoseconds{0}));
    EXPECT_EQ(none.account().created, 0U);
}

TEST_P(Scope, CanBeWaitedForAgainAndAgain) {
    // H1: the goal of the second drain was never raised; it returned at once or never.
    braid::scheduler s(options());
    braid::scope all(s);
    std::atomic<std::uint64_t> ran{0};
    for (std::uint64_t round = 1; round <= 10; ++round) {
        for (int i = 0; i < 100; ++i) all.post([&ran] { ++ran; });
        all.wait();
        ASSERT_EQ(ran, round * 100);
        ASSERT_EQ(all.account().executed, round * 100);
    }
}

TEST_P(Scope, ThatWasWaitedForEndsInSilence) {
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    {
        auto all = std::make_unique<braid::scope>(s);
        all->spawn({.after = {gate.id()}}, [] {});
        EXPECT_FALSE(all->wait_for(braid::microseconds(100)));
        gate.finish();
        EXPECT_TRUE(all->wait_for(braid::no_limit));
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 0U);
    EXPECT_EQ(notes_.count(&braid_test::recorder::log), 0U);
}

TEST_P(Scope, ThatIsNotWaitedForWaitsAndSaysThatWaitWasForgotten) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    auto gate = s.begin({}, braid::empty);
    const auto said = [this] { return notes_.count(&braid_test::recorder::log, "call wait()"); };
    std::thread opener([&] {
        braid_test::until([&] { return said() == 1; });
        gate.finish();
    });
    {
        braid::scope all(s);
        for (int i = 0; i < 10; ++i) all.spawn({.after = {gate.id()}}, [&ran] { ++ran; });
    }
    EXPECT_EQ(ran, 10);
    opener.join();
    EXPECT_EQ(said(), 1U);
}

TEST_P(Scope, ThatIsNotWaitedForHandsItsFailureToTheHandler) {
    braid::scheduler s(options());
    {
        braid::scope all(s);
        all.post([] { throw std::runtime_error("planned"); });
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 1U);
}

TEST_P(Scope, LeftByAnExceptionCancelsWhatHasNotStartedAndLeavesNothingBehind) {
    braid::scheduler s(options());
    for (std::size_t round = 0; round < braid_test::scaled(200); ++round) {
        std::atomic<int> begun{0}, ended{0};
        try {
            braid::scope all(s);
            for (int i = 0; i < 4; ++i) {
                all.post([&] {
                    ++begun;
                    ++ended;
                });
            }
            throw std::runtime_error("planned");
        } catch (const std::runtime_error&) {
        }
        ASSERT_EQ(begun, ended) << "one still runs";
        const int after = begun;
        s.wait(s.spawn([] {}));
        ASSERT_EQ(begun, after) << "one began later";
        if (GetParam() == 0) {
            ASSERT_EQ(begun, 0) << "one that nobody had begun was not cancelled";
        }
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::log), 0U);
}

TEST_P(Scope, LeftByAnExceptionWaitsForTheTaskThatRunsAndBeginsNoOther) {
    if (GetParam() == 0) GTEST_SKIP() << "needs a worker";
    braid::scheduler s(options());
    std::atomic<bool> began{false}, ended{false};
    std::atomic<int> others{0};
    auto gate = s.begin({}, braid::empty);
    const auto leave = [&] {
        braid::scope all(s);
        all.post([&](braid::task_context& task) {
            began = true;
            braid_test::until([&] { return task.cancelled(); });  // by the exception
            gate.finish();
            ended = true;
        });
        for (int i = 0; i < 10; ++i) all.spawn({.after = {gate.id()}}, [&others] { ++others; });
        braid_test::until([&] { return began.load(); });
        throw std::runtime_error("planned");
    };
    EXPECT_THROW(leave(), std::runtime_error);
    EXPECT_TRUE(ended);
    EXPECT_EQ(others, 0);
}

TEST_P(Scope, MadeWhileAnExceptionPassesIsAsAnyOther) {
    braid::scheduler s(options());
    int ran = 0;
    struct cleans_up {
        braid::scheduler& s;
        int& ran;
        ~cleans_up() {
            braid::scope all(s);
            std::atomic<int> some{0};
            for (int i = 0; i < 10; ++i) all.post([&some] { ++some; });
            all.wait();
            ran = some;
        }
    };
    const auto leave = [&] {
        const cleans_up last{s, ran};
        throw std::runtime_error("planned");
    };
    EXPECT_THROW(leave(), std::runtime_error);
    EXPECT_EQ(ran, 10);
}

TEST_P(Scope, InOneOfItsOwnTasksCannotEndAndSaysSo) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto destroy_it = [this] {
        auto o = options();
        o.log = {};
        o.assertion = {[](void*, const char*, const char*, const char*, int) {}};
        braid::scheduler s(o);
        auto all = std::make_unique<braid::scope>(s);
        s.wait(all->spawn({}, [&all] { all.reset(); }));
    };
    EXPECT_DEATH(destroy_it(), "destroyed in one of its own tasks");
}

TEST_P(Scope, WaitRethrowsOneFailureAndTheHandlerHasTheOthersByThen) {
    braid::scheduler s(options());
    braid::scope all(s);
    for (int i = 0; i < 10; ++i) {
        all.post([i] {
            if (i % 2 == 0) throw std::runtime_error("planned");
        });
    }
    EXPECT_THROW(all.wait(), std::runtime_error);
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 4U);
    EXPECT_EQ(all.account().failed, 5U);
    EXPECT_EQ(all.account().executed, 5U);
    all.wait();  // rethrown once
}

TEST_P(Scope, ManyThreadsPostIntoOne) {
    // L9, H6: a second submitter corrupted the first one's lists.
    braid::scheduler s(options());
    braid::scope all(s);
    std::atomic<int> ran{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 500; ++i) all.post([&ran] { ++ran; });
        });
    }
    for (std::thread& t : threads) t.join();
    all.wait();
    EXPECT_EQ(ran, 2000);
}

TEST_P(Scope, SeveralThreadsWaitForOne) {
    braid::scheduler s(options());
    for (int round = 0; round < 20; ++round) {
        braid::scope all(s);
        std::atomic<int> ran{0};
        for (int i = 0; i < 20; ++i) all.post([&ran] { ++ran; });
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t) threads.emplace_back([&all] { all.wait(); });
        for (std::thread& t : threads) t.join();
        ASSERT_EQ(ran, 20);
    }
}

TEST_P(Scope, TwoInOneBlockAreTwo) {
    // D14: a scope macro whose variable was not unique.
    braid::scheduler s(options());
    braid::scope a(s);
    braid::scope b(s);
    std::atomic<int> ran{0};
    a.post([&ran] { ran += 1; });
    b.post([&ran] { ran += 10; });
    a.wait();
    b.wait();
    EXPECT_EQ(ran, 11);
    EXPECT_EQ(a.account().created, 1U);
    EXPECT_EQ(b.account().created, 1U);
}

TEST_P(Scope, AnEndIsCountedBeforeTheThreadGoesOnWithAnotherTask) {
    if (GetParam() == 0) GTEST_SKIP() << "needs a worker";
    braid::scheduler s(options());
    for (int round = 0; round < 10; ++round) {
        braid_test::door go, waited;
        std::atomic<bool> began{false};
        braid::scope all(s);
        const braid::task_id last = all.spawn({}, [&] {
            began = true;
            go.pass();
        });
        braid_test::until([&] { return began.load(); });  // on a worker, which goes on with this:
        const braid::task_id next = s.spawn({.after = {last}}, [&] { waited.pass(); });
        go.open();
        all.wait();
        waited.open();
        s.wait(next);
    }
}

TEST_P(Scope, EndsThoughTheThreadThatRanItsLastTaskInAWaitGoesOnWithItsOwn) {
    braid::scheduler s(options());
    for (int round = 0; round < 10; ++round) {
        braid_test::door waited;
        braid::scope all(s);
        braid_test::door spawned;
        const braid::task_id outer = s.spawn([&](braid::task_context& task) {
            const braid::task_id last = all.spawn({}, [] {});
            spawned.open();
            task.wait(last);
            waited.pass();
        });
        std::thread waits([&] {
            spawned.pass();
            all.wait(braid::help::none);
            waited.open();
        });
        s.wait(outer);
        waits.join();
    }
}

TEST_P(Scope, MayGoAsSoonAsItsLastTaskIsCompleteWhereverThatIsNoticed) {
    // The child completes its parent; the parent's thread is still on its way out of the body.
    braid::scheduler s(options());
    for (std::size_t round = 0; round < braid_test::scaled(200); ++round) {
        auto all = std::make_unique<braid::scope>(s);
        all->spawn({}, [](braid::task_context& task) { task.spawn([] {}); });
        all->wait();
        all.reset();
    }
}

}  // namespace
