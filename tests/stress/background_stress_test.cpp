// C13: a hundred long background tasks, busy ones and sleeping ones, beside a frame loop.
#include "proc_threads.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/base/policy.hpp>

#include <sched.h>
#include <algorithm>
#include <chrono>

namespace {

using clock_type = std::chrono::steady_clock;

/// A frame: 64 tasks of about 50 µs.
double frame_seconds(braid::scheduler& s) {
    const auto start = clock_type::now();
    braid::scope frame(s);
    for (int i = 0; i < 64; ++i) {
        frame.post([] {
            std::uint64_t x = 1;
            for (int k = 0; k < 50'000; ++k) {
                x = x * 0x9e37'79b9'7f4a'7c15U + 1;
                asm volatile("" : "+r"(x));
            }
        });
    }
    frame.wait();
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

struct frame_times {
    double median, p99;
};

frame_times times_of(braid::scheduler& s, std::size_t frames) {
    std::vector<double> times(frames);
    for (double& t : times) t = frame_seconds(s);
    std::sort(times.begin(), times.end());
    return {times[frames / 2], times[frames * 99 / 100]};
}

/// What the load found out about where it ran.
struct load_account {
    std::atomic<int> begun{0}, elsewhere{0}, not_idle{0};

    void note() {
        const braid_test::proc_thread here = braid_test::this_proc_thread();
        elsewhere += !here.name.starts_with("background");
        not_idle += here.policy != SCHED_IDLE && here.nice != 19;
        ++begun;
    }
};

/// No load ends before the frames have: a frame that needed its thread, or its processor before
/// others, would never end. How long frames take beside it is printed; what the system gives to
/// idle threads, and to other programs, no test can promise.
TEST(BackgroundStress, AHundredLongTasksLeaveFramesToTheirOwnThreads) {
    const braid_test::deadline deadline;
    braid::scheduler s({.background_threads = 2, .long_task = {}});
    const std::size_t frames = braid_test::stress_scaled(400);
    const frame_times alone = times_of(s, frames);
    braid_test::door stop;
    load_account account;
    braid::scope load(s);
    for (int k = 0; k < 100; ++k) {
        load.spawn({.runs_as = braid::task_class::background}, [&, k] {
            account.note();
            // Every other one stands for a read that blocks.
            if (k % 2 == 1) return stop.pass();
            while (!stop.is_open()) braid::active_policy::relax();
        });
    }
    braid_test::until([&] { return account.begun == 2; });
    const frame_times beside = times_of(s, frames);
    EXPECT_EQ(account.begun, 2) << "as many as there are threads for it";
    stop.open();
    load.wait();
    EXPECT_EQ(account.begun, 100);
    EXPECT_EQ(account.elsewhere, 0);
    EXPECT_EQ(account.not_idle, 0);
    std::printf("frame median %.3f ms alone, %.3f beside; p99 %.3f alone, %.3f beside\n",
                alone.median * 1e3, beside.median * 1e3, alone.p99 * 1e3, beside.p99 * 1e3);
}

}  // namespace
