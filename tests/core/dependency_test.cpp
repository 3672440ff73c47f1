// C5, I2: predecessors, successors, joins, and order that holds whichever thread runs what.
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

using braid_test::scaled;

BRAID_SCHEDULER_TEST(Dependency);

TEST_P(Dependency, ATaskStartsAfterAThousandPredecessors) {
    braid::scheduler s(options());
    std::atomic<int> before{0};
    int seen = 0;
    std::vector<braid::task_id> ids;
    for (int i = 0; i < 1000; ++i) ids.push_back(s.spawn([&before] { ++before; }));
    s.wait(s.spawn({.after_all = ids}, [&] { seen = before; }));
    EXPECT_EQ(seen, 1000);
}

TEST_P(Dependency, AThousandSuccessorsStartAfterOneTask) {
    braid::scheduler s(options());
    std::atomic<bool> over{false};
    std::atomic<int> early{0};
    std::atomic<int> ran{0};
    auto first = s.begin({}, [&over] { over = true; });
    std::vector<braid::task_id> ids;
    for (int i = 0; i < 1000; ++i) {
        ids.push_back(s.spawn({.after = {first.id()}}, [&] {
            early += !over;
            ++ran;
        }));
    }
    first.finish();
    s.wait(s.spawn({.after_all = ids}, braid::empty));
    EXPECT_EQ(ran, 1000);
    EXPECT_EQ(early, 0);
}

TEST_P(Dependency, WhatPredecessorsWrotePlainlyIsVisible) {
    // H7, D7, D15: order came from a qualifier and a barrier. ThreadSanitizer is the judge.
    braid::scheduler s(options());
    for (std::size_t round = 0; round < scaled(300); ++round) {
        int plain[8] = {};
        std::vector<braid::task_id> writers;
        for (int& value : plain) writers.push_back(s.spawn([&value] { value = 1; }));
        int sum = 0;
        const braid::task_id join = s.spawn({.after_all = writers}, braid::empty);
        const braid::task_id reader = s.spawn({.after = {join}}, [&] {
            for (const int value : plain) sum += value;
        });
        s.wait(reader);
        ASSERT_EQ(sum, 8);
    }
}

TEST_P(Dependency, ADiamondKeepsItsOrder) {
    braid::scheduler s(options());
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> clock{0};
        int at[4] = {};
        const auto a = s.spawn([&] { at[0] = ++clock; });
        const auto b = s.spawn({.after = {a}}, [&] { at[1] = ++clock; });
        const auto c = s.spawn({.after = {a}}, [&] { at[2] = ++clock; });
        const auto d = s.spawn({.after = {b, c}}, [&] { at[3] = ++clock; });
        s.wait(d);
        ASSERT_EQ(at[0], 1);
        ASSERT_EQ(at[3], 4);
    }
}

TEST_P(Dependency, AFinishedPredecessorIsSkipped) {
    braid::scheduler s(options());
    const braid::task_id done = s.spawn([] {});
    s.wait(done);
    bool ran = false;
    s.wait(s.spawn({.after = {done, braid::task_id{}}}, [&ran] { ran = true; }));
    EXPECT_TRUE(ran);
}

