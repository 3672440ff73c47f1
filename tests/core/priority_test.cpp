// C7, C8: the highest ready task first, first come first served among equals, and importance is
// inherited by whatever stands in its way.
#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

using braid::priority_level;
using braid_test::door;

/// One worker, held at a door while tasks are queued; then the order in which it runs them.
class Priority : public braid_test::scheduler_test {
protected:
    void hold(braid::scheduler& s) {
        s.post([this] {
            held_.open();
            go_.pass();
        });
        held_.pass();
    }
    auto note(std::string name) {
        return [this, name = std::move(name)] {
            const std::lock_guard lock(mutex_);
            order_.push_back(name);
        };
    }
    /// Watches from outside: a wait would release this thread's permit, and two would run tasks.
    void finish(braid::scope& all, std::size_t notes) {
        braid_test::until([&] {
            const std::lock_guard lock(mutex_);
            return order_.size() == notes;
        });
        all.wait();
    }
    using names = std::vector<std::string>;

    door held_, go_;
    std::mutex mutex_;
    names order_;
};
INSTANTIATE_TEST_SUITE_P(OneWorker, Priority, testing::Values(1));

TEST_P(Priority, TheHighestReadyRunsFirstAndEqualsInTheOrderOfPosting) {
    braid::scheduler s(options());
    hold(s);
    braid::scope all(s);
    names expected[3];
    for (int i = 0; i < 300; ++i) {
        const int level = i * 7 % 3;
        const std::string name = std::to_string(level) + "." + std::to_string(i);
        expected[level].push_back(name);
        all.spawn({.priority = static_cast<priority_level>(level)}, note(name));
    }
    go_.open();
    finish(all, 300);
    names whole;
    for (int level = 2; level >= 0; --level) {
        whole.insert(whole.end(), expected[level].begin(), expected[level].end());
    }
    EXPECT_EQ(order_, whole);
}

TEST_P(Priority, ALowTaskForThisThreadAloneStandsBehindHighOnesForAll) {
    braid::scheduler s(options());
    hold(s);
    braid::scope all(s);
    all.spawn({.priority = priority_level::low, .on = s.worker_thread(0)}, note("pinned low"));
    all.spawn({.priority = priority_level::high}, note("high"));
    all.spawn({.priority = priority_level::high, .on = s.worker_thread(0)}, note("pinned high"));
    all.spawn({}, note("normal"));
    go_.open();
    finish(all, 4);
    EXPECT_EQ(order_, (names{"pinned high", "high", "normal", "pinned low"}));
}

TEST_P(Priority, ANewTableMovesTasksThatAreAlreadyQueued) {
    braid::scheduler_options o = options();
    for (const std::uint32_t ring : {2U, 64U}) {  // 2: most of them lie in the shared list
        o.ring = ring;
        door held, go;
        order_.clear();
        braid::scheduler s(o);
        const priority_level before[] = {priority_level::normal, priority_level::low,
                                         priority_level::high};
        const priority_level after[] = {priority_level::normal, priority_level::high,
                                        priority_level::low};
        s.set_priority_table(before, 3);
        s.post([&] {
            held.open();
            go.pass();
        });
        held.pass();
        braid::scope all(s);
        names first, second;
        for (int i = 0; i < 10; ++i) {
            first.push_back("physics " + std::to_string(i));
            second.push_back("audio " + std::to_string(i));
            all.spawn({.category = 2}, note(second.back()));
            all.spawn({.category = 1}, note(first.back()));
        }
        s.set_priority_table(after, 3);
        go.open();
        finish(all, 20);
        first.insert(first.end(), second.begin(), second.end());
        if (ring == 2) {  // the shared list and the ring keep their order each, not one of both
            for (std::size_t i = 0; i < 10; ++i) {
                EXPECT_EQ(order_[i].substr(0, 5), "physi") << i << " at ring " << ring;
            }
        } else {
            EXPECT_EQ(order_, first) << "ring " << ring;
        }
    }
}

