// C37: everything at rest between two tasks, and on again.
#include "scale.hpp"
#include "scheduler_test.hpp"

namespace {

BRAID_SCHEDULER_TEST(Freeze);

/// Tasks that spawn their own successors for ever, each adding to `ran`.
struct spinning {
    braid::scheduler& s;
    std::atomic<bool>& stop;
    std::atomic<std::uint64_t>& ran;
    void operator()() const {
        ++ran;
        if (!stop) s.post(spinning(*this));
    }
};

TEST_P(Freeze, NothingRunsUntilResume) {
    braid::scheduler s(options());
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> ran{0};
    for (int i = 0; i < 20; ++i) s.post(spinning{s, stop, ran});
    s.post({.runs_as = braid::task_class::background}, [] {});
    const bool runs_by_itself = GetParam() > 0;
    for (int round = 0; round < 20; ++round) {
        const std::uint64_t before = ran;
        if (runs_by_itself) braid_test::until([&] { return ran > before + 50; });
        s.freeze();
        const std::uint64_t frozen = ran;
        for (int i = 0; i < 200; ++i) std::this_thread::yield();
        EXPECT_EQ(ran, frozen);
        s.resume();
    }
    stop = true;
    s.shut_down();
    expect_all_ended(s);
}

TEST_P(Freeze, WaitersAndReservesRestToo) {
    braid::scheduler s(options());
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> ran{0};
    for (int i = 0; i < 8; ++i) {
        s.post([&](braid::task_context& task) {
            while (!stop) {
                task.wait(task.spawn([&] { ++ran; }), braid::help::none);
            }
        });
    }
    std::thread helper([&] {  // with 0 workers somebody has to begin
        while (!stop) s.wait(s.spawn([&] { ++ran; }), braid::help::none);
    });
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t before = ran;
        braid_test::until([&] { return ran > before + 20; });
        s.freeze();
        // The foreign thread is not the scheduler's: it may run what it waits for, one at a time.
        s.resume();
    }
    stop = true;
    helper.join();
    s.shut_down();
    expect_all_ended(s);
}

TEST_P(Freeze, AFrozenSchedulerTakesWorkAndShutsDown) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    s.freeze();
    for (int i = 0; i < 100; ++i) s.post([&] { ++ran; });
    if (GetParam() > 0) {
        EXPECT_EQ(ran, 0);
    }
    s.shut_down();
    EXPECT_EQ(ran, 100);
}

TEST_P(Freeze, ATaskMayFreezeTheOthersAroundIt) {
    braid::scheduler s(options());
    int value = 0;
    for (int i = 0; i < 20; ++i) {
        s.wait(s.spawn([&] {
            s.freeze();
            ++value;
            s.resume();
        }));
    }
    EXPECT_EQ(value, 20);
}

TEST_P(Freeze, WhoFrozeTheOthersMayWaitMeanwhile) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    s.freeze();
    s.wait(s.spawn([&] { ++ran; }));  // needed, so this thread runs it
    s.resume();
    s.wait(s.spawn([&](braid::task_context& task) {
        s.freeze();
        task.wait(task.spawn([&] { ++ran; }));
        s.resume();
    }));
    EXPECT_EQ(ran, 2);
}

TEST_P(Freeze, WorkersMayBeAddedMeanwhile) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    s.freeze();
    s.set_worker_count(static_cast<unsigned>(std::min(GetParam() + 2, 64)));
    for (int i = 0; i < 50; ++i) s.post([&] { ++ran; });
    for (int i = 0; i < 200; ++i) std::this_thread::yield();
    EXPECT_EQ(ran, 0);
    s.resume();
    s.shut_down();
    EXPECT_EQ(ran, 50);
}

TEST_P(Freeze, ThreadsThatAreSwitchedOffWhileTheyRestStillEndWithTheScheduler) {
    // The end's notification comes on top of the one of resume().
    for (int round = 0; round < 50; ++round) {
        braid::scheduler s(options());
        std::atomic<int> inside{0};
        std::atomic<bool> freezes{false}, release{false};
        for (int i = 0; i < GetParam(); ++i) {
            s.post([&] {
                ++inside;
                braid_test::until([&] { return release.load(); });
            });
        }
        braid_test::until([&] { return inside == GetParam(); });
        std::thread helper([&] {
            freezes = true;
            s.freeze();
            s.resume();
        });
        braid_test::until([&] { return freezes.load(); });
        s.set_worker_count(0);
        for (int i = 0; i < 20; ++i) std::this_thread::yield();
        release = true;
        helper.join();
    }
}

}  // namespace
