// A wait watches for a while what runs elsewhere before it sleeps.
#include "core/control/runtime.hpp"

#include "braid/braid.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <atomic>
#include <thread>

namespace {

using braid::active_policy;

void take(std::int64_t ns) {
    const std::int64_t end = active_policy::now() + ns;
    while (active_policy::now() < end) {
    }
}

TEST(Watch, AWaitForWhatIsSoonDoneElsewhereDoesNotSleep) {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two cores";
    const braid_test::deadline deadline;
    braid::scheduler s({.workers = 1});
    const auto waits_without_sleep = [&] {
        std::atomic<bool> started{false}, go{false};
        const braid::task_id task = s.spawn([&] {
            started = true;
            while (!go) {
            }
            take(10'000);
        });
        braid_test::until([&] { return started.load(); });
        const auto parks = [&] { return s.statistics(s.this_thread().seat).parks; };
        const std::uint64_t before = parks();
        go = true;
        s.wait(task);
        return parks() == before;
    };
    // One may end by itself while this thread stands still, or stand still itself; so many in a row
    // do neither.
    constexpr int wanted = 20, most = 20'000;
    int in_a_row = 0;
    for (int i = 0; i < most && in_a_row != wanted; ++i) {
        in_a_row = waits_without_sleep() ? in_a_row + 1 : 0;
    }
    EXPECT_EQ(in_a_row, wanted);
}

TEST(Watch, LastsLongerWhereACoreIsFreeAndNotAtAllWhereThreadsSleepAtOnce) {
    const auto until = [](braid::scheduler& s) { return s.internals().end_of_watch(); };
    braid::scheduler power({.workers = 0, .idle = braid::parking::power});
    EXPECT_EQ(until(power), -1);
    braid::scheduler free_core({.workers = 0});
    const std::int64_t before = active_policy::now();
    EXPECT_GE(until(free_core), before + 50'000);
    braid::scheduler full({.workers = static_cast<int>(free_core.internals().cores())});
    const std::int64_t at_full = until(full);
    EXPECT_GT(at_full, before);
    EXPECT_LE(at_full, active_policy::now() + 12'000);
}

}  // namespace
