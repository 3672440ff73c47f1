// C12: events, and the work that goes on while a thread waits for one.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/core/observer.hpp>

#include <climits>
#include <memory>
#include <optional>

namespace {

BRAID_SCHEDULER_TEST(Event);

TEST_P(Event, AutomaticResetLetsOneWaiterThroughForEachSet) {
    braid::scheduler s(options());
    braid::event turnstile(s);
    constexpr int count = 4;
    std::atomic<int> through{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&] {
            EXPECT_TRUE(s.do_work_while_waiting_for(turnstile));
            ++through;
        });
    }
    for (int i = 1; i <= count; ++i) {
        turnstile.set();
        braid_test::until([&] { return through == i; });
        EXPECT_FALSE(turnstile.is_set());
    }
    for (std::thread& t : threads) t.join();
}

/// Holds a thread that wakes up until the test lets it go on.
struct held_after_sleep final : braid::observer {
    std::atomic<unsigned> seat{UINT_MAX};
    std::atomic<bool> woke{false}, go_on{false};
    void on_event(const braid::task_event& e) override {
        if (e.kind != braid::event_kind::unparked || e.seat != seat.load()) return;
        woke = true;
        while (!go_on) std::this_thread::yield();
    }
};

TEST_P(Event, SetAfterTheTimeIsUpAndBeforeTheWaiterLooksCountsAsInTime) {
    held_after_sleep held;
    braid::scheduler_options o = options();
    o.observer = &held;
    o.idle = braid::parking::power;
    braid::scheduler s(o);
    braid::event there(s);
    held.seat = s.this_thread().seat;
    std::thread setter([&] {
        braid_test::until([&] { return held.woke.load(); });
        there.set();
        held.go_on = true;
    });
    bool in_time = false;
    // A thread that has no core for so long does not fall asleep, and has to wait again.
    while (!held.woke) in_time = s.do_work_while_waiting_for(there, braid::milliseconds(20));
    // False would say "not set", and the event would be taken all the same.
    EXPECT_TRUE(in_time);
    EXPECT_FALSE(there.is_set());
    setter.join();
}

TEST_P(Event, ManualResetLetsEverybodyThroughUntilItIsCleared) {
    braid::scheduler s(options());
    braid::event open(s, braid::reset::manual);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] { EXPECT_TRUE(s.do_work_while_waiting_for(open)); });
    }
    open.set();
    for (std::thread& t : threads) t.join();
    EXPECT_TRUE(open.is_set());
    EXPECT_TRUE(s.do_work_while_waiting_for(open));
    open.clear();
    EXPECT_FALSE(s.do_work_while_waiting_for(open, braid::microseconds(100)));
}

TEST_P(Event, ASetBeforeTheWaitIsKept) {
    braid::scheduler s(options());
    braid::event happened(s);
    happened.set();
    happened.set();
    EXPECT_TRUE(s.do_work_while_waiting_for(happened));
    EXPECT_FALSE(s.do_work_while_waiting_for(happened, braid::nanoseconds{0}));
}

TEST_P(Event, TimesOutNotBeforeItsTime) {
    braid::scheduler s(options());
    braid::event never(s);
    const auto before = std::chrono::steady_clock::now();
    EXPECT_FALSE(s.do_work_while_waiting_for(never, std::chrono::milliseconds(3)));
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(3));
}

