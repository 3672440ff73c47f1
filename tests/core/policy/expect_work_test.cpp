// expect_work(): who sleeps is awake when the work comes, and asleep again when it does not.
#include "core/control/runtime.hpp"

#include "scale.hpp"
#include "scheduler_test.hpp"

#include <map>

namespace {

BRAID_SCHEDULER_TEST(ExpectWork);

/// All workers sleep; what each has done by then is `look(seat)`.
template <class Look>
void until_each_sleeps(braid::scheduler& s, Look&& look) {
    const braid::detail::runtime& rt = s.internals();
    for (unsigned i = 0; i < s.worker_count(); ++i) {
        const braid::detail::whole_seat& w = rt.seat_at(s.worker_thread(i).seat);
        braid_test::until([&] {
            return rt.asleep().asleep(w.index, braid::detail::searcher::idle) && w.at_rest.load() &&
                   look(w);
        });
    }
}

/// Holds the worker where it begins to search, and says when it last fell asleep.
struct searching_worker final : braid::observer {
    void on_event(const braid::task_event& e) override {
        if (e.kind == braid::event_kind::parked) parked_at = braid::active_policy::now();
        if (e.kind != braid::event_kind::searching || !holds) return;
        held = true;
        braid_test::until([&] { return !holds; });
        held = false;
    }
    std::atomic<bool> holds{false}, held{false};
    std::atomic<std::int64_t> parked_at{0};
};

TEST_P(ExpectWork, FindsAWorkerAwakeThatNeedsNoWake) {
    if (GetParam() == 0) GTEST_SKIP() << "no worker";
    searching_worker worker;
    braid::scheduler_options o = options();
    o.workers = 1;
    o.idle = braid::parking::power;
    o.observer = &worker;
    braid::scheduler s(o);
    const auto asleep = [&] { until_each_sleeps(s, [](const auto&) { return true; }); };
    const auto posted_without_wake = [&] {
        const std::uint64_t wakes = s.statistics().wakes;
        std::atomic<bool> ran{false};
        s.post([&] { ran = true; });
        const bool without = s.statistics().wakes == wakes;
        worker.holds = false;
        braid_test::until([&] { return ran.load(); });
        return without;
    };
    for (int i = 0; i < 5; ++i) {
        // Most often at once; it may have woken by itself just now.
        braid_test::until([&] {
            asleep();
            return !posted_without_wake();
        });
    }
    // Most often at once, too; where it hears of the work after the time, it is announced again.
    std::int64_t at = 0;
    braid_test::until([&] {
        worker.holds = false;
        asleep();
        worker.holds = true;
        s.expect_work(braid::milliseconds(50));
        at = s.internals().expected_work();
        // It hears of it, sleeps again, and wakes by itself.
        braid_test::until([&] { return worker.held || worker.parked_at >= at; });
        return worker.held.load();
    });
    EXPECT_TRUE(posted_without_wake());
    // It goes on searching until the time has passed.
    braid_test::until([&] { return worker.parked_at >= at; });
}

TEST_P(ExpectWork, ThatNeverComesLetsEverybodySleepAgain) {
    braid::scheduler s(options());
    const auto parks = [](const auto& w) { return w.report.counters.parks.load(); };
    std::map<unsigned, std::uint64_t> before;
    until_each_sleeps(s, [&](const auto& w) {
        before[w.index] = parks(w);
        return true;
    });
    s.expect_work(braid::milliseconds(1));
    const std::int64_t at = s.internals().expected_work();
    // Each hears of it, and sleeps again after the time.
    until_each_sleeps(s, [&](const auto& w) {
        return braid::active_policy::now() > at && w.expected_at.load() == at &&
               parks(w) > before[w.index];
    });
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
    s.expect_work(braid::no_limit);  // takes it back
    s.shut_down();
    EXPECT_EQ(ran, 150);
}

TEST_P(ExpectWork, ReachesEveryWorkerThatSleeps) {
    braid::scheduler_options o = options();
    o.idle = braid::parking::power;
    braid::scheduler s(o);
    until_each_sleeps(s, [](const auto&) { return true; });
    s.expect_work(braid::seconds(3600));
    const std::int64_t at = s.internals().expected_work();
    until_each_sleeps(s, [&](const auto& w) { return w.expected_at.load() == at; });
}

}  // namespace