TEST_P(Priority, ALowPredecessorOfAHighTaskOvertakesNormalOnes) {
    braid::scheduler s(options());
    hold(s);
    braid::scope all(s);
    const braid::task_id low = all.spawn({.priority = priority_level::low}, note("low"));
    for (int i = 0; i < 5; ++i) all.spawn({}, note("normal"));
    all.spawn({.after = {low}, .priority = priority_level::high}, note("high"));
    go_.open();
    finish(all, 7);
    EXPECT_EQ(order_, (names{"low", "high", "normal", "normal", "normal", "normal", "normal"}));
}

TEST_P(Priority, IsInheritedAlongAChainOfPredecessors) {
    braid::scheduler s(options());
    hold(s);
    braid::scope all(s);
    braid::task_id last;
    names expected;
    for (int i = 0; i < 8; ++i) {
        expected.push_back("link " + std::to_string(i));
        last = all.spawn({.after = {last}, .priority = priority_level::low}, note(expected.back()));
    }
    all.spawn({}, note("normal"));
    all.spawn({.after = {last}, .priority = priority_level::high}, note("high"));
    expected.insert(expected.end(), {"high", "normal"});
    go_.open();
    finish(all, 10);
    EXPECT_EQ(order_, expected);
}

TEST_P(Priority, IsInheritedByWhatAHighTaskWaitsFor) {
    braid::scheduler s(options());
    braid::scope all(s);
    // The high task sits on the worker; what it waits for lies behind normal tasks.
    all.spawn({.priority = priority_level::high}, [&](braid::task_context& task) {
        held_.open();
        go_.pass();
        task.wait(task.spawn({.priority = priority_level::low}, note("low")), braid::help::none);
        note("high")();
    });
    held_.pass();
    for (int i = 0; i < 5; ++i) all.spawn({}, note("normal"));
    go_.open();
    finish(all, 7);
    ASSERT_EQ(order_.size(), 7U);
    EXPECT_EQ(order_[0], "low");
}

// The level of a task with a category is raised by one thread while others look it up: 255 must
// never be taken for a level (the sanitizers would see the access).
TEST_P(Priority, RaisingATaskWithACategoryIsNeverSeenHalfDone) {
    braid::scheduler s(options());
    std::vector<priority_level> table(256, priority_level::low);
    s.set_priority_table(table.data(), table.size());
    std::atomic<int> ran{0};
    const int rounds = static_cast<int>(braid_test::scaled(5000));
    braid::scope all(s);
    for (int i = 0; i < rounds; ++i) {
        const braid::task_id first = all.spawn({}, [&ran] { ++ran; });
        const braid::task_id middle =
            all.spawn({.after = {first}, .category = 255}, [&ran] { ++ran; });
        all.spawn({.after = {middle}, .priority = priority_level::high}, [&ran] { ++ran; });
    }
    all.wait();
    EXPECT_EQ(ran, 3 * rounds);
}

BRAID_SCHEDULER_TEST(PriorityEverywhere);

TEST_P(PriorityEverywhere, WhatAWaiterClaimsNoLongerCountsAsUrgentWork) {
    braid::scheduler s(options());
    for (int i = 0; i < 100; ++i) {
        const auto first = s.spawn({.priority = priority_level::high}, [] {});
        const auto newest = s.spawn({.priority = priority_level::high}, [] {});
        s.wait(first);
        s.wait(newest);
    }
    // Or every thread would look for it after each task.
    EXPECT_FALSE(s.internals().urgent_ready());
}

TEST_P(PriorityEverywhere, SwappingTheTableWhileTasksRunLosesNone) {
    braid::scheduler s(options());
    braid::scope all(s);
    std::atomic<int> ran{0};
    const int tasks = static_cast<int>(braid_test::scaled(3000));
    for (int i = 0; i < tasks; ++i) {
        all.spawn({.category = static_cast<std::uint8_t>(1 + i % 3)}, [&ran] { ++ran; });
        if (i % 50 != 0) continue;
        const auto level = static_cast<priority_level>(i / 50 % 3);
        const priority_level table[] = {level, level, priority_level::high, priority_level::low};
        s.set_priority_table(table, 4);
    }
    all.wait();
    EXPECT_EQ(ran, tasks);
    expect_all_ended(s);
}

}  // namespace
