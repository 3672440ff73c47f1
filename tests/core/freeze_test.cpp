// C37: everything at rest between two tasks, and on again.
#include "core/control/runtime.hpp"
#include "proc_threads.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <unistd.h>
#include <algorithm>

namespace {

BRAID_SCHEDULER_TEST(Freeze);

/// Nobody can change what is at rest any more: all threads of the scheduler but this one sleep.
bool others_sleep() {
    const std::string self = braid_test::this_proc_thread().name;
    std::ptrdiff_t awake = 0;
    for (const char* kind : {"worker", "reserve", "background"}) {
        const auto threads = braid_test::proc_threads(kind);
        awake += std::count_if(threads.begin(), threads.end(),
                               [](const auto& t) { return t.state != 'S'; });
        awake -= self.starts_with(kind);
    }
    return awake == 0;
}

/// Looks until `ran` has changed, which it must not, or nobody is left who could change it.
bool stays(const std::atomic<std::uint64_t>& ran) {
    const std::uint64_t before = ran;
    braid_test::until([&] { return ran != before || others_sleep(); });
    return ran == before;
}

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
        EXPECT_TRUE(stays(ran));
        s.resume();
    }
    stop = true;
    s.shut_down();
    expect_all_ended(s);
}

TEST_P(Freeze, ReturnsAfterTheBodiesThatRun) {
    braid::scheduler s(options());
    const auto& frozen = s.internals().frozen();
    const long self = ::gettid();
    std::atomic<bool> returned{false};
    for (int round = 0; round < 10; ++round) {
        std::atomic<int> began{0}, inside{0};
        returned = false;
        braid::scope all(s);
        for (int i = 0; i < GetParam(); ++i) {
            all.post([&] {
                ++inside;
                ++began;
                // Injected: it ends when freeze() sleeps because of it, or has come back too early.
                braid_test::until([&] {
                    return returned ||
                           (frozen.on() && braid_test::proc_thread_of(self).state == 'S');
                });
                --inside;
            });
        }
        braid_test::until([&] { return began == GetParam(); });
        s.freeze();
        EXPECT_EQ(inside, 0);
        returned = true;
        s.resume();
        all.wait();
    }
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
        // The foreign thread rests in its wait, or is about to.
        braid_test::until([] { return others_sleep(); });
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
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> ran{0};
    braid::scheduler s(options());
    for (int i = 0; i < 20; ++i) s.post(spinning{s, stop, ran});
    int rested = 0;
    for (int i = 0; i < 5; ++i) {
        s.wait(s.spawn([&] {
            s.freeze();
            rested += stays(ran);
            s.resume();
        }));
    }
    EXPECT_EQ(rested, 5);
    stop = true;
}

TEST_P(Freeze, WhoFrozeTheOthersMayWaitMeanwhile) {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> others{0};
    braid::scheduler s(options());
    for (int i = 0; i < 20; ++i) s.post(spinning{s, stop, others});
    int ran = 0, rested = 0;
    std::thread::id ran_on;
    const auto needed = [&] {  // by who waits, so that one runs it
        ++ran;
        ran_on = std::this_thread::get_id();
        rested += stays(others);
    };
    s.freeze();
    s.wait(s.spawn(needed));
    EXPECT_EQ(ran_on, std::this_thread::get_id());
    s.resume();
    s.wait(s.spawn([&](braid::task_context& task) {
        s.freeze();
        task.wait(task.spawn(needed));
        EXPECT_EQ(ran_on, std::this_thread::get_id());
        s.resume();
    }));
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(rested, 2);
    stop = true;
}

TEST_P(Freeze, WorkersMayBeAddedMeanwhile) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> ran{0};
    s.freeze();
    const int count = std::min(GetParam() + 2, 64);
    s.set_worker_count(static_cast<unsigned>(count));
    for (int i = 0; i < 50; ++i) s.post([&] { ++ran; });
    braid_test::until([&] { return ssize(braid_test::proc_threads("worker")) == count; });
    EXPECT_TRUE(stays(ran));
    EXPECT_EQ(ran, 0U);
    s.resume();
    s.shut_down();
    EXPECT_EQ(ran, 50U);
}

TEST_P(Freeze, ThreadsThatAreSwitchedOffWhileTheyRestStillEndWithTheScheduler) {
    // The end's notification comes on top of the one of resume().
    for (int round = 0; round < 50; ++round) {
        braid::scheduler s(options());
        std::atomic<int> inside{0};
        std::atomic<bool> release{false};
        for (int i = 0; i < GetParam(); ++i) {
            s.post([&] {
                ++inside;
                braid_test::until([&] { return release.load(); });
            });
        }
        braid_test::until([&] { return inside == GetParam(); });
        std::thread helper([&] {
            s.freeze();
            s.resume();
        });
        braid_test::until([&] { return s.internals().frozen().on() || GetParam() == 0; });
        s.set_worker_count(0);
        release = true;
        helper.join();
    }
}

}  // namespace
