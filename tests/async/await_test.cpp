// A1: what a coroutine can await, and how each wait ends.
#include "co_fixture.hpp"
#include "core/control/runtime.hpp"
#include "counted_news.hpp"
#include "quiet_rounds.hpp"
#include "refusing_memory.hpp"
#include "scale.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

namespace {

using braid::co;
using braid::event;
using braid::future;
using braid::milliseconds;
using braid::task_id;

BRAID_COROUTINE_TEST(Await);

// ---- events ------------------------------------------------------------------------------------

TEST_P(Await, AnEventThatIsSetSuspendsNobody) {
    braid::scheduler s(options());
    event set(s, braid::reset::manual);
    set.set();
    const auto waits = [](event& e) -> co<> {
        co_await e;
        co_await e;
    };
    braid::co_spawn(s, {}, waits(set)).get();
    EXPECT_EQ(pauses_.suspended, 0U);
}

TEST_P(Await, AManualEventLetsEveryTaskAndThreadThrough) {
    braid::scheduler s(options());
    constexpr unsigned many = 100;
    event open(s, braid::reset::manual);
    std::atomic<unsigned> came{0};
    const auto waits = [](event& e, std::atomic<unsigned>& count) -> co<> {
        co_await e;
        ++count;
    };
    std::vector<future<void>> all;
    for (unsigned i = 0; i < many; ++i) all.push_back(braid::co_spawn(s, {}, waits(open, came)));
    until_suspended(s, many);
    std::thread outside([&] { s.do_work_while_waiting_for(open); });
    EXPECT_EQ(came, 0U);
    open.set();
    outside.join();
    for (future<void>& f : all) f.get();
    EXPECT_EQ(came, many);
    expect_all_ended(s);
}

TEST_P(Await, AnAutomaticEventLetsOneTaskThroughForEachSet) {
    braid::scheduler s(options());
    constexpr unsigned many = 20;
    event bell(s);
    std::atomic<unsigned> came{0};
    const auto waits = [](event& e, std::atomic<unsigned>& count) -> co<> {
        co_await e;
        ++count;
    };
    std::vector<future<void>> all;
    for (unsigned i = 0; i < many; ++i) all.push_back(braid::co_spawn(s, {}, waits(bell, came)));
    until_suspended(s, many);
    for (unsigned i = 1; i <= many; ++i) {
        bell.set();
        until(s, [&] { return came >= i; });
        EXPECT_EQ(came, i);
    }
    for (future<void>& f : all) f.get();
    EXPECT_FALSE(bell.is_set());
}

TEST_P(Await, SetsFromManyThreadsAreEachTakenOnce) {
    braid::scheduler s(options());
    const int each = static_cast<int>(braid_test::scaled(400));
    event bell(s);
    std::atomic<int> taken{0};
    std::atomic<bool> ends{false};
    const auto takes = [](event& e, std::atomic<int>& count, const std::atomic<bool>& end) -> co<> {
        while (!end) {
            co_await e;
            ++count;
        }
    };
    std::vector<future<void>> all;
    for (int i = 0; i < 3; ++i) all.push_back(braid::co_spawn(s, {}, takes(bell, taken, ends)));
    std::atomic<int> set{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < each; ++i) {
                const int before = taken;
                bell.set();
                ++set;
                // One set that nobody has taken swallows the next.
                while (taken == before) {
                    if (GetParam() == 0) run_for_a_while(s);
                    std::this_thread::yield();
                }
            }
        });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_LE(taken, set);
    EXPECT_GT(taken, 0);
    ends = true;
    until(s, [&] {
        bell.set();
        return std::all_of(all.begin(), all.end(), [](auto& f) { return f.ready(); });
    });
    for (future<void>& f : all) f.get();
    expect_all_ended(s);
}

