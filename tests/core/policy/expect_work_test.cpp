// expect_work(): who sleeps is awake when the work comes, and asleep again when it does not.
#include "core/control/runtime.hpp"

#include "scale.hpp"
#include "scheduler_test.hpp"

#include <chrono>

namespace {

BRAID_SCHEDULER_TEST(ExpectWork);

using clock_type = std::chrono::steady_clock;

void pass_until(clock_type::time_point end) {
    braid_test::until([&] { return clock_type::now() >= end; });
}

TEST_P(ExpectWork, FindsAWorkerAwakeThatNeedsNoWake) {
    if (GetParam() == 0) GTEST_SKIP() << "no worker";
    braid::scheduler_options o = options();
    o.workers = 1;
    o.idle = braid::parking::power;
    braid::scheduler s(o);
    const auto asleep = [&] { return s.internals().asleep().anybody_asleep(); };
    const auto posted_without_wake = [&](bool announced) {
        const auto at = clock_type::now() + std::chrono::milliseconds(5);
        if (announced) {
            s.expect_work(at - clock_type::now());
            pass_until(at);
        } else {
            braid_test::until(asleep);
        }
        const std::uint64_t wakes = s.statistics().wakes;
        std::atomic<bool> ran{false};
        s.post([&] { ran = true; });
        braid_test::until([&] { return ran.load(); });
        return s.statistics().wakes == wakes;
    };
    for (int i = 0; i < 5; ++i) {
        // Most often at once; it may have woken by itself just now.
        braid_test::until([&] { return !posted_without_wake(false); });
    }
    // Once without a wake is enough, since one that sleeps always needs one; more than one try,
    // because the machine may be busy with something else at that moment.
    braid_test::until([&] { return posted_without_wake(true); });
}

TEST_P(ExpectWork, ThatNeverComesLetsEverybodySleepAgain) {
    braid::scheduler s(options());
    s.expect_work(braid::milliseconds(1));
    const auto asleep = [&](std::uint64_t parks) { return s.statistics().parks >= parks; };
    // Each worker sleeps, wakes before the time, and sleeps again.
    if (GetParam() > 0 && GetParam() <= 8) {
        braid_test::until([&] { return asleep(2 * static_cast<std::uint64_t>(GetParam())); });
    }
    // Said again and again, also while they sleep, by several threads; nothing is lost.
    std::atomic<int> ran{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            for (std::int64_t i = 0; i < 50; ++i) {
                s.expect_work(braid::microseconds(i * 7 % 90));
                s.post([&] { ++ran; });
            }
        });
    }
    for (auto& t : threads) t.join();
    s.expect_work(braid::forever);  // takes it back
    s.shut_down();
    EXPECT_EQ(ran, 150);
}

TEST_P(ExpectWork, ReachesEveryWorkerThatSleeps) {
    braid::scheduler_options o = options();
    o.idle = braid::parking::power;
    braid::scheduler s(o);
    const braid::detail::runtime& rt = s.internals();
    const auto each = [&](auto&& is_so) {
        for (unsigned i = 0; i < s.worker_count(); ++i) {
            const braid::detail::whole_seat& w = rt.seat_at(s.worker_thread(i).seat);
            braid_test::until([&] { return is_so(w); });
        }
    };
    each([&](const auto& w) { return rt.asleep().asleep(w.index, braid::detail::searcher::idle); });
    s.expect_work(braid::seconds(3600));
    const std::int64_t at = rt.expected_work();
    each([&](const auto& w) { return w.expected_at.load() == at; });
}

}  // namespace