TEST_P(Dependency, AFinishedTaskReleasesATaskThatIsAddedWhileItEnds) {
    // The race of link and close: the edge is either walked or refused, never lost.
    braid::scheduler s(options());
    for (std::size_t i = 0; i < scaled(3'000); ++i) {
        const braid::task_id first = s.spawn([] {});
        bool ran = false;
        s.wait(s.spawn({.after = {first}}, [&ran] { ran = true; }));
        ASSERT_TRUE(ran);
    }
}

TEST_P(Dependency, EmptyGroupsKeepTheOrderOfTheirNeighbours) {
    // L2: an empty group broke the order between the group before it and the one after it.
    braid::scheduler s(options());
    for (int round = 0; round < 100; ++round) {
        std::atomic<bool> first_over{false};
        bool in_order = false;
        auto gate = s.begin({}, braid::empty);
        const auto first = s.spawn({.after = {gate.id()}}, [&] { first_over = true; });
        auto group = s.spawn({.after = {first}}, braid::empty);
        for (int i = 0; i < 5; ++i) group = s.spawn({.after = {group}}, braid::empty);
        const auto last = s.spawn({.after = {group}}, [&] { in_order = first_over; });
        gate.finish();
        s.wait(last);
        ASSERT_TRUE(in_order);
    }
}

TEST_P(Dependency, AnEmptyTaskWithNothingBeforeItIsDoneAtOnce) {
    // L3: an empty batch slept for ever.
    braid::scheduler s(options());
    const braid::task_id nothing = s.spawn({}, braid::empty);
    EXPECT_TRUE(s.done(nothing));
    s.wait(nothing);
}

TEST_P(Dependency, HoldsBetweenTasksOfEveryClassAndTarget) {
    // D1: 40 of 40 runs broke the order when predecessor and successor had other thread counts.
    // D2: dependents of an inline run started early, its guard being left set.
    braid::scheduler_options o = options();
    braid::scheduler s(o);
    braid::resource exclusive(s);
    const braid::thread_ref here = s.this_thread();
    const auto spawn = [&](int kind, braid::task_id before, auto body) {
        switch (kind) {
            case 0:
                return s.spawn({.after = {before}}, body);
            case 1:
                return s.spawn({.after = {before}, .on = here}, body);
            case 2:
                return s.spawn({.after = {before}, .runs_as = braid::task_class::background}, body);
            case 3:
                return s.spawn({.after = {before}, .uses = {&exclusive}}, body);
            default:
                return s.spawn({.after = {before}, .priority = braid::priority_level::high}, body);
        }
    };
    for (int round = 0; round < 8; ++round) {
        for (int first = 0; first < 5; ++first) {
            for (int second = 0; second < 5; ++second) {
                auto gate = s.begin({}, braid::empty);
                std::atomic<bool> over{false};
                bool in_order = false;
                const auto a = spawn(first, gate.id(), [&] { over = true; });
                const auto b = spawn(second, a, [&] { in_order = over; });
                gate.finish();
                s.wait(b);
                ASSERT_TRUE(in_order) << first << " then " << second;
            }
        }
    }
}

TEST_P(Dependency, AChainOfHalfAMillionNeedsNoStack) {
    const std::size_t length = scaled(500'000);
    braid::scheduler s(options());
    std::atomic<std::size_t> ran{0};
    auto gate = s.begin({}, braid::empty);
    braid::task_id last = gate.id();
    for (std::size_t i = 0; i < length; ++i) {
        last = s.spawn({.after = {last}}, [&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
    }
    gate.finish();
    s.wait(last);
    EXPECT_EQ(ran, length);
}

TEST_P(Dependency, AChainOfHalfAMillionEmptyTasksNeedsNoStack) {
    const std::size_t length = scaled(500'000);
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    braid::task_id last = gate.id();
    for (std::size_t i = 0; i < length; ++i) last = s.spawn({.after = {last}}, braid::empty);
    gate.finish();
    EXPECT_TRUE(s.done(last));
}

TEST_P(Dependency, HalfAMillionCancelledSuccessorsNeedNoStack) {
    const std::size_t length = scaled(500'000);
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    const auto fails = s.spawn({.after = {gate.id()}}, [] { throw std::runtime_error("planned"); });
    braid::task_id last = fails;
    std::atomic<int> ran{0};
    for (std::size_t i = 0; i < length; ++i) last = s.spawn({.after = {last}}, [&ran] { ++ran; });
    braid::task_id finally = s.spawn({.after_any = {last}}, [] {});
    gate.finish();
    s.wait(finally);
    EXPECT_TRUE(s.done(last));
    s.shut_down();
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(s.statistics().cancelled, length);
    EXPECT_EQ(notes_.lost.size(), 1U) << "nobody waited for the failed chain";
}

TEST_P(Dependency, TenThousandTasksOfOneFanOutCostAboutAWakeEachAtMost) {
    // L10: a scan of all jobs for each finished one, and a herd of wake-ups with it.
    braid::scheduler s(options());
    const std::size_t count = scaled(10'000);
    std::atomic<std::size_t> ran{0};
    auto gate = s.begin({}, braid::empty);
    std::vector<braid::task_id> ids;
    for (std::size_t i = 0; i < count; ++i) {
        ids.push_back(s.spawn({.after = {gate.id()}}, [&ran] { ++ran; }));
    }
    const auto all = s.spawn({.after_all = ids}, braid::empty);
    const std::uint64_t before = s.statistics().wakes;
    gate.finish();
    s.wait(all);
    EXPECT_EQ(ran, count);
    // One decision for each task that becomes ready, and one when a thread stops searching.
    EXPECT_LE(s.statistics().wakes - before, 2 * count + 64);
}

TEST_P(Dependency, OnItsOwnParentIsDiagnosedAndRefused) {
    // B6: a child that waits for its parent, which waits for the child.
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    auto parent = s.begin({}, braid::empty);
    EXPECT_FALSE(parent.add_child({.after = {parent.id()}}, [&ran] { ++ran; }));
    auto child = s.begin({.parent = parent.id()}, braid::empty);
    EXPECT_FALSE(s.spawn({.after = {parent.id()}, .parent = child.id()}, [&ran] { ++ran; }));
    child.finish();
    s.wait(parent.finish());
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "parent"), 2U);
    EXPECT_EQ(ran, 0);
}

TEST_P(Dependency, ACycleThroughABuilderIsDiagnosedAndNotMade) {
    // L4, B6: a cycle deadlocked.
    braid::scheduler s(options());
    auto first = s.begin({}, braid::empty);
    braid::task_id chain = first.id();
    for (int i = 0; i < 10; ++i) chain = s.spawn({.after = {chain}}, [] {});
    EXPECT_FALSE(first.add_dependency(chain));
    EXPECT_FALSE(first.add_dependency(first.id()));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 2U);
    first.finish();
    s.wait(chain);
}

}  // namespace