TEST_P(Await, ACancelledWaitForAnEventLeavesTheEventToTheNext) {
    braid::scheduler s(options());
    event bell(s);
    braid::scope level(s);
    std::atomic<int> came{0}, cancelled{0};
    const auto waits = [](event& e, std::atomic<int>& in_time, std::atomic<int>& missed) -> co<> {
        const braid::await_status how = co_await braid::as_result(e);
        ++(how ? in_time : missed);
    };
    future<void> first = braid::co_spawn(s, {.within = &level}, waits(bell, came, cancelled));
    until_suspended(s, 1);
    future<void> second = braid::co_spawn(s, {}, waits(bell, came, cancelled));
    until_suspended(s, 2);
    level.cancel();
    first.get();
    EXPECT_EQ(cancelled, 1);
    bell.set();
    second.get();
    EXPECT_EQ(came, 1);
    level.wait();
}

TEST_P(Await, ACancellationAndASetAtOnceLoseNothing) {
    braid::scheduler s(options());
    for (std::size_t i = 0; i < braid_test::scaled(200); ++i) {
        event bell(s);
        braid::scope level(s);
        const auto waits = [](event& e) -> co<bool> {
            co_return static_cast<bool>(co_await braid::as_result(e));
        };
        future<bool> mine = braid::co_spawn(s, {.within = &level}, waits(bell));
        future<bool> other = braid::co_spawn(s, {}, waits(bell));
        std::thread cancels([&] { level.cancel(); });
        bell.set();
        cancels.join();
        bool taken = false;
        until(s, [&] { return mine.ready(); });
        try {
            taken = mine.get();
        } catch (const braid::broken_promise&) {  // it had not begun
        }
        if (taken) bell.set();
        EXPECT_TRUE(other.get()) << "the set was lost with the cancelled one";
        level.wait();
    }
    expect_all_ended(s);
}

/// Says when its thread has settled that many completions.
struct settles final : braid::observer {
    void on_event(const braid::task_event& e) override {
        if (e.kind != braid::event_kind::settled || ++settled != many) return;
        last.open();
        locked.pass();
    }
    static constexpr unsigned many = 64;
    std::atomic<unsigned> settled{0};
    braid_test::door last, locked;
};

TEST_P(Await, ASetTouchesNothingMoreWhenItHasReleasedItsLastWaiter) {
    settles seen;
    braid::scheduler_options o = options();
    o.observer = &seen;
    braid::scheduler s(o);
    event open(s, braid::reset::manual);
    const auto waits = [](event& e) -> co<> { co_await e; };
    std::vector<future<void>> all;
    for (unsigned i = 0; i < settles::many; ++i) all.push_back(braid::co_spawn(s, {}, waits(open)));
    until(s, [&] { return s.statistics().suspensions == settles::many; });
    std::atomic<bool> returned{false};
    std::thread setter([&] {
        open.set();
        returned = true;
    });
    // Another thread has the lock of the event's waiters from the last one on.
    seen.last.pass();
    braid::detail::wait_record r;
    const auto holds_lock = [&] {
        seen.locked.open();
        braid_test::until([&] { return returned.load(); });
        return false;
    };
    EXPECT_FALSE(s.internals().lot().enter(r, braid::detail::address_key(&open),
                                           braid::detail::no_seat, holds_lock));
    setter.join();
    for (future<void>& f : all) f.get();
    expect_all_ended(s);
}

TEST_P(Await, TheSchedulerMayEndAsSoonAsTheLastWaiterOfAnEventHasReturned) {
    // ThreadSanitizer sees what the set() touches after that.
    for (std::size_t i = 0; i < braid_test::scaled(100); ++i) {
        std::optional<braid::scheduler> s(options());
        std::optional<event> open(std::in_place, *s, braid::reset::manual);
        const auto waits = [](event& e) -> co<> { co_await e; };
        std::vector<future<void>> all;
        for (int n = 0; n < 32; ++n) all.push_back(braid::co_spawn(*s, {}, waits(*open)));
        until(*s, [&] { return s->statistics().suspensions == 32; });
        std::thread setter([&e = *open] { e.set(); });
        for (future<void>& f : all) f.get();
        open.reset();
        s.reset();
        setter.join();
    }
}

// ---- the first of some -------------------------------------------------------------------------

