// A wait watches for a while what runs elsewhere before it sleeps.
#include "core/control/runtime.hpp"

#include "braid/braid.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <atomic>

namespace {

using braid::active_policy;

/// When the thread of a seat fell asleep for the first time.
struct first_sleep final : braid::observer {
    explicit first_sleep(std::uint16_t of) : seat(of) {}
    void on_event(const braid::task_event& e) override {
        if (e.kind != braid::event_kind::parked || e.seat != seat || at != 0) return;
        at = active_policy::now();
    }
    const std::uint16_t seat;
    std::atomic<std::int64_t> at{0};
};

TEST(Watch, AWaitForWhatIsDoneElsewhereDoesNotSleepBeforeItsWatchEnds) {
    const braid_test::deadline deadline;
    for (int round = 0; round < 20; ++round) {
        first_sleep waiter(0);
        braid::scheduler s({.workers = 1, .observer = &waiter});
        ASSERT_EQ(s.this_thread().seat, waiter.seat);
        braid_test::door started;
        const braid::task_id task = s.spawn([&] {
            started.open();
            braid_test::until([&] { return waiter.at != 0; });
        });
        started.pass();
        const std::int64_t end_of_watch = s.internals().end_of_watch();
        s.wait(task);
        EXPECT_GE(waiter.at, end_of_watch);
    }
}

TEST(Watch, AWaitWithoutTimeIsBackBeforeAWatchWouldEnd) {
    // It watched for 50 µs first, also without any time.
    const braid_test::deadline deadline;
    braid::scheduler s({.workers = 0});
    auto open = s.begin({}, braid::empty);
    braid::event never(s);
    // One that watches is never back so early. One that does not is late where its thread has lost
    // the core meanwhile: that shows nothing, and it waits again.
    const auto comes_to_be_back_early = [&](auto&& wait) {
        braid_test::until([&] {
            const std::int64_t end_of_watch = s.internals().end_of_watch();
            EXPECT_FALSE(wait());
            return active_policy::now() < end_of_watch;
        });
    };
    comes_to_be_back_early([&] { return s.wait_for(open.id(), braid::nanoseconds{0}); });
    comes_to_be_back_early(
        [&] { return s.do_work_while_waiting_for(never, braid::nanoseconds{0}); });
    open.finish();
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
