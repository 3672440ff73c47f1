// C23: a thread that is woken runs on another core than the one that wakes it.
#include "core/control/runtime.hpp"

#include "scale.hpp"
#include "scheduler_test.hpp"

#include <sched.h>

#include <atomic>
#include <chrono>

namespace {

/// The calling thread on one core for as long as this lives.
class on_one_core {
public:
    on_one_core() {
        sched_getaffinity(0, sizeof before_, &before_);
        core_ = sched_getcpu();
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(core_), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~on_one_core() { sched_setaffinity(0, sizeof before_, &before_); }
    on_one_core(const on_one_core&) = delete;
    on_one_core& operator=(const on_one_core&) = delete;

    int core() const { return core_; }
    int cores() const { return CPU_COUNT(&before_); }
    const cpu_set_t& before() const { return before_; }

private:
    cpu_set_t before_{};
    int core_ = 0;
};

TEST(ThreadsWake, OnAnotherCoreThanTheThreadThatWakesThem) {
    const braid_test::deadline deadline;
    braid::scheduler s({.workers = 1, .idle = braid::parking::power});
    const on_one_core here;
    if (here.cores() < 2) GTEST_SKIP() << "needs two cores";
    const unsigned worker = s.worker_thread(0).seat;
    const auto asleep = [&] {
        return s.internals().asleep().asleep(worker, braid::detail::searcher::idle);
    };
    int together = 0;
    int may_be_together = 0;
    constexpr int rounds = 100;
    for (int i = 0; i < rounds; ++i) {
        braid_test::until(asleep);
        const std::uint64_t parks = s.statistics(worker).parks;
        std::atomic<int> core{-1};
        s.post([&] {
            cpu_set_t seen;
            sched_getaffinity(0, sizeof seen, &seen);
            may_be_together += CPU_ISSET(static_cast<unsigned>(here.core()), &seen) != 0;
            core = sched_getcpu();
        });
        while (core < 0) {  // no yield: the worker needs another core
        }
        together += core == here.core();
        braid_test::until([&] { return s.statistics(worker).parks > parks; });
    }
    // One that sees the task before it sleeps, or was just pushed off its core, may run there for a
    // moment.
    EXPECT_LE(together, rounds / 20);
    EXPECT_LE(may_be_together, rounds / 20);
}

TEST(ThreadsWake, AndMayRunAnywhereOnceTheyHaveRunForAWhile) {
    const braid_test::deadline deadline;
    braid::scheduler s({.workers = 1, .idle = braid::parking::power});
    const on_one_core here;
    if (here.cores() < 2) GTEST_SKIP() << "needs two cores";
    for (int i = 0; i < 5; ++i) {
        const std::uint64_t parks = s.statistics(s.worker_thread(0).seat).parks;
        std::atomic<bool> over{false};
        cpu_set_t seen;
        s.post({.name = "long", .may_be_long = true}, [&] {
            const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(12);
            while (std::chrono::steady_clock::now() < end) {
            }
            s.post([&] {
                sched_getaffinity(0, sizeof seen, &seen);
                over = true;
            });
        });
        while (!over) {
        }
        EXPECT_TRUE(CPU_EQUAL(&seen, &here.before()));
        braid_test::until([&] { return s.statistics(s.worker_thread(0).seat).parks > parks; });
    }
}

TEST(ThreadsWake, WhereTheProgramPutThem) {
    const braid_test::deadline deadline;
    braid::scheduler s({.workers = 1, .idle = braid::parking::power});
    const on_one_core here;
    if (here.cores() < 2) GTEST_SKIP() << "needs two cores";
    const auto affinity = [&s](const cpu_set_t* set) {
        std::atomic<bool> over{false};
        cpu_set_t seen;
        s.post([&] {
            if (set != nullptr) sched_setaffinity(0, sizeof *set, set);
            sched_getaffinity(0, sizeof seen, &seen);
            over = true;
        });
        braid_test::until([&] { return over.load(); });
        return seen;
    };
    cpu_set_t mine;
    CPU_ZERO(&mine);
    CPU_SET(static_cast<unsigned>(here.core()), &mine);
    // A worker that is not asleep yet may see the first task by itself, and the thread that wakes
    // it then puts it elsewhere when the task has put it here.
    braid_test::until([&] { return s.statistics(s.worker_thread(0).seat).parks != 0; });
    affinity(&mine);
    for (int i = 0; i < 20; ++i) {
        const cpu_set_t seen = affinity(nullptr);
        EXPECT_TRUE(CPU_EQUAL(&seen, &mine));
    }
}

}  // namespace