TEST_P(Await, TheFirstOfSomeIsNamedAndTheOthersGoOn) {
    braid::scheduler s(options());
    std::array<braid::task_builder, 3> gates{s.begin({}, braid::empty), s.begin({}, braid::empty),
                                             s.begin({}, braid::empty)};
    const auto race = [](std::array<task_id, 3> ids) -> co<std::size_t> {
        const std::size_t first = co_await braid::when_any(ids);
        co_await ids[2];
        co_return first;
    };
    future<std::size_t> f =
        braid::co_spawn(s, {}, race({gates[0].id(), gates[1].id(), gates[2].id()}));
    until_suspended(s, 1);
    gates[1].finish();
    until_suspended(s, 2);
    EXPECT_FALSE(f.ready());
    gates[0].finish();
    gates[2].finish();
    EXPECT_EQ(f.get(), 1U);
    expect_all_ended(s);
}

TEST_P(Await, TheFirstOfSomeMayBeCompleteAlready) {
    braid::scheduler s(options());
    const task_id done = s.spawn([] {});
    s.wait(done);
    auto gate = s.begin({}, braid::empty);
    const auto race = [](std::array<task_id, 2> ids) -> co<std::size_t> {
        co_return co_await braid::when_any(ids);
    };
    EXPECT_EQ(braid::co_spawn(s, {}, race({gate.id(), done})).get(), 1U);
    gate.finish();
    const auto of_none = []() -> co<std::size_t> { co_return co_await braid::when_any({}); };
    EXPECT_EQ(braid::co_spawn(s, {}, of_none()).get(), 0U);
    expect_all_ended(s);
}

TEST_P(Await, TheFirstOfSomeIsHelpedAndItsFailureThrown) {
    braid::scheduler_options o = options();
    o.workers = 0;  // nobody else runs what it awaits
    braid::scheduler s(o);
    auto gate = s.begin({}, braid::empty);
    const auto race = [](std::array<task_id, 2> ids) -> co<> { co_await braid::when_any(ids); };
    future<void> f =
        braid::co_spawn(s, {}, race({gate.id(), s.spawn({.after = {s.spawn([] {})}}, [] {
                                         throw std::runtime_error("x");
                                     })}));
    EXPECT_THROW(f.get(), std::runtime_error);
    gate.finish();
}

TEST_P(Await, TheRestIsCancelledWhereThatIsWanted) {
    braid::scheduler s(options());
    braid::scope rest(s);
    auto gate = s.begin({}, braid::empty);
    std::atomic<int> ran{0};
    const auto race = [](braid::scheduler& on, braid::scope& in, task_id held,
                         std::atomic<int>& count) -> co<std::size_t> {
        const std::array<task_id, 2> ids{
            on.spawn({.after = {held}, .within = &in}, [&count] { ++count; }), on.spawn([] {})};
        co_return co_await braid::when_any(ids, braid::cancel_rest{in});
    };
    EXPECT_EQ(braid::co_spawn(s, {}, race(s, rest, gate.id(), ran)).get(), 1U);
    gate.finish();
    rest.wait();
    EXPECT_EQ(ran, 0);
}

TEST_P(Await, ManyRacesBetweenPredecessorsAndACancellationEndEachWaitOnce) {
    braid::scheduler s(options());
    std::size_t cancelled = 0;
    const std::size_t rounds = braid_test::scaled(2000);
    for (std::size_t i = 0; i < rounds; ++i) {
        braid::scope level(s);
        const auto race = [](braid::scheduler& on) -> co<int> {
            int waits = 0;
            for (int n = 0; n < 4; ++n) {
                const std::array<task_id, 3> ids{on.spawn([] {}), on.spawn([] {}), on.spawn([] {})};
                const auto first = co_await braid::as_result(braid::when_any(ids));
                if (!first) co_return -1;
                if (!co_await braid::as_result(braid::when_all(ids))) co_return -1;
                ++waits;
            }
            co_return waits;
        };
        future<int> f = braid::co_spawn(s, {.within = &level}, race(s));
        if (i % 2 == 0) level.cancel();
        try {
            const int waits = f.get();
            EXPECT_TRUE(waits == 4 || (i % 2 == 0 && waits == -1)) << waits;
            cancelled += waits == -1;
        } catch (const braid::broken_promise&) {
            ++cancelled;
        }
        level.wait();
    }
    EXPECT_LE(cancelled, rounds / 2);
    expect_all_ended(s);
}

