// C4: two-phase building.
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

BRAID_SCHEDULER_TEST(Builder);

TEST_P(Builder, ChildrenAddedAfterTheWorkRanStillCount) {
    // B1: a slow builder and instant workers: the task was complete before its children came.
    braid::scheduler s(options());
    for (int round = 0; round < 50; ++round) {
        braid::event ran(s);
        std::atomic<int> children{0};
        auto building = s.begin({}, [&ran] { ran.set(); });
        s.do_work_while_waiting_for(ran);
        if (GetParam() != 0) {
            EXPECT_EQ(s.state(building.id()), braid::task_state::open);
        }
        for (int i = 0; i < 3; ++i) building.add_child([&children] { ++children; });
        EXPECT_EQ(s.state(building.id()), braid::task_state::open);
        s.wait(building.finish());
        ASSERT_EQ(children, 3);
    }
}

TEST_P(Builder, TheWorkStartsBeforeFinish) {
    braid::scheduler s(options());
    braid::event ran(s);
    auto building = s.begin({}, [&ran] { ran.set(); });
    EXPECT_TRUE(s.do_work_while_waiting_for(ran, braid_test::hang_limit));
    s.wait(building.finish());
}

TEST_P(Builder, PredecessorsCanBeAddedToAnEmptyTaskUntilItIsFinished) {
    braid::scheduler s(options());
    std::atomic<int> before{0};
    auto join = s.begin({}, braid::empty);
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(join.add_dependency(s.spawn([&before] { ++before; })));
    }
    int seen = 0;
    const auto after = s.spawn({.after = {join.id()}}, [&] { seen = before; });
    join.finish();
    s.wait(after);
    EXPECT_EQ(seen, 100);
}

TEST_P(Builder, ACycleIsRefusedByWhicheverPredecessorItGoes) {
    for (const bool first : {false, true}) {
        braid::scheduler s(options());
        auto beginning = s.begin({}, braid::empty);
        auto beside = s.begin({}, braid::empty);
        const auto after = s.spawn({.after = {beginning.id()}}, [] {});
        const auto last = first ? s.spawn({.after = {after, beside.id()}}, [] {})
                                : s.spawn({.after = {beside.id(), after}}, [] {});
        EXPECT_FALSE(beginning.add_dependency(last));
        beginning.finish();
        beside.finish();
        s.wait(last);
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 2U);
}

TEST_P(Builder, ATaskWithWorkTakesNoPredecessorsLater) {
    braid::scheduler s(options());
    const auto other = s.spawn([] {});
    auto building = s.begin({}, [] {});
    EXPECT_FALSE(building.add_dependency(other));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 1U);
    s.wait(building.finish());
}

TEST_P(Builder, ThatIsNotFinishedCancelsItsTask) {
    braid::scheduler s(options());
    braid::task_id id;
    bool ran = false;
    {
        auto gate = s.begin({}, braid::empty);
        {
            auto building = s.begin({.after = {gate.id()}}, [&ran] { ran = true; });
            id = building.id();
        }
        EXPECT_EQ(s.state(id), braid::task_state::open);
        gate.finish();
    }
    s.shut_down();
    EXPECT_FALSE(ran);
    EXPECT_TRUE(s.done(id));
    EXPECT_EQ(s.statistics().cancelled, 1U);
    expect_all_ended(s);
}

TEST_P(Builder, ThatIsNotFinishedAfterItsTaskRanCountsItAsExecuted) {
    braid::scheduler s(options());
    braid::scope all(s);
    braid::event ran(s);
    {
        auto building = s.begin({.within = &all}, [&ran] { ran.set(); });
        s.do_work_while_waiting_for(ran);
        braid_test::until([&] { return s.statistics().executed == 1; });
    }
    all.wait();
    EXPECT_EQ(all.account().executed, 1U);
    EXPECT_EQ(all.account().cancelled, 0U);
}

TEST_P(Builder, ManyBuildersInManyThreadsLoseNothing) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 100; ++i) {
                auto building = s.begin({}, [&ran] { ++ran; });
                building.add_child([&ran] { ++ran; });
                s.wait(building.finish());
            }
        });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(ran, 800);
}

}  // namespace
