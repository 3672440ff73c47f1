// C10, C17: how many workers there are, and changing that while everything runs.
#include "base/platform/platform.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <sched.h>

namespace {

using braid_test::scaled;

/// A recorded /proc and /sys tree of tests/base.
std::string tree(const char* name) {
    return (std::filesystem::path(__FILE__).parent_path().parent_path() / "base" / "data" / name)
        .string();
}

unsigned automatic_workers(const std::string& root, int main_threads = 1) {
    braid::scheduler s({.main_threads = main_threads, .system_root = root.c_str()});
    return s.worker_count();
}

/// The calling thread may use `count` processors for the life of this object.
class affinity {
public:
    explicit affinity(int count) {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t few;
        CPU_ZERO(&few);
        for (unsigned cpu = 0; cpu < CPU_SETSIZE && count > 0; ++cpu) {
            if (!CPU_ISSET(cpu, &before_)) continue;
            CPU_SET(cpu, &few);
            --count;
        }
        possible_ = count == 0 && sched_setaffinity(0, sizeof few, &few) == 0;
    }
    ~affinity() { sched_setaffinity(0, sizeof before_, &before_); }
    affinity(const affinity&) = delete;
    affinity& operator=(const affinity&) = delete;
    bool possible() const { return possible_; }

private:
    cpu_set_t before_;
    bool possible_ = false;
};

TEST(WorkerCount, IsUsableCoresMinusMainThreads) {
    const unsigned usable = braid::platform::usable_cores("/nonexistent");
    EXPECT_EQ(automatic_workers("/nonexistent"), usable - 1);
    EXPECT_EQ(automatic_workers("/nonexistent", 0), usable);
    EXPECT_EQ(automatic_workers("/nonexistent", 1000), 0U);
}

TEST(WorkerCount, ObeysTheQuotaOfAContainer) {
    const unsigned machine = braid::platform::usable_cores("/nonexistent");
    EXPECT_EQ(automatic_workers(tree("v2_half")), 0U);
    EXPECT_EQ(automatic_workers(tree("v2_half"), 0), 1U);
    EXPECT_EQ(automatic_workers(tree("v1_container"), 0), std::min(machine, 2U));
    EXPECT_EQ(automatic_workers(tree("v1_own"), 0), std::min(machine, 4U));
    EXPECT_EQ(automatic_workers(tree("v2_unlimited"), 0), machine);
}

TEST(WorkerCount, ObeysTheAffinityMask) {
    for (const int cores : {1, 2}) {
        const affinity only(cores);
        if (!only.possible()) GTEST_SKIP() << "fewer than " << cores << " processors";
        EXPECT_EQ(automatic_workers("/nonexistent"), static_cast<unsigned>(cores - 1));
    }
}

BRAID_SCHEDULER_TEST(Workers);

TEST_P(Workers, AreAsManyAsAskedFor) {
    braid::scheduler s(options());
    EXPECT_EQ(s.worker_count(), static_cast<unsigned>(GetParam()));
}

TEST_P(Workers, EveryKindOfWorkIsDoneWithWhateverCountThereIs) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    const braid::task_id a = s.spawn([&] { ++ran; });
    const braid::task_id b = s.spawn({.after = {a}}, [&](braid::task_context& task) {
        for (int i = 0; i < 10; ++i) task.spawn_child([&] { ++ran; });
    });
    s.wait(s.spawn({.after = {b}}, [&](braid::task_context& task) {
        task.wait(task.spawn([&] { ++ran; }));
        ++ran;
    }));
    s.wait(s.spawn({.runs_as = braid::task_class::background}, [&] { ++ran; }));
    EXPECT_EQ(s.async([] { return 7; }).get(), 7);
    EXPECT_EQ(ran, 14);
}

TEST_P(Workers, MayChangeWhileTasksRunAndNothingIsLost) {
    braid::scheduler_options o = options();
    o.max_workers = std::min(GetParam() + 4, 16);
    o.workers = std::min(GetParam(), 16);
    braid::scheduler s(o);
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> ran{0};
    std::uint64_t posted = 0;
    std::thread changer([&] {
        const unsigned max = static_cast<unsigned>(o.max_workers);
        for (int i = 0; !over; ++i) {
            const unsigned counts[] = {0, max, 1, max / 2, 0, 2};
            s.set_worker_count(counts[i % 6]);
            std::this_thread::yield();
        }
    });
    for (std::size_t round = 0; round < scaled(300); ++round) {
        braid::scope all(s);
        for (int i = 0; i < 50; ++i, posted += 2) {
            all.spawn({}, [&](braid::task_context& task) {
                ++ran;
                task.wait(task.spawn([&] { ++ran; }));
            });
        }
        all.wait();
    }
    over = true;
    changer.join();
    EXPECT_EQ(ran, posted);
    s.set_worker_count(0);
    EXPECT_EQ(s.worker_count(), 0U);
    s.set_worker_count(1'000'000);
    EXPECT_EQ(s.worker_count(), static_cast<unsigned>(o.max_workers));
    expect_all_ended(s);
}

TEST_P(Workers, QueuedWorkRunsAfterAllWorkersWereSwitchedOff) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    braid::scope all(s);
    for (int i = 0; i < 1000; ++i) all.post([&] { ++ran; });
    s.set_worker_count(0);
    all.wait();
    EXPECT_EQ(ran, 1000);
}

TEST_P(Workers, WhatFollowsATaskForAThreadThatIsSwitchedOffRunsElsewhere) {
    if (GetParam() < 2) GTEST_SKIP() << "nobody is switched off";
    braid::scheduler s(options());
    const braid::thread_ref off = s.worker_thread(static_cast<unsigned>(GetParam()) - 1);
    s.set_worker_count(1);
    s.wait(s.spawn({.on = off}, [] {}));  // after it, that thread sees the new count
    for (int round = 0; round < 20; ++round) {
        const auto pinned = s.spawn({.on = off}, [&] { EXPECT_EQ(s.this_thread(), off); });
        s.wait(s.spawn({.after = {pinned}}, [&] { EXPECT_NE(s.this_thread(), off); }));
    }
}

TEST_P(Workers, AForeignWaitEndsThoughNobodyElseMayWork) {
    braid::scheduler s(options());
    s.set_worker_count(0);
    std::atomic<int> ran{0};
    std::thread([&] {
        s.wait(s.spawn([&](braid::task_context& task) {
            task.wait(task.spawn([&] { ++ran; }), braid::help::none);
        }));
    }).join();
    EXPECT_EQ(ran, 1);
}

}  // namespace