// ---- counted -----------------------------------------------------------------------------------

TEST_P(Await, SuspendedTasksAndWhoEndsTheirWaitsAreCounted) {
    braid::scheduler s(options());
    constexpr unsigned many = 10;
    auto gate = s.begin({}, braid::empty);
    event open(s, braid::reset::manual);
    const auto waits = [](task_id id, event& e) -> co<> {
        co_await id;
        co_await e;
    };
    std::vector<future<void>> all;
    const auto counts = [&](std::uint64_t suspended, std::uint64_t outside) {
        const braid::scheduler_statistics now = s.statistics();
        return now.suspended() == suspended && now.outside() == outside;
    };
    for (unsigned i = 0; i < many; ++i) {
        all.push_back(braid::co_spawn(s, {}, waits(gate.id(), open)));
        until(s, [&] { return counts(i + 1, 0); });
    }
    gate.finish();
    until(s, [&] { return counts(many, many) && s.open_completions(nullptr, 0) == many; });
    open.set();
    for (future<void>& f : all) f.get();
    EXPECT_TRUE(counts(0, 0));
    EXPECT_EQ(s.statistics().suspensions, 2 * many);
    EXPECT_EQ(pauses_.suspended, 2 * many);
    expect_all_ended(s);
}

// ---- cancelled ---------------------------------------------------------------------------------

TEST_P(Await, ACancelledTaskMayAwaitInItsCleanUp) {
    braid::scheduler s(options());
    braid::scope level(s);
    auto gate = s.begin({}, braid::empty), second = s.begin({}, braid::empty);
    bool cleaned = false;
    const auto waits = [&](task_id first, task_id then) -> co<> {
        bool unwinds = false;
        try {
            co_await first;
        } catch (const braid::task_cancelled&) {
            unwinds = true;
        }
        EXPECT_TRUE(unwinds);
        co_await then;
        EXPECT_EQ(s.statistics().executed > 0, true);
        cleaned = true;
    };
    future<void> f = braid::co_spawn(s, {.within = &level}, waits(gate.id(), second.id()));
    until_suspended(s, 1);
    level.cancel();
    until_suspended(s, 2);
    EXPECT_FALSE(cleaned) << "the second wait ended early";
    second.finish();
    f.get();
    EXPECT_TRUE(cleaned);
    gate.finish();
    level.wait();
}

TEST_P(Await, TheFirstFailureInAFailFastScopeEndsTheWaitsOfItsCoroutines) {
    braid::scheduler s(options());
    braid::scope level(s, braid::on_failure::cancel);
    auto gate = s.begin({}, braid::empty);
    const auto waits = [](task_id id) -> co<bool> {
        co_return (co_await braid::as_result(id)).cancelled;
    };
    future<bool> suspended = braid::co_spawn(s, {.within = &level}, waits(gate.id()));
    until_suspended(s, 1);
    level.spawn({}, [] { throw std::runtime_error("broken"); });
    EXPECT_TRUE(suspended.get());
    EXPECT_THROW(level.wait(), std::runtime_error);
    gate.finish();
    expect_all_ended(s);
}

TEST_P(Await, ACompletionIsAwaitedByItsId) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> armed{0};
    const auto asks = [](std::atomic<std::uint64_t>& out) -> co<bool> {
        const braid::completion_id first = braid::this_task::defer();
        out = first.value;
        co_await first;
        const braid::completion_id second = braid::this_task::defer();
        out = second.value;
        co_return static_cast<bool>(co_await braid::as_result(second));
    };
    future<bool> f = braid::co_spawn(s, {}, asks(armed));
    until_suspended(s, 1);
    EXPECT_TRUE(s.complete({armed}));
    until_suspended(s, 2);
    EXPECT_FALSE(f.ready());
    EXPECT_TRUE(s.complete({armed}));
    EXPECT_TRUE(f.get());
    expect_all_ended(s);
}

