// The edges of waiting: no time at all, a set() that comes as the time runs out, waits for oneself,
// reserves that are used up, and what a wait costs on a deep stack.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <braid/fork_join.hpp>
#include <braid/graph/graph.hpp>

#include "core/control/runtime.hpp"
#include "core/wait/wait_loop.hpp"

#include <array>
#include <functional>

namespace {

using braid_test::door;
using braid_test::scaled;
using braid_test::until;

class deep_stack;

class WaitEdge : public braid_test::scheduler_test {
protected:
    void for_each_kind_of_stack(const std::function<void(braid::scheduler&, deep_stack&)>& f);
};
INSTANTIATE_TEST_SUITE_P(Workers, WaitEdge, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

// ---- time --------------------------------------------------------------------------------------

/// Many waits for a task and for an event: none of them sleeps.
void wait_without_time(const braid::scheduler_options& o) {
    braid::scheduler s(o);
    auto open = s.begin({}, braid::empty);
    braid::event never(s);
    const auto parks = [&] { return s.statistics(s.this_thread().seat).parks; };
    const std::uint64_t before = parks();
    for (int i = 0; i < 200; ++i) {
        EXPECT_FALSE(s.wait_for(open.id(), braid::nanoseconds{0}));
        EXPECT_FALSE(s.do_work_while_waiting_for(never, braid::nanoseconds{0}));
    }
    EXPECT_EQ(parks(), before);
    open.finish();
}

// That it does not watch either, see policy/watch_test.cpp.
TEST_P(WaitEdge, WithoutTimeLooksOnceAndReturns) { wait_without_time(options()); }

TEST_P(WaitEdge, WithoutTimeLooksOnceAndReturnsWhereThreadsSleepAtOnce) {
    // It slept for as long as a timer takes whose time has passed.
    braid::scheduler_options o = options();
    o.idle = braid::parking::power;
    wait_without_time(o);
}

TEST_P(WaitEdge, WithoutTimeStillRunsOnePieceOfNeededWorkSoThatPollingEnds) {
    braid::scheduler_options o = options();
    o.workers = 0;
    braid::scheduler s(o);
    std::atomic<int> ran{0};
    braid::scope all(s);
    for (int i = 0; i < 10; ++i) all.post([&] { ++ran; });
    int polls = 0;
    while (!all.wait_for(braid::nanoseconds{0})) ++polls;
    EXPECT_EQ(ran, 10);
    EXPECT_LT(polls, 100);
}

TEST_P(WaitEdge, WithTimeReturnsBetweenTwoPiecesOfWorkWhenItIsUp) {
    // While there was needed work nobody looked at the clock.
    braid::scheduler_options o = options();
    o.workers = 0;
    braid::scheduler s(o);
    std::atomic<int> ran{0};
    braid::scope all(s);
    for (int i = 0; i < 200; ++i) {
        // Not plain, so that each is a piece of its own.
        all.spawn({.never_waits = true}, [&] {
            const std::int64_t end = braid::active_policy::now() + 100'000;
            while (braid::active_policy::now() < end) {
            }
            ++ran;
        });
    }
    EXPECT_FALSE(all.wait_for(braid::milliseconds(1)));
    EXPECT_LT(ran, 200);
    all.wait();
    EXPECT_EQ(ran, 200);
}

// ---- automatic events --------------------------------------------------------------------------

TEST_P(WaitEdge, ASetThatComesAsAWaiterRunsOutOfTimeLetsSomebodyThrough) {
    // set() picked the waiter whose time was up, and the one that waits for ever slept on.
    braid::scheduler s(options());
    const int rounds = static_cast<int>(scaled(400));
    for (int round = 0; round < rounds; ++round) {
        braid::event go(s);
        std::atomic<int> inside{0};
        std::atomic<bool> hasty_got_it{false};
        std::thread patient([&] {
            ++inside;
            ASSERT_TRUE(s.do_work_while_waiting_for(go, braid_test::hang_limit))
                << "the set() was lost in round " << round;
        });
        std::thread hasty([&] {
            ++inside;
            hasty_got_it = s.do_work_while_waiting_for(go, braid::microseconds(100));
        });
        until([&] { return inside == 2; });
        // About when the time is up: from 60 to 140 µs after the start.
        const std::int64_t at = braid::active_policy::now() + 60'000 + round % 80 * 1'000;
        while (braid::active_policy::now() < at) {
        }
        go.set();
        hasty.join();
        if (hasty_got_it) go.set();
        patient.join();
    }
}

// ---- waits for oneself
// ---------------------------------------------------------------------------

class WaitForOneself : public WaitEdge {
protected:
    void expect_report() {
        EXPECT_GE(notes_.count(&braid_test::recorder::misuse, "cannot wait for itself"), 1U);
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, WaitForOneself, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(WaitForOneself, ByAFutureIsReportedAndBreaksThePromise) {
    braid::scheduler s(options());
    braid::future<int> own;
    braid::event ready(s, braid::reset::manual);
    bool broken = false;
    own = s.async([&] {
        s.do_work_while_waiting_for(ready);
        own.wait();
        try {
            braid::future<int> taken = std::move(own);
            static_cast<void>(taken.get());
        } catch (const braid::broken_promise&) {
            broken = true;
        }
        return 1;
    });
    ready.set();
    s.shut_down();
    expect_report();
    EXPECT_TRUE(broken);
}

TEST_P(WaitForOneself, ByAScopeInATaskOfItIsReported) {
    braid::scheduler s(options());
    braid::scope all(s);
    std::atomic<int> went_on{0};
    all.post([&] {
        all.wait();
        ++went_on;
    });
    all.wait();
    EXPECT_EQ(went_on, 1);
    expect_report();
}

TEST_P(WaitForOneself, ByAGraphInANodeOfItIsReported) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::atomic<int> runs{0};
    g.add([&] {
        if (++runs == 1) g.run_and_wait();
    });
    g.run_and_wait();
    s.shut_down();
    EXPECT_EQ(runs, 2) << "the run that could not be waited for came afterwards";
    expect_report();
}

TEST_P(WaitForOneself, ByATaskThatComesAfterItIsReported) {
    braid::scheduler s(options());
    std::atomic<bool> went_on{false};
    const auto id = s.spawn([&](braid::task_context& task) {
        const auto later = s.spawn({.after = {task.id()}}, [] {});
        task.wait(later);
        went_on = true;
    });
    s.wait(id);
    EXPECT_TRUE(went_on);
    expect_report();
}

/// Waits for that task, once there is one.
struct waits_at_the_end {
    braid::scheduler& s;
    std::atomic<std::uint64_t>& id;
    waits_at_the_end(braid::scheduler& in, std::atomic<std::uint64_t>& task) : s(in), id(task) {}
    waits_at_the_end(const waits_at_the_end&) = default;
    ~waits_at_the_end() { s.wait({id}); }
};

TEST_P(WaitForOneself, ByADestructorOfWhatABatchHoldsIsReported) {
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    std::atomic<std::uint64_t> later{0};
    const braid::task_id batch = s.spawn_batch({.name = "batch", .after = {gate.id()}}, 4,
                                               [held = waits_at_the_end(s, later)](std::size_t) {});
    later = s.spawn({.after = {batch}}, [] {}).value;
    gate.finish();
    s.wait({later});
    EXPECT_GE(notes_.count(&braid_test::recorder::misuse, "a destructor of what a task held"), 1U);
    EXPECT_GE(notes_.count(&braid_test::recorder::log, "what task 'batch' held waits"), 1U);
}

TEST_P(WaitForOneself, ByADestructorOfWhatACancelledTaskHoldsIsReported) {
    braid::scheduler s(options());
    auto gate = s.begin({}, braid::empty);
    std::atomic<std::uint64_t> own{0};
    const auto fails = s.spawn({.after = {gate.id()}}, [] { throw std::runtime_error("no"); });
    const braid::task_id cancelled =
        s.spawn({.name = "cancelled", .after = {fails}}, [held = waits_at_the_end(s, own)] {});
    own = cancelled.value;
    gate.finish();
    try {
        s.wait(cancelled);
    } catch (const std::runtime_error&) {  // where it had not ended yet
    }
    EXPECT_GE(notes_.count(&braid_test::recorder::misuse, "a destructor of what a task held"), 1U);
}

TEST_P(WaitForOneself, ByATaskOnTopOfAChildOfItIsReported) {
    braid::scheduler s(options());
    auto join = s.begin({}, braid::empty);
    const braid::task_options child{.parent = join.id()};
    std::atomic<bool> went_on{false};
    s.wait(s.spawn(child, [&](braid::task_context& first) {
        first.wait(s.spawn(child, [&](braid::task_context& second) {
            second.wait(s.spawn([&](braid::task_context& root) {
                if (s.this_thread().seat != first.seat()) return;
                root.wait(join.id());
                went_on = true;
            }));
        }));
    }));
    s.wait(join.finish());
    if (GetParam() == 0) {
        EXPECT_TRUE(went_on);
    }
    if (went_on) expect_report();
}

TEST_P(WaitForOneself, ByATaskOnTopOfOneOfTheScopeIsReported) {
    braid::scheduler s(options());
    braid::scope all(s), another(s);
    std::atomic<bool> went_on{false};
    s.wait(all.spawn({}, [&](braid::task_context& first) {
        first.wait(another.spawn({}, [&](braid::task_context& second) {
            second.wait(s.spawn([&] {
                if (s.this_thread().seat != first.seat()) return;
                all.wait();
                went_on = true;
            }));
        }));
    }));
    all.wait();
    another.wait();
    if (GetParam() == 0) {
        EXPECT_TRUE(went_on);
    }
    if (went_on) expect_report();
}

TEST_P(WaitForOneself, ByAStolenBranchOfItIsReported) {
    if (GetParam() == 0) GTEST_SKIP() << "needs a thief";
    braid::scheduler s(options());
    std::atomic<bool> begun{false}, went_on{false};
    s.wait(s.spawn([&](braid::task_context& task) {
        const auto id = task.id();
        braid::join(
            task, [&] { until([&] { return begun.load(); }); },
            [&] {
                begun = true;
                s.wait(s.spawn([&, thief = s.this_thread().seat] {
                    if (s.this_thread().seat != thief) return;
                    s.wait(id);
                    went_on = true;
                }));
                s.wait(id);
            });
    }));
    expect_report();
}

TEST_P(WaitForOneself, IsNotReportedOfAChildThatIsNotOnTheStack) {
    braid::scheduler s(options());
    std::function<void(braid::task_context&, int)> nest = [&](braid::task_context& task, int left) {
        if (left == 0) return;
        const auto child = s.spawn({.parent = task.id()}, [&, left](braid::task_context& inner) {
            nest(inner, left - 1);
        });
        task.wait(child);
    };
    s.wait(s.spawn([&](braid::task_context& task) { nest(task, 50); }));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 0U);
}

// ---- the depth of the stack
// ----------------------------------------------------------------------

/// Tasks on top of each other on one thread, each waiting for the next.
class deep_stack {
public:
    enum class kind : std::uint8_t { roots, children, siblings, in_a_scope };

    deep_stack(braid::scheduler& s, kind k) : s_(s), kind_(k), all_(s), root_(s.begin({}, empty)) {}

    /// `at_each(id of the next one)` in each before it waits.
    void go_down(const std::function<void(braid::task_id)>& at_each) {
        std::function<void(braid::task_context&, int)> nest = [&](braid::task_context& task,
                                                                  int left) {
            deepest_ = std::max(deepest_, static_cast<int>(s_.internals().bound()->depth));
            if (left == 0) return;
            braid::task_options as;
            if (kind_ == kind::children) as.parent = task.id();
            if (kind_ == kind::siblings) as.parent = root_.id();
            if (kind_ == kind::in_a_scope) as.within = &all_;
            const auto next =
                s_.spawn(as, [&, left](braid::task_context& inner) { nest(inner, left - 1); });
            at_each(next);
            task.wait(next);
        };
        s_.wait(s_.spawn([&](braid::task_context& task) { nest(task, depth); }));
        s_.wait(root_.finish());
        all_.wait();
        EXPECT_GE(deepest_, depth);
    }
    template <class Target>
    void expect_few_steps(const Target& target) {
        unsigned most = 0;
        go_down([&](braid::task_id) {
            unsigned steps = 0;
            const braid::detail::runtime& rt = s_.internals();
            EXPECT_FALSE(braid::detail::needs_stack(rt, *rt.bound(), target, &steps));
            most = std::max(most, steps);
        });
        EXPECT_GE(most, 1U);
        EXPECT_LE(most, 64U);
    }

private:
    static constexpr auto empty = braid::empty;
    static constexpr int depth = braid_test::sanitized ? 100 : 1'000;

    braid::scheduler& s_;
    const kind kind_;
    braid::scope all_;
    braid::task_builder root_;
    int deepest_ = 0;
};

void WaitEdge::for_each_kind_of_stack(
    const std::function<void(braid::scheduler&, deep_stack&)>& f) {
    using kind = deep_stack::kind;
    for (const kind k : {kind::roots, kind::children, kind::siblings, kind::in_a_scope}) {
        SCOPED_TRACE(static_cast<int>(k));
        braid::scheduler_options o = options();
        o.workers = 0;
        braid::scheduler s(o);
        deep_stack stack(s, k);
        f(s, stack);
    }
}

TEST_P(WaitEdge, LooksAtNoTaskOfADeepStackForOneThatNobodyHasStarted) {
    // Each frame was asked whether it descends from the awaited task: 38 µs at depth 10,000.
    for_each_kind_of_stack([](braid::scheduler& s, deep_stack& stack) {
        unsigned steps = 0;
        stack.go_down([&](braid::task_id next) {
            EXPECT_FALSE(
                braid::detail::needs_stack(s.internals(), *s.internals().bound(), next, &steps));
        });
        EXPECT_EQ(steps, 0U);
    });
}

TEST_P(WaitEdge, LooksAtFewTasksOfADeepStackForOneThatAnotherThreadHasBegun) {
    for_each_kind_of_stack([](braid::scheduler& s, deep_stack& stack) {
        door may_end;
        std::atomic<bool> begun{false};
        braid::task_id other, child;
        auto gate = s.begin({}, braid::empty);
        std::thread runs([&] {
            other = s.spawn([&](braid::task_context& task) {
                child = s.spawn({.after = {gate.id()}, .parent = task.id()}, [] {});
                begun = true;
                may_end.pass();
            });
            s.wait(other);
        });
        until([&] { return begun.load(); });
        stack.expect_few_steps(other);
        may_end.open();
        gate.finish();
        runs.join();
    });
}

TEST_P(WaitEdge, LooksAtFewTasksOfADeepStackForAJoinWithChildren) {
    for_each_kind_of_stack([](braid::scheduler& s, deep_stack& stack) {
        auto join = s.begin({}, braid::empty);
        s.spawn({.after = {join.id()}}, [] {});
        auto child = s.begin({.parent = join.id()}, braid::empty);
        stack.expect_few_steps(join.id());
        child.finish();
        s.wait(join.finish());
    });
}

TEST_P(WaitEdge, LooksAtFewTasksOfADeepStackForAScope) {
    for_each_kind_of_stack([](braid::scheduler& s, deep_stack& stack) {
        braid::scope other(s);
        auto open = s.begin({.within = &other}, braid::empty);
        stack.expect_few_steps(other.internals());
        open.finish();
        other.wait();
    });
}

// ---- no thread can stand in
// ----------------------------------------------------------------------

TEST_P(WaitEdge, WithoutReservesAChainOfWaitsEndsInOrder) {
    // A wait that found no reserve ran what lay there, which waited for what lay below it: that
    // wait returned with its task open.
    braid::scheduler_options o = options();
    o.max_reserves = 0;
    o.ring = 64;  // more than a search looks at lies behind it
    braid::scheduler s(o);
    const int rounds = static_cast<int>(scaled(20));
    constexpr int length = 300;
    for (int round = 0; round < rounds; ++round) {
        std::array<std::atomic<bool>, length> ended{};
        std::vector<braid::task_id> chain(length);
        std::atomic<int> early{0};
        auto gate = s.begin({}, braid::empty);
        for (int i = 0; i < length; ++i) {
            const auto at = static_cast<std::size_t>(i);
            chain[at] = s.spawn({.after = {gate.id()}}, [&, at](braid::task_context& task) {
                if (at != 0) {
                    task.wait(chain[at - 1]);
                    if (!ended[at - 1]) ++early;
                }
                ended[at] = true;
            });
        }
        gate.finish();
        s.wait(chain.back());
        ASSERT_TRUE(ended.back());
        ASSERT_EQ(early, 0);
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 0U);
}

TEST(WaitThatPolls, RestsForAsLongAsAllThreadsLookInTurn) {
    // Only while all others rest does a thread know that none runs anything. With a fixed pause ten
    // threads with looks of a tenth of it never rested all at once (1 % of the runs hung).
    using braid::detail::rest_between_looks;
    constexpr std::int64_t us = 1'000, ms = 1'000 * us;
    for (const unsigned threads : {1U, 2U, 16U, 256U}) {
        for (const std::int64_t look : {10 * us, 100 * us, 1 * ms, 3 * ms}) {
            EXPECT_GE(rest_between_looks(look, threads), std::min(look * threads, 50 * ms));
        }
    }
    EXPECT_EQ(rest_between_looks(0, 256), 200 * us);
    EXPECT_EQ(rest_between_looks(10 * us, 16), 200 * us);
    EXPECT_EQ(rest_between_looks(100 * us, 16), 1'600 * us);
    EXPECT_EQ(rest_between_looks(INT64_MAX, 256), 50 * ms);  // a process that stood still
    EXPECT_EQ(rest_between_looks(-1, 256), 200 * us);        // a clock that went back
}

TEST_P(WaitEdge, WithoutReservesAWaiterLeavesUnneededWorkToAThreadThatIsBusyNow) {
    // The first waiter must not bury itself under a task that waits for it, when another thread
    // will come.
    if (GetParam() == 0) GTEST_SKIP() << "needs a worker";
    braid::scheduler_options o = options();
    o.workers = 1;
    o.max_reserves = 0;
    braid::scheduler s(o);
    door busy_may_end;
    std::atomic<bool> busy{false};
    const auto blocker = s.spawn([&] {
        busy = true;
        busy_may_end.pass();
    });
    until([&] { return busy.load(); });
    // This thread waits for an event; the only ready task waits for a task that this thread runs.
    braid::event go(s);
    std::atomic<bool> buried{false};
    std::thread opener;
    const auto on_main = s.spawn({.on = s.this_thread()}, [&](braid::task_context& task) {
        const auto id = task.id();
        s.spawn([&, id] {
            buried = !s.done(id) && s.this_thread().seat == 0;
            s.wait(id);
            static_cast<void>(id);
        });
        opener = std::thread([&] {
            // Longer than some polls: the thread that polls sees that the worker runs a task.
            braid::event never(s);
            s.do_work_while_waiting_for(never, braid::milliseconds(3));
            go.set();
            busy_may_end.open();
        });
        s.do_work_while_waiting_for(go);
    });
    s.wait(on_main);
    opener.join();
    s.wait(blocker);
    s.shut_down();
    EXPECT_FALSE(buried);
}

TEST_P(WaitEdge, WithoutReservesAWaiterThatLeavesPassesOnTheWorkThatWasLeftToIt) {
    // Who publishes wakes one waiter. That one found no reserve and polled, and as its own wait
    // ended it notified nobody: the waiter that needs the work slept on.
    if (GetParam() != 0) GTEST_SKIP() << "workers run it";
    braid::scheduler_options o = options();
    o.max_reserves = 0;
    o.deadlock.after = braid::no_limit;  // or it would be woken to look
    braid::scheduler s(o);
    door busy_may_end;
    std::atomic<bool> busy{false};
    // While somebody runs a task, who polls leaves unneeded work alone.
    std::thread runner([&] {
        s.wait(s.spawn([&] {
            busy = true;
            busy_may_end.pass();
        }));
    });
    until([&] { return busy.load(); });
    braid::event leave(s, braid::reset::manual);
    auto gate = s.begin({}, braid::empty);
    std::atomic<bool> ran{false};
    const auto needed = s.spawn({.after = {gate.id()}}, [&] { ran = true; });
    const auto parks = s.statistics().parks;
    std::thread waiter([&] { s.wait(needed); });
    std::thread director([&] {
        until([&] { return s.statistics().parks >= parks + 2; });  // both of them
        gate.finish();
        until([&] { return s.statistics().reserves_refused >= 1; });
        leave.set();
    });
    EXPECT_TRUE(s.do_work_while_waiting_for(leave));
    director.join();
    waiter.join();
    EXPECT_TRUE(ran);
    busy_may_end.open();
    runner.join();
}

}  // namespace
