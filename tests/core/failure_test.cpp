// C18: who receives an exception, and what becomes of the tasks behind it.
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

BRAID_SCHEDULER_TEST(Failure);

struct planned : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What the wait throws: the text of a planned failure, "cancelled", or "".
std::string outcome_of(braid::scheduler& s, braid::task_id id) {
    try {
        s.wait(id);
    } catch (const planned& e) {
        return e.what();
    } catch (const braid::task_cancelled&) {
        return "cancelled";
    }
    return "";
}

TEST_P(Failure, IsRethrownAtTheWait) {
    // D13, S4: the process ended with 0, or the exception was swallowed.
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    const auto id = s.spawn({.after = {gate.id()}}, [] { throw planned("first"); });
    const auto open = s.spawn({.after_any = {id}}, [] {});
    std::thread opener([&gate] { gate.finish(); });
    const std::string what = outcome_of(s, id);
    opener.join();
    s.wait(open);
    s.shut_down();
    // Either the wait was there in time, or the handler got it; never neither, never both.
    EXPECT_EQ((what == "first") + notes_.count(&braid_test::recorder::lost), 1U);
    EXPECT_EQ(s.statistics().failed, 1U);
}

TEST_P(Failure, ReachesEveryWaiterThatWasThere) {
    braid::scheduler s(options());
    braid_test::door go;
    std::atomic<int> caught{0};
    std::atomic<int> done_before{0};
    const auto id = s.spawn([&go] {
        go.pass();
        throw planned("for all");
    });
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            // The object is shared and not looked into: ThreadSanitizer does not see the count
            // of references in the standard library.
            try {
                s.wait(id);
                ++done_before;
            } catch (const planned&) {
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
        s.post({.name = "thrower"}, [] { throw planned("lost"); });
    }
    ASSERT_EQ(notes_.lost.size(), 1U);
    EXPECT_EQ(notes_.lost[0], "thrower");
}

TEST_P(Failure, CancelsSuccessorsWithItsCauseAndRunsTheFinalOnes) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    bool finally_ran = false;
    auto gate = s.begin({}, braid::empty);
    const auto fails = s.spawn({.after = {gate.id()}}, [] { throw planned("cause"); });
    const auto second = s.spawn({.after = {fails}}, [&ran] { ++ran; });
    const auto third = s.spawn({.after = {second}}, [&ran] { ++ran; });
    const auto finally = s.spawn({.after_any = {third}}, [&finally_ran] { finally_ran = true; });
    std::thread opener([&gate] { gate.finish(); });
    const std::string what = outcome_of(s, third);
    opener.join();
    s.wait(finally);
    EXPECT_TRUE(finally_ran);
    EXPECT_EQ(ran, 0);
    s.shut_down();
    EXPECT_EQ(s.statistics().cancelled, 2U);
    EXPECT_EQ((what == "cause") + notes_.count(&braid_test::recorder::lost), 1U);
}

TEST_P(Failure, KeepsItsCauseThroughAChainOfAThousandOnAWorkerThatWaits) {
    braid::scheduler s(options());
    std::string what;
    s.wait(s.spawn([&](braid::task_context& task) {
        auto gate = s.begin({}, braid::empty);
        braid::task_id last =
            task.spawn({.after = {gate.id()}}, [] { throw planned("origin"); });
        for (int i = 0; i < 1000; ++i) last = task.spawn({.after = {last}}, [] {});
        auto watched = s.async({.after = {last}}, [] {});
        gate.finish();
        try {
            watched.get();
        } catch (const planned& e) {
            what = e.what();
        }
    }));
    EXPECT_EQ(what, "origin");
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 0U);
}

TEST_P(Failure, OfAChildReachesTheWaiterOfTheParent) {
    braid::scheduler s(options());
    auto building = s.begin({}, [] {});
    building.add_child([](braid::task_context& child) {
        child.spawn_child([] { throw planned("grandchild"); });
    });
    std::thread finisher([&building] { building.finish(); });
    const std::string what = outcome_of(s, building.id());
    finisher.join();
    s.shut_down();
    EXPECT_EQ((what == "grandchild") + notes_.count(&braid_test::recorder::lost), 1U);
}

TEST_P(Failure, OfSeveralChildrenTheFirstByCreationWinsAndTheOthersAreReported) {
    braid::scheduler s(options());
    std::string what;
    for (int round = 0; round < 10; ++round) {
        auto parent = s.async([](braid::task_context& task) {
            // The later children are over first.
            const auto third = task.spawn_child([] { throw planned("third"); });
            static_cast<void>(third);
            auto late = task.id();
            task.spawn({.after_any = {third}, .parent = late}, [] { throw planned("fourth"); });
        });
        try {
            parent.get();
        } catch (const planned& e) {
            what = e.what();
        }
        ASSERT_EQ(what, "third");
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
        const auto first =
            building.add_child({.after = {gate.id()}}, [] { throw planned("first"); });
        static_cast<void>(first);
        const auto second = building.add_child([] { throw planned("second"); });
        const auto gate_after_second = s.spawn({.after_any = {second}}, [] {});
        auto watched = s.async({.after = {id}}, [] {});
        building.finish();
        s.wait(gate_after_second);
        gate.finish();
        std::string what;
        try {
            watched.get();
        } catch (const planned& e) {
            what = e.what();
        }
        ASSERT_EQ(what, "first");
    }
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 10U);
}

TEST_P(Failure, OfTheParentItselfComesBeforeThoseOfItsChildren) {
    braid::scheduler s(options());
    auto parent = s.async([](braid::task_context& task) {
        task.spawn_child([] { throw planned("child"); });
        throw planned("own");
    });
    std::string what;
    try {
        parent.get();
    } catch (const planned& e) {
        what = e.what();
    }
    EXPECT_EQ(what, "own");
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 1U);
}

TEST_P(Failure, LetsTheSiblingsGoOn) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    auto parent = s.async([&ran](braid::task_context& task) {
        task.spawn_child([] { throw planned("one of many"); });
        for (int i = 0; i < 50; ++i) task.spawn_child([&ran] { ++ran; });
    });
    EXPECT_THROW(parent.get(), planned);
    EXPECT_EQ(ran, 50);
}

TEST_P(Failure, OfATaskIsNotAFailureOfTheTaskThatWaitedAndCaughtIt) {
    braid::scheduler s(options());
    bool went_on = false;
    s.wait(s.spawn([&](braid::task_context& task) {
        auto gate = s.begin({}, braid::empty);
        const auto id = task.spawn({.after = {gate.id()}}, [] { throw planned("caught"); });
        gate.finish();
        try {
            task.wait(id);
        } catch (const planned&) {
        }
        went_on = true;
    }));
    EXPECT_TRUE(went_on);
}

TEST_P(Failure, ThatIsNotCaughtAtTheWaitBecomesTheWaitersOwn) {
    braid::scheduler s(options());
    auto outer = s.async([&s] {
        auto inner = s.async([] { throw planned("inner"); });
        inner.get();
    });
    EXPECT_THROW(outer.get(), planned);
    s.shut_down();
    EXPECT_EQ(notes_.lost.size(), 0U);
}

}  // namespace