TEST_P(Await, AnotherTaskInTheDetailsOfACoroutineThatEndedIsCancelledWithoutRunning) {
    braid::scheduler s(options());
    const auto pauses = [](braid::scheduler& on) -> co<> { co_await on.spawn([] {}); };
    for (int i = 0; i < 100; ++i) {
        braid::co_spawn(s, {}, pauses(s)).get();
        braid::scope level(s);
        level.cancel();
        bool ran = false;
        auto f = s.async({.within = &level}, [&] { ran = true; });
        EXPECT_THROW(f.get(), std::exception);
        EXPECT_FALSE(ran);
        level.wait();
    }
}

TEST_P(Await, WhatNeedsAResourceThatTheTaskHoldsIsReported) {
    braid::scheduler s(options());
    braid::resource file(s, "file");
    const auto waits = [](braid::scheduler& on, braid::resource& r) -> co<task_id> {
        const task_id id = on.spawn({.uses = {&r}}, [] {});
        co_await id;
        co_return id;
    };
    const task_id id = braid::co_spawn(s, {.uses = {&file}}, waits(s, file)).get();
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "needs a resource that this task holds"),
              1U);
    s.wait(id);
}

TEST_P(Await, AFailureThatTheCoroutineCaughtIsNotItsOwn) {
    braid::scheduler s(options());
    for (std::size_t i = 0; i < braid_test::scaled(200); ++i) {
        const auto catches = [](braid::scheduler& on) -> co<int> {
            const auto id = braid::this_task::defer();
            on.complete(id, {.code = 3});
            const auto first = co_await braid::as_result(id.task());
            const auto second = braid::this_task::defer();
            on.spawn([&on, second] { on.complete(second, {.code = 4}); });
            int caught = 0;
            try {
                co_await second.task();
            } catch (const braid::completion_error& e) {
                caught = braid_test::code_of(e, 4);
            } catch (const braid::task_failed&) {  // it was settled before it was awaited
            }
            co_return caught;
        };
        try {
            const int caught = braid::co_spawn(s, {}, catches(s)).get();
            EXPECT_TRUE(caught == 4 || caught == 0);
        } catch (const braid::completion_error& e) {
            // It was settled before it was awaited: nobody received that.
            const int code = braid_test::code_of(e, 3);
            EXPECT_TRUE(code == 3 || code == 4);
        }
        const auto child = [](braid::scheduler& on) -> co<int> {
            auto gate = on.begin({}, braid::empty);
            const braid::task_id failing =
                on.spawn({.after = {gate.id()}, .parent = braid::this_task::id()},
                         [] { throw std::runtime_error("disk"); });
            on.spawn([g = std::move(gate)]() mutable { g.finish(); });
            co_return (co_await braid::as_result(failing)).error != nullptr;
        };
        try {
            EXPECT_EQ(braid::co_spawn(s, {}, child(s)).get(), 1);
        } catch (const std::runtime_error&) {  // the same
        }
    }
    s.shut_down();
    expect_all_ended(s);
}

// ---- time and place ----------------------------------------------------------------------------

TEST_P(Await, SleepsForAsLongAsItIsAsked) {
    braid::scheduler s(options());
    const auto sleeps = []() -> co<> {
        co_await braid::sleep_for(milliseconds(5));
        co_await braid::sleep_for(milliseconds(0));
        co_await braid::sleep_for(milliseconds(-1));
        co_await braid::sleep_until(INT64_MIN);
    };
    const auto began = std::chrono::steady_clock::now();
    braid::co_spawn(s, {}, sleeps()).get();
    EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(5));
    EXPECT_EQ(pauses_.suspended, 4U);
    expect_all_ended(s);
}

TEST_P(Await, ASleepIsCancelledAtOnce) {
    braid::scheduler s(options());
    braid::scope level(s);
    const auto sleeps = []() -> co<> { co_await braid::sleep_for(braid::seconds(3600)); };
    future<void> f = braid::co_spawn(s, {.within = &level}, sleeps());
    until_suspended(s, 1);
    level.cancel();
    EXPECT_THROW(f.get(), braid::task_cancelled);
    try {
        level.wait();
    } catch (const braid::task_cancelled&) {
    }
}