TEST_P(Event, MayBeDestroyedAsSoonAsItsWaiterHasReturned) {
    braid::scheduler s(options());
    for (std::size_t i = 0; i < braid_test::scaled(2'000); ++i) {
        auto happened = std::make_unique<braid::event>(s);
        s.post([e = happened.get()] { e->set(); });
        s.do_work_while_waiting_for(*happened);
    }
}

TEST_P(Event, TheSchedulerMayEndAsSoonAsAWaiterHasReturned) {
    // ThreadSanitizer sees what a set() touches after that.
    for (std::size_t i = 0; i < braid_test::scaled(200); ++i) {
        std::optional<braid::scheduler> s(options());
        std::optional<braid::event> happened(*s);
        std::thread setter([&e = *happened] { e.set(); });
        EXPECT_TRUE(s->do_work_while_waiting_for(*happened));
        happened.reset();
        s.reset();
        setter.join();
    }
}

TEST_P(Event, AtTheAddressOfAFormerScopeWakesNobodyByMistake) {
    braid::scheduler s(options());
    alignas(64) std::byte place[sizeof(braid::scope)];
    static_assert(sizeof(braid::event) <= sizeof place);
    for (std::size_t i = 0; i < braid_test::scaled(500); ++i) {
        auto* all = new (place) braid::scope(s);
        for (int n = 0; n < 4; ++n) all->post([] {});
        all->wait();
        all->~scope();
        auto* happened = new (place) braid::event(s);
        EXPECT_FALSE(s.do_work_while_waiting_for(*happened, braid::nanoseconds{1000}));
        s.post([happened] { happened->set(); });
        EXPECT_TRUE(s.do_work_while_waiting_for(*happened));
        happened->~event();
    }
}

TEST_P(Event, WorkGoesOnWhileItsWaiterWaitsAndItReturnsSoonAfter) {
    std::atomic<int> ran{0};  // before the scheduler, whose tasks outlive the wait
    braid_test::door held;
    braid::scheduler s(options());
    braid::event stop(s);
    for (int i = 0; i < 100; ++i) s.post([&ran] { ++ran; });
    s.post([&] {
        braid_test::until([&] { return ran >= 50; });
        stop.set();
        held.pass();  // this one is still busy when the waiter returns
    });
    EXPECT_TRUE(s.do_work_while_waiting_for(stop));
    EXPECT_GE(ran, 50);
    held.open();
}

TEST_P(Event, WorkUntilRunsEverythingOnTheCallingThread) {
    braid::scheduler_options o = options();
    o.workers = 0;
    o.max_reserves = 0;
    braid::scheduler s(o);
    braid::event stop(s);
    const std::thread::id here = std::this_thread::get_id();
    int ran = 0;
    for (int i = 0; i < 100; ++i) {
        s.post([&] { ran += std::this_thread::get_id() == here; });
    }
    s.post({.priority = braid::priority_level::low}, [&stop] { stop.set(); });
    s.work_until(stop);
    EXPECT_EQ(ran, 100);
}

TEST_P(Event, PingPongBetweenTwoThreadsLosesNoWakeUp) {
    braid::scheduler s(options());
    braid::event ping(s);
    braid::event pong(s);
    const std::size_t rounds = braid_test::scaled(2'000);
    std::thread other([&] {
        for (std::size_t i = 0; i < rounds; ++i) {
            s.do_work_while_waiting_for(ping);
            pong.set();
        }
    });
    for (std::size_t i = 0; i < rounds; ++i) {
        ping.set();
        s.do_work_while_waiting_for(pong);
    }
    other.join();
}

/// Each leaves the list of those that wait for this event from wherever it stands there.
TEST_P(Event, WaitersWhoseTimeIsUpLeaveInAnyOrder) {
    braid::scheduler s(options());
    constexpr int waiters = 6;
    braid::event never(s);
    std::atomic<int> woken{0};
    for (int round = 0; round < 10; ++round) {
        std::vector<std::thread> threads;
        for (int i = 0; i < waiters; ++i) {
            threads.emplace_back([&, i] {
                // The first to enter is the first to leave in one round, the last in the next.
                const int later = round % 2 == 0 ? i : waiters - i;
                woken += s.do_work_while_waiting_for(never, braid::milliseconds(2 + later));
            });
        }
        for (std::thread& t : threads) t.join();
    }
    EXPECT_EQ(woken, 0);
}

TEST_P(Event, PolledIsEnoughToRunTheTaskThatSetsIt) {
    // Without workers a poll had no time to find somebody who runs it.
    for (const int reserves : {0, 4}) {
        braid::scheduler_options o = options();
        o.max_reserves = reserves;
        braid::scheduler s(o);
        for (int round = 0; round < 10; ++round) {
            braid::event go(s);
            s.post([] {});
            const braid::task_id setter = s.spawn([&go] { go.set(); });
            while (!s.do_work_while_waiting_for(go, braid::microseconds(round))) {
            }
            s.wait(setter);
        }
    }
}

}  // namespace
