// C13: a hundred long background tasks, busy ones and sleeping ones, beside a frame loop.
#include "scale.hpp"
#include "scheduler_test.hpp"

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

TEST(BackgroundStress, AHundredLongTasksLeaveTheMedianFrameAsItIs) {
    const braid_test::deadline deadline(std::chrono::seconds(300));
    braid::scheduler s({.background_threads = 2, .long_task = {}});
    const std::size_t frames = braid_test::stress_scaled(400);
    constexpr double bound = 1.2;
    constexpr int tries = 5;  // the machine has other work: one quiet try is enough
    double ratio = 0;
    for (int i = 0; i < tries && (i == 0 || ratio > bound); ++i) {
        const frame_times alone = times_of(s, frames);
        std::atomic<bool> stop{false};
        braid::scope load(s);
        for (int k = 0; k < 100; ++k) {
            load.spawn({.runs_as = braid::task_class::background}, [&stop, k] {
                const auto end = clock_type::now() + std::chrono::seconds(1);
                while (!stop && clock_type::now() < end) {
                    // Every other one stands for a read that blocks.
                    if (k % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
            });
        }
        const frame_times beside = times_of(s, frames);
        stop = true;
        load.wait();
        ratio = beside.median / alone.median;
        // Not bounded: the system gives even an idle thread a tick of up to 4 ms now and then.
        const double p99 = beside.p99 / alone.p99;
        RecordProperty("p99 ratio", std::to_string(p99));
        std::printf("frame median %.3f ms alone, %.3f beside; p99 %.3f alone, %.3f beside\n",
                    alone.median * 1e3, beside.median * 1e3, alone.p99 * 1e3, beside.p99 * 1e3);
    }
    // Sanitizers and shadow memory slow both sides unevenly; there only the running counts.
    if (!braid_test::sanitized) {
        EXPECT_LE(ratio, bound);
    }
}

}  // namespace