TEST_P(Await, GoesOnWithTheBackgroundClassAndBack) {
    braid::scheduler s(options());
    std::thread render([&] {
        const braid::main_thread here(s, "render");
        const auto moves = [](braid::thread_ref main) -> co<std::array<std::thread::id, 3>> {
            std::array<std::thread::id, 3> on;
            co_await braid::resume_on(braid::task_class::background);
            on[0] = std::this_thread::get_id();
            co_await braid::resume_on(main);
            on[1] = std::this_thread::get_id();
            co_await braid::yield();
            on[2] = std::this_thread::get_id();
            co_await braid::resume_on(braid::task_class::frame);
            co_return on;
        };
        for (int i = 0; i < 20; ++i) {
            const auto on = braid::co_spawn(s, {}, moves(here.ref())).get();
            EXPECT_NE(on[0], std::this_thread::get_id());
            EXPECT_EQ(on[1], std::this_thread::get_id());
            EXPECT_EQ(on[2], std::this_thread::get_id());
        }
    });
    render.join();
    expect_all_ended(s);
}

TEST_P(Await, AThreadThatHasLeftCancelsWhatWasToGoOnThere) {
    braid::scheduler s(options());
    braid::thread_ref left;
    std::thread visitor([&] {
        const braid::main_thread here(s, "visitor");
        left = here.ref();
    });
    visitor.join();
    const auto moves = [](braid::thread_ref to) -> co<> { co_await braid::resume_on(to); };
    braid::co_spawn(s, {}, moves(left)).get();
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "has left"), 1U);
    expect_all_ended(s);
}

TEST_P(Await, AThreadThatDoesNotExistIsReportedAndItGoesOnHere) {
    braid::scheduler s(options());
    const auto moves = []() -> co<> { co_await braid::resume_on(braid::thread_ref{}); };
    braid::co_spawn(s, {}, moves()).get();
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "resume_on() wants a thread"), 1U);
}

// ---- results, memory ---------------------------------------------------------------------------

TEST_P(Await, ResultsOfFuturesAndCoroutinesAreValuesOrErrors) {
    braid::scheduler s(options());
    const auto fails = []() -> co<int> {
        throw std::invalid_argument("bad");
        co_return 1;
    };
    const auto looks = [fails](braid::scheduler& on) -> co<int> {
        int good = 0;
        const auto a = co_await braid::as_result(on.async([] { return 7; }));
        good += a && a.value == 7;
        const auto b =
            co_await braid::as_result(on.async([]() -> int { throw std::runtime_error("disk"); }));
        good += !b && b.error != nullptr && !b.value;
        const auto c = co_await braid::as_result(fails());
        good += !c && c.error != nullptr;
        auto never = on.async([]() -> int { throw std::runtime_error("disk"); });
        co_await braid::as_result(never.id());
        const auto d = co_await braid::as_result(std::move(never));
        good += !d && d.error != nullptr;
        const auto e = co_await braid::as_result(future<int>{});
        good += !e && e.cancelled;
        co_return good;
    };
    EXPECT_EQ(braid::co_spawn(s, {}, looks(s)).get(), 5);
    expect_all_ended(s);
}

TEST_P(Await, TheKthRefusedAllocationIsSaidAndNoWaitEndsEarly) {
    for (int k = 0; k < 16; ++k) {
        SCOPED_TRACE(k);
        braid::scheduler_options o = options();
        o.workers = std::min(o.workers, 2);
        braid_test::refusing_memory memory(o.memory);
        o.memory = memory.hooks();
        braid::scheduler s(o);
        braid::channel<int> numbers(s, {.capacity = 1});
        event bell(s);
        std::atomic<bool> set{false};
        const auto waits = [&](braid::scheduler& on) -> co<int> {
            int early = 0;
            const auto sets = on.spawn([&] {
                set = true;
                bell.set();
            });
            const braid::await_status e =
                sets ? co_await braid::as_result(bell) : braid::await_status{};
            if (e && sets) early += !set;
            const braid::await_status t =
                co_await braid::as_result(braid::sleep_for(milliseconds(1)));
            early += t.error != nullptr || t.cancelled;
            const auto none = co_await braid::as_result(braid::when_any({}));
            early += !none;
            co_await braid::as_result(numbers.push(1));
            const auto one = co_await braid::as_result(numbers.pop());
            if (one.value) early += *one.value != 1;
            co_return early;
        };
        memory.refuse_one_after(k);
        future<int> f = braid::co_spawn(s, {}, waits(s));
        if (f.valid()) {
            EXPECT_EQ(f.get(), 0);
        }
        memory.give_back();
        s.shut_down();
        expect_all_ended(s);
    }
}

