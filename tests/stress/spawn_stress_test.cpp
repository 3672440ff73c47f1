// C2: a million spawns from tasks and from foreign threads, each exactly once.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <algorithm>

namespace {

BRAID_SCHEDULER_TEST(SpawnStress);

TEST_P(SpawnStress, AMillionSpawnsRunExactlyOnce) {
    constexpr std::size_t producers = 4;
    const std::size_t each = braid_test::stress_scaled(1'000'000) / (producers * 2);
    std::vector<std::atomic<unsigned char>> runs(producers * each * 2);
    {
        braid::scheduler_options o = options();
        o.ring = 64;
        braid::scheduler s(o);
        std::vector<std::thread> threads;
        for (std::size_t p = 0; p < producers; ++p) {
            threads.emplace_back([&, p] {
                for (std::size_t i = 0; i < each; ++i) {
                    const std::size_t n = (p * each + i) * 2;
                    s.spawn([&runs, n](braid::task_context& task) {
                        ++runs[n];
                        task.spawn([&runs, n] { ++runs[n + 1]; });
                    });
                }
            });
        }
        for (std::thread& t : threads) t.join();
        s.shut_down();
        expect_all_ended(s);
    }
    EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& n) { return n == 1; }));
}

}  // namespace