TEST_P(Await, InSteadyStateNothingIsAllocated) {
    braid::scheduler s(options());
    braid::channel<int> numbers(s, {.capacity = 2});
    event bell(s);
    const auto inner = [](int n) -> co<int> { co_return n; };
    // Frames of 1 KiB at most.
    const auto tasks = [](braid::scheduler& on) -> co<> {
        co_await on.spawn([] {});
        const std::array<task_id, 2> ids{on.spawn([] {}), on.spawn([] {})};
        co_await braid::when_any(ids);
        co_await braid::when_all(ids);
    };
    const auto others = [&](braid::scheduler& on, int n) -> co<> {
        on.spawn([&] { bell.set(); });
        co_await bell;
        co_await numbers.push(n);
        co_await numbers.pop();
        co_await braid::yield();
    };
    const auto all_of_it = [&](braid::scheduler& on) -> co<> {
        for (int i = 0; i < 50; ++i) {
            co_await inner(i);
            co_await tasks(on);
            co_await others(on, i);
        }
    };
    const auto round = [&] { braid::co_spawn(s, {}, all_of_it(s)).get(); };
    // The hooks take their memory by operator new.
    EXPECT_TRUE(braid_test::comes_to_stand_still([] { return braid_test::news.load(); }, round));
}

TEST_P(Await, FramesAreFreedOnAnyThreadAndUsedAgain) {
    std::vector<std::unique_ptr<co<int>>> made;
    const auto small = [](int n) -> co<int> { co_return n; };
    const auto large = [](int n) -> co<int> {
        // All of it is alive over the suspension, or the compiler makes the frame smaller.
        std::array<int, 1000> much{};
        std::iota(much.begin(), much.end(), n);
        co_await braid::yield();
        co_return std::accumulate(much.begin(), much.end(), -much.front());
    };
    braid::scheduler s(options());
    for (int i = 0; i < 1000; ++i) made.push_back(std::make_unique<co<int>>(small(i)));
    std::thread elsewhere([&] { made.clear(); });
    elsewhere.join();
    const std::uint64_t before = braid_test::news;
    for (int i = 0; i < 500; ++i) EXPECT_TRUE(static_cast<bool>(small(i)));
    EXPECT_LE(braid_test::news - before, 2U) << "what the other thread freed is used again";
    EXPECT_EQ(s.bytes(braid::memory_tag::coroutine), 0U);
    const auto outer = [large](braid::scheduler& on) -> co<int> {
        auto inside = large(3);
        EXPECT_GE(on.bytes(braid::memory_tag::coroutine), 4000U);
        co_return co_await std::move(inside);
    };
    EXPECT_EQ(braid::co_spawn(s, {}, outer(s)).get(), 502'497);
    EXPECT_EQ(s.bytes(braid::memory_tag::coroutine), 0U);
}

TEST_P(Await, AThreadThatEndsGivesItsFramesBack) {
    constexpr unsigned threads = 64;
    const auto small = [](int n) -> co<int> { co_return n; };
    const auto uses_some = [&] {
        // Made before the thread has frames, so it ends after them.
        thread_local std::optional<co<int>> ends_last;
        ends_last.emplace(small(0));
        for (int i = 0; i < 30; ++i) EXPECT_TRUE(static_cast<bool>(small(i)));
    };
    std::thread(uses_some).join();
    const std::uint64_t before = braid_test::news;
    for (unsigned i = 0; i < threads; ++i) std::thread(uses_some).join();
    // One for each std::thread. If they were not given back there would be one more for eight.
    EXPECT_LE(braid_test::news - before, threads + 1);
}

}  // namespace
