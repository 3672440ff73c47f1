// One wait for several tasks: what it runs meanwhile, whose failure it throws, and when it returns.
#include "refusing_memory.hpp"
#include "scheduler_test.hpp"

#include "seeded_chooser.hpp"

#include <braid/core/safepoint.hpp>

#include <array>
#include <functional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

using braid::help;
using braid::task_id;
using braid::wait_all;
using braid_test::until;

constexpr braid::nanoseconds at_once{0};

class WaitAll : public braid_test::scheduler_test {
protected:
    /// A task that fails with that number.
    static task_id failing(braid::scheduler& s, int number, braid::task_options options = {}) {
        return s.spawn(options, [number] { throw number; });
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, WaitAll, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(WaitAll, ReturnsWhenEachIsComplete) {
    braid::scheduler s(options());
    for (const std::size_t count : {1U, 2U, 7U, 8U, 9U, 64U, 255U, 256U}) {
        std::vector<task_id> ids;
        std::atomic<std::size_t> ran{0};
        for (std::size_t i = 0; i < count; ++i) {
            ids.push_back(s.spawn(
                [&ran](braid::task_context& task) { task.spawn_child([&ran] { ++ran; }); }));
        }
        EXPECT_TRUE(wait_all(s, ids));
        EXPECT_EQ(ran, count);
        for (const task_id id : ids) EXPECT_TRUE(s.done(id));
    }
}

TEST_P(WaitAll, OfNoneAndOfEmptyIdsReturnsAtOnce) {
    braid::scheduler s(options());
    EXPECT_TRUE(wait_all(s, braid::task_ids{}));
    EXPECT_TRUE(wait_all(s, {task_id{}, task_id{}}));
    int ran = 0;
    const task_id one = s.spawn([&ran] { ++ran; });
    EXPECT_TRUE(wait_all(s, {task_id{}, one, task_id{}, one}));
    EXPECT_EQ(ran, 1);
    EXPECT_TRUE(wait_all(s, {one}, at_once)) << "it is complete";
}

TEST_P(WaitAll, RunsEachOfThemWhileAnotherOneRunsElsewhere) {
    if (GetParam() == 0) GTEST_SKIP() << "there is nowhere else";
    braid::scheduler_options o = options();
    o.max_reserves = 0;  // nobody stands in for this thread
    braid::scheduler s(o);
    for (const bool first : {false, true}) {
        std::atomic<bool> begun{false}, ran{false};
        const task_id elsewhere = s.spawn([&] {
            begun = true;
            until([&] { return ran.load(); });
        });
        until([&] { return begun.load(); });
        const task_id here = s.spawn({.on = s.this_thread()}, [&] { ran = true; });
        if (first) {
            wait_all(s, {elsewhere, here});
        } else {
            wait_all(s, {here, elsewhere});
        }
        EXPECT_TRUE(ran);
    }
}

TEST_P(WaitAll, NeedsNoMemory) {
    braid::scheduler s(options());
    const auto round = [&] {
        std::array<task_id, 256> ids;
        for (task_id& id : ids) id = s.spawn({.on = s.this_thread()}, [] {});
        const std::uint64_t before = memory_.calls;
        wait_all(s, ids);
        return memory_.calls - before;
    };
    round();
    EXPECT_EQ(round(), 0U);
}

// ---- failures ----------------------------------------------------------------------------------

TEST_P(WaitAll, ThrowsTheFirstFailureInTheOrderOfTheIds) {
    braid::scheduler s(options());
    const braid::thread_ref here = s.this_thread();
    for (int first = 0; first < 20; ++first) {
        std::vector<task_id> ids;
        for (int i = 0; i < 20; ++i) {
            // Only this thread runs them, and only within the wait, so none is complete before it.
            const braid::task_options on_this{.name = "fails", .on = here};
            ids.push_back(i < first ? s.spawn(on_this, [] {}) : failing(s, i, on_this));
        }
        int thrown = -1;
        try {
            wait_all(s, ids);
        } catch (int number) {
            thrown = number;
        }
        EXPECT_EQ(thrown, first);
        for (const task_id id : ids) EXPECT_TRUE(s.done(id)) << "it waits for all, all the same";
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 190U) << "19 + 18 + ... + 0 others";
}

TEST_P(WaitAll, ReceivesWhatFailsWhileItWaitsForAnotherOne) {
    braid::scheduler s(options());
    const braid::thread_ref here = s.this_thread();
    for (const bool failing_first : {false, true}) {
        const task_id a = failing(s, 7, {.name = "a", .on = here});
        const task_id b = s.spawn({.after_any = {a}}, [] {});
        const auto wait = [&] {
            if (failing_first) {
                wait_all(s, {a, b});
            } else {
                wait_all(s, {b, a});
            }
        };
        EXPECT_THROW(wait(), int);
        EXPECT_TRUE(s.done(b));
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 0U);
}

TEST_P(WaitAll, ThrowsAnErrorBeforeACancellation) {
    braid::scheduler s(options());
    const braid::thread_ref here = s.this_thread();
    for (const bool error_first : {false, true}) {
        braid::scope stopped(s);
        const task_id cancelled = s.spawn({.on = here, .within = &stopped}, [] {});
        const task_id failed = failing(s, 3, {.on = here});
        stopped.cancel();
        const auto wait = [&] {
            if (error_first) {
                wait_all(s, {failed, cancelled});
            } else {
                wait_all(s, {cancelled, failed});
            }
        };
        EXPECT_THROW(wait(), int);
        stopped.wait();
    }
    braid::scope stopped(s);
    const task_id cancelled = s.spawn({.on = here, .within = &stopped}, [] {});
    stopped.cancel();
    EXPECT_THROW(wait_all(s, {cancelled}), braid::task_cancelled);
    stopped.wait();
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 0U);
}

TEST_P(WaitAll, ThrowsOnceForAnIdThatStandsThereTwice) {
    braid::scheduler s(options());
    const braid::thread_ref here = s.this_thread();
    const task_id a = failing(s, 1, {.on = here}), b = failing(s, 2, {.on = here});
    try {
        wait_all(s, {a, b, a, b});
        ADD_FAILURE() << "both failed";
    } catch (int number) {
        EXPECT_EQ(number, 1);
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 1U) << "b, once";
}

TEST_P(WaitAll, DoesNotThrowWhatFailedBefore) {
    braid::scheduler s(options());
    const task_id failed = failing(s, 1, {.name = "before"});
    const task_id after = s.spawn({.after_any = {failed}}, [] {});
    s.wait(after);
    EXPECT_TRUE(wait_all(s, {failed, after}));
    EXPECT_EQ(s.state(failed), braid::task_state::failed);
    // If it was complete when `after` was made, the thread that ran it may still be on its way.
    until([&] { return notes_.count(&braid_test::recorder::lost) == 1U; });
}

// ---- time --------------------------------------------------------------------------------------

TEST_P(WaitAll, WithoutTimeRunsOnePieceOfNeededWorkAtMost) {
    braid::scheduler s(options());
    const braid::thread_ref here = s.this_thread();
    if (GetParam() == 0) GTEST_SKIP() << "a wait that is out of time runs one more there";
    int ran = 0;
    const auto count = [&ran] { ++ran; };
    const task_id ids[] = {s.spawn({.on = here}, count), s.spawn({.on = here}, count),
                           s.spawn({.on = here}, count)};
    for (int i = 1; i < 3; ++i) {
        EXPECT_FALSE(wait_all(s, ids, at_once));
        EXPECT_EQ(ran, i);
    }
    wait_all(s, ids, at_once);
    EXPECT_EQ(ran, 3);
    EXPECT_TRUE(wait_all(s, ids, at_once));
}

TEST_P(WaitAll, ThatRunsOutOfTimeLeavesNothingBehindAndMayBeCalledAgain) {
    braid::scheduler s(options());
    auto open = s.begin({}, braid::empty);
    std::atomic<int> ran{0};
    const task_id done = s.spawn([&ran] { ++ran; });
    s.wait(done);
    for (const task_id id : {open.id(), done}) {
        EXPECT_FALSE(wait_all(s, {id, open.id(), done}, braid::microseconds(50)));
        EXPECT_FALSE(wait_all(s, {open.id(), id}, at_once));
        EXPECT_FALSE(wait_all(s, {open.id(), done}, braid::nanoseconds(-1)));
    }
    open.finish();
    EXPECT_TRUE(wait_all(s, {open.id(), done}, braid::seconds(3600)));
}

TEST_P(WaitAll, ThrowsWhatItHasReceivedAlsoWhenItsTimeIsUp) {
    braid::scheduler s(options());
    const braid::thread_ref here = s.this_thread();
    auto open = s.begin({}, braid::empty);
    const task_id failed = failing(s, 5, {.on = here});
    EXPECT_THROW(wait_all(s, {failed, open.id()}, at_once), int);
    EXPECT_FALSE(wait_all(s, {failed, open.id()}, at_once)) << "it is thrown once";
    open.finish();
    EXPECT_TRUE(wait_all(s, {failed, open.id()}));
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 0U);
}

TEST_P(WaitAll, TakesAnyTime) {
    braid::scheduler s(options());
    auto open = s.begin({}, braid::empty);
    for (const std::int64_t ns : {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, std::int64_t{1}}) {
        EXPECT_FALSE(wait_all(s, {open.id(), open.id()}, braid::nanoseconds(ns)));
    }
    open.finish();
    EXPECT_TRUE(wait_all(s, {open.id()}, braid::nanoseconds(INT64_MIN)));
}

TEST_P(WaitAll, WithHardlyAnyTimeStillRunsSomethingSoThatPollingEnds) {
    braid::scheduler s(options());
    std::vector<task_id> ids;
    for (int i = 0; i < 256; ++i) ids.push_back(s.spawn({.on = s.this_thread()}, [] {}));
    int calls = 1;
    while (!wait_all(s, ids, braid::nanoseconds(1)) && calls < 10'000) ++calls;
    EXPECT_LE(calls, 257);
}

// ---- failures that come late -------------------------------------------------------------------

TEST_P(WaitAll, ReceivesAFailureThatIsOnItsWay) {
    if (GetParam() == 0) GTEST_SKIP() << "this thread waits before the task fails";
    braid::scheduler s(options());
    for (int round = 0; round < 5; ++round) {
        std::atomic<bool> begun{false}, waits{false};
        const task_id a = s.spawn([&] {
            begun = true;
            until([&] { return waits.load(); });
            throw 1;
        });
        until([&] { return begun.load(); });
        // The task is complete, and before its waiter is woken all these become ready.
        braid::scope many(s);
        for (int i = 0; i < 1'000; ++i) many.spawn({.after_any = {a}}, [] {});
        const task_id b = s.spawn({.on = s.this_thread()}, [&] { waits = true; });
        const task_id c = s.spawn({.after_any = {a}, .on = s.this_thread()}, [] {});
        EXPECT_THROW(wait_all(s, {a, b, c}), int);
        many.wait();
    }
    EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 0U);
}

// ---- what it must run --------------------------------------------------------------------------

TEST_P(WaitAll, OfManyStillRunsWhatOneOfThemNeedsOfThisThread) {
    braid::scheduler_options o = options();
    o.max_reserves = 64;
    braid::scheduler s(o);
    const braid::thread_ref here = s.this_thread();
    for (const int count : {31, 32, 200}) {
        task_id last = s.spawn({.on = here}, [] {});
        for (int i = 0; i < 6; ++i) last = s.spawn({.after = {last}}, [] {});
        std::vector<task_id> ids;
        for (int i = 0; i < count; ++i) ids.push_back(s.spawn({.after = {last}}, [] {}));
        EXPECT_TRUE(wait_all(s, ids));
    }
}

TEST_P(WaitAll, OfManyStillRunsWhatOneOfThemAwaitsOfThisThread) {
    if (GetParam() == 0) GTEST_SKIP() << "there is nowhere else";
    braid::scheduler s(options());
    const braid::thread_ref here = s.this_thread();
    for (const int count : {31, 32, 200}) {
        std::atomic<bool> begun{false};
        const task_id elsewhere = s.spawn([&](braid::task_context& task) {
            begun = true;
            task.wait(task.spawn({.on = here}, [] {}));
        });
        until([&] { return begun.load(); });
        std::vector<task_id> ids;
        for (int i = 0; i < count; ++i) ids.push_back(s.spawn({.after = {elsewhere}}, [] {}));
        ids.push_back(elsewhere);
        EXPECT_TRUE(wait_all(s, ids));
    }
}

/// Adds `count` tasks that wait for the event, each after it has counted in `begun`.
void add_waiters(braid::scheduler& s, braid::event& set, std::size_t count,
                 std::atomic<std::size_t>& begun, std::vector<task_id>& ids) {
    for (std::size_t i = 0; i < count; ++i) {
        ids.push_back(s.spawn([&s, &set, &begun] {
            ++begun;
            s.do_work_while_waiting_for(set);
        }));
    }
}

/// `count` tasks, of which one, for `on`, sets the event that the others wait for.
std::vector<task_id> waiters_for_one(braid::scheduler& s, braid::event& set, braid::thread_ref on,
                                     std::size_t count, std::size_t one,
                                     std::atomic<std::size_t>& begun) {
    std::vector<task_id> ids;
    add_waiters(s, set, one, begun, ids);
    ids.push_back(s.spawn({.on = on}, [&set] { set.set(); }));
    add_waiters(s, set, count - one - 1, begun, ids);
    return ids;
}

TEST_P(WaitAll, OfManyThatRunElsewhereRunsTheOneForThisThread) {
    if (GetParam() == 0) GTEST_SKIP() << "there is nowhere else";
    braid::scheduler_options o = options();
    o.max_reserves = 120;
    braid::scheduler s(o);
    for (const std::size_t one : {0U, 50U, 99U}) {
        braid::event set(s, braid::reset::manual);
        std::atomic<std::size_t> begun{0};
        const auto ids = waiters_for_one(s, set, s.this_thread(), 100, one, begun);
        until([&] { return begun == 99; });
        EXPECT_TRUE(wait_all(s, ids));
    }
}

TEST_P(WaitAll, OfManyRunsWhatTheFirstOfThemAwaitsOfThisThread) {
    if (GetParam() == 0) GTEST_SKIP() << "there is nowhere else";
    braid::scheduler_options o = options();
    o.max_reserves = 120;
    braid::scheduler s(o);
    const braid::thread_ref here = s.this_thread();
    braid::event set(s, braid::reset::manual);
    std::vector<task_id> ids{s.spawn([&](braid::task_context& task) {
        task.wait(task.spawn({.on = here}, [] {}));
        set.set();
    })};
    std::atomic<std::size_t> begun{0};
    add_waiters(s, set, 99, begun, ids);
    until([&] { return begun == 99; });
    EXPECT_TRUE(wait_all(s, ids));
}

TEST_P(WaitAll, OfManyRunsWhatLiesBelowOneOfThemForThisThread) {
    if (GetParam() == 0) GTEST_SKIP() << "there is nowhere else";
    braid::scheduler_options o = options();
    o.max_reserves = 120;
    braid::scheduler s(o);
    const braid::thread_ref here = s.this_thread();
    for (const int depth : {5, 70}) {
        braid::event set(s, braid::reset::manual);
        std::vector<task_id> ids{s.spawn([&](braid::task_context& task) {
            std::vector<braid::task_builder> below;
            task_id last = task.id();
            for (int i = 0; i < depth; ++i) {
                below.push_back(s.begin({.parent = last}, braid::empty));
                last = below.back().id();
            }
            s.spawn({.parent = last, .on = here}, [&] { set.set(); });
            for (braid::task_builder& one : below) one.finish();
        })};
        std::atomic<std::size_t> begun{0};
        add_waiters(s, set, 99, begun, ids);
        until([&] { return begun == 99; });
        EXPECT_TRUE(wait_all(s, ids));
    }
}

TEST_P(WaitAll, OfManyWithPredecessorsRunsWhatOneOfThemAwaitsOfThisThread) {
    if (GetParam() == 0) GTEST_SKIP() << "there is nowhere else";
    braid::scheduler s(options());
    const braid::thread_ref here = s.this_thread();
    braid::event set(s);
    std::atomic<bool> begun{false};
    std::vector<task_id> ids{s.spawn([&](braid::task_context& task) {
        begun = true;
        task.wait(task.spawn({.on = here}, [] {}));
        set.set();
    })};
    until([&] { return begun.load(); });
    const task_id gate = s.spawn([&] { s.do_work_while_waiting_for(set); });
    for (int i = 0; i < 100; ++i) {
        const task_id before = s.spawn({.after = {gate}}, [] {});
        ids.push_back(s.spawn({.after = {before}}, [] {}));
    }
    EXPECT_TRUE(wait_all(s, ids));
}

TEST_P(WaitAll, InManyTasksThatAreAwaitedShowsWhatEachNeeds) {
    if (GetParam() == 0) GTEST_SKIP() << "there is nowhere else";
    constexpr int count = 20;
    braid::scheduler_options o = options();
    o.max_reserves = 3 * count;
    braid::scheduler s(o);
    const braid::thread_ref here = s.this_thread();
    braid::event set(s, braid::reset::manual);
    std::atomic<int> begun{0}, entered{0};
    const auto waits = [&] {
        ++begun;
        s.do_work_while_waiting_for(set);
    };
    const task_id all = s.spawn([&](braid::task_context& task) {
        for (int i = 0; i < count; ++i) {
            task.spawn_child([&] {
                const bool last = ++entered == count;  // on the thread that came last
                const task_id shown = s.spawn(waits);
                const task_id other =
                    last ? s.spawn({.on = here}, [&] { set.set(); }) : s.spawn(waits);
                wait_all(s, {other, shown});
            });
        }
    });
    until([&] { return begun == 2 * count - 1; });
    s.wait(all);
}

TEST_P(WaitAll, OfATaskThatIsAwaitedShowsOthersAllThatItNeeds) {
    if (GetParam() < 2) GTEST_SKIP() << "two tasks wait at once on other threads";
    braid::scheduler_options o = options();
    o.max_reserves = 230;
    braid::scheduler s(o);
    const braid::thread_ref here = s.this_thread();
    for (const std::size_t count : {2U, 200U, 200U, 200U}) {
        for (const bool first : {false, true}) {
            braid::event set(s, braid::reset::manual);
            std::atomic<std::size_t> begun{0};
            const task_id waits = s.spawn([&] {
                const std::size_t one = first ? 0 : count - 1;
                wait_all(s, waiters_for_one(s, set, here, count, one, begun));
            });
            until([&] { return begun.load() == count - 1; });
            s.wait(waits);
        }
    }
}

// ---- what it must not run ----------------------------------------------------------------------

TEST_P(WaitAll, KnowsOfNothingThatAnEarlierOneNeeded) {
    if (GetParam() == 0) GTEST_SKIP() << "a wait that is out of time runs what is ready there";
    braid::scheduler_options o = options();
    o.max_reserves = 0;
    braid::scheduler s(o);
    const braid::thread_ref here = s.this_thread();
    auto open = s.begin({}, braid::empty), other = s.begin({}, braid::empty);
    // All at the same place on the stack.
    const auto look = [&](task_id id) { return wait_all(s, {id, open.id()}, at_once); };
    for (const bool for_several : {false, true}) {
        bool ran = false;
        auto gate = s.begin({}, braid::empty);
        const task_id before = s.spawn({.after = {gate.id()}, .on = here}, [&ran] { ran = true; });
        const task_id after = s.spawn({.after = {before}}, [] {});
        EXPECT_FALSE(look(after)) << "what it needs is not ready";
        gate.finish();
        EXPECT_FALSE(for_several ? look(other.id()) : s.wait_for(open.id(), at_once));
        EXPECT_FALSE(ran) << "this wait does not need it";
        s.wait(after);
    }
    other.finish();
    open.finish();
}

TEST_P(WaitAll, InATaskThatStandsInItsOwnListIsReportedAndLeavesNothingBehind) {
    braid::scheduler s(options());
    const auto run = [&s](bool last) {
        bool over = true;
        s.wait(s.spawn({.name = "self"}, [&](braid::task_context& task) {
            const task_id other = task.spawn([] {});
            over = last ? wait_all(s, {other, task.id()}) : wait_all(s, {task.id(), other});
        }));
        return over;
    };
    EXPECT_FALSE(run(false));
    EXPECT_FALSE(run(true));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 2U);
}

TEST_P(WaitAll, ForItselfIsRefusedBeforeItRunsWhatWaitsForItsTask) {
    braid::scheduler s(options());
    braid::event later(s);
    task_id other;
    bool over = true;
    s.wait(s.spawn([&](braid::task_context& task) {
        other = task.spawn([&] { s.do_work_while_waiting_for(later); });
        over = wait_all(s, {other, task.id()});
        later.set();
    }));
    s.wait(other);
    EXPECT_FALSE(over);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 1U);
}

TEST_P(WaitAll, InADestructorOfWhatOneOfThemHeldIsRefusedBeforeAnotherOneRuns) {
    braid::scheduler s(options());
    braid::event later(s);
    task_id held, other;
    bool over = true;
    struct waits_when_destroyed {
        std::function<void()>* wait;
        waits_when_destroyed(std::function<void()>* f) : wait(f) {}
        waits_when_destroyed(waits_when_destroyed&& from) noexcept
            : wait(std::exchange(from.wait, nullptr)) {}
        ~waits_when_destroyed() {
            if (wait != nullptr) (*wait)();
        }
    };
    std::function<void()> wait = [&] {
        over = wait_all(s, {other, held});
        later.set();
    };
    braid::scope all(s);
    const braid::thread_ref here = s.this_thread();
    held = s.spawn({.on = here, .within = &all}, [it = waits_when_destroyed(&wait)] { (void)it; });
    other = s.spawn({.on = here}, [&] { s.do_work_while_waiting_for(later); });
    all.cancel();
    all.wait();
    s.wait(other);
    EXPECT_FALSE(over);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse), 1U);
}

TEST_P(WaitAll, CallsTheHandlerForWhatItDoesNotThrowWhenTheThreadIsOutsideAgain) {
    // A safepoint of another thread is reached while the handler waits for it.
    static std::atomic<int> stage;
    stage = 0;
    braid::scheduler_options o = options();
    o.unobserved_exception = {[](void*, const char*, std::exception_ptr) {
                                  stage = 1;
                                  until([] { return stage.load() == 2; });
                              },
                              nullptr};
    braid::scheduler s(o);
    bool reached = false;
    std::thread other([&] {
        until([] { return stage.load() == 1; });
        {
            const braid::safepoint here(s, braid::no_limit);
            reached = here.reached();
        }
        stage = 2;
    });
    const braid::thread_ref here = s.this_thread();
    EXPECT_THROW(wait_all(s, {failing(s, 1, {.on = here}), failing(s, 2, {.on = here})}), int);
    other.join();
    EXPECT_TRUE(reached);
}

// ---- bad input ---------------------------------------------------------------------------------

TEST_P(WaitAll, RefusesMoreThan256Ids) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    std::vector<task_id> ids(braid::most_awaited + 1, s.spawn([&ran] { ++ran; }));
    EXPECT_FALSE(wait_all(s, ids));
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "256 ids at most"), 1U);
    ids.pop_back();
    EXPECT_TRUE(wait_all(s, ids));
    EXPECT_EQ(ran, 1);
}

TEST_P(WaitAll, TakesIdsThatTheSchedulerNeverIssuedForCompleteAndReportsThem) {
    braid::scheduler s(options());
    std::atomic<int> ran{0};
    const task_id own = s.spawn([&ran] { ++ran; });
    EXPECT_TRUE(wait_all(s, {task_id{~std::uint64_t{0}}, own, task_id{1}}));
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(notes_.count(&braid_test::recorder::misuse, "this scheduler has issued"), 2U);
}

// ---- threads -----------------------------------------------------------------------------------

TEST_P(WaitAll, OfAThreadWithoutASeatReturnsWhenEachIsComplete) {
    braid::scheduler_options o = options();
    o.guests = 1;
    braid::scheduler s(o);
    auto gate = s.begin({}, braid::empty);
    std::vector<task_id> ids;
    for (int i = 0; i < 20; ++i) ids.push_back(s.spawn({.after = {gate.id()}}, [] {}));
    std::atomic<int> returned{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            EXPECT_TRUE(wait_all(s, ids));
            for (const task_id id : ids) EXPECT_TRUE(s.done(id));
            ++returned;
        });
    }
    gate.finish();
    wait_all(s, ids);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(returned, 4);
}

TEST_P(WaitAll, OfAThreadThatGetsASeatMeanwhileReceivesWhatFailsThen) {
    for (const bool several : {false, true}) {
        braid_test::refusing_memory memory(memory_.hooks());
        braid::scheduler_options o = options();
        o.memory = memory.hooks();
        o.guests = 0;  // the first foreign call wants one
        braid::scheduler s(o);
        auto gate = s.begin({}, braid::empty);
        std::atomic<bool> ran{false};
        const task_id fails = failing(s, 1, {.after = {gate.id()}, .on = s.this_thread()});
        const task_id ready = s.spawn([&ran] { ran = true; });
        memory.refuse_after(0);
        std::thread other([&] {
            EXPECT_THROW(several ? (void)wait_all(s, {fails, ready}) : s.wait(fails), int);
        });
        // It asks for two pieces of memory for a seat, and again when its wait has been entered:
        // what fails before that is not its to throw.
        until([&] { return memory.refused() > 2; });
        memory.give_back();
        // Without workers that thread runs it, once it has a seat.
        if (several) until([&] { return ran.load(); });
        gate.finish();
        EXPECT_THROW(s.wait(fails), int);
        other.join();
        s.wait(ready);
        EXPECT_EQ(notes_.count(&braid_test::recorder::lost), 0U);
    }
}

/// Random tasks, of which some wait for several earlier ones, and some of those fail.
void random_waits(braid::scheduler& s, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    constexpr std::size_t count = 24;
    std::array<task_id, count> ids;
    std::atomic<std::size_t> ran{0};
    {
        braid::scope all(s);
        for (std::size_t i = 0; i < count; ++i) {
            std::vector<task_id> some;
            for (std::size_t n = random() % 5; i != 0 && n != 0; --n) {
                some.push_back(ids[random() % i]);
            }
            const bool fails = random() % 8 == 0;
            const auto body = [&s, &ran, some, fails](braid::task_context& task) {
                const task_id child = task.spawn([] {});
                std::vector<task_id> awaited = some;
                awaited.push_back(child);
                try {
                    wait_all(s, awaited);
                } catch (const std::runtime_error&) {  // an earlier one's
                }
                for (const task_id id : awaited) EXPECT_TRUE(s.done(id));
                ++ran;
                if (fails) throw std::runtime_error("fails");
            };
            ids[i] = all.spawn({}, body);
        }
        while (true) {
            try {
                all.wait();
                break;
            } catch (const std::runtime_error&) {
            }
        }
    }
    EXPECT_EQ(ran, count);
}

TEST_P(WaitAll, OfCompleteTasksLetsAnotherThreadGoOnUnderAChooser) {
    for (std::uint64_t seed = 1; seed < 30; ++seed) {
        braid_test::seeded_chooser chooser(seed);
        braid::scheduler_options o = options();
        o.chooser = &chooser;
        braid::scheduler s(o);
        const task_id done = s.spawn([] {});
        s.wait(done);
        std::atomic<bool> flag{false};
        std::size_t polls = 0;
        const task_id poll = s.spawn([&] {
            for (; !flag && polls < 10'000; ++polls) wait_all(s, {done});
        });
        const task_id set = s.spawn([&] { flag = true; });
        if (GetParam() == 0) s.wait(set);
        s.wait(poll);
        s.wait(set);
        EXPECT_LT(polls, 10'000U);
    }
}

TEST_P(WaitAll, OfAForeignThreadKeepsTheSchedulerUntilItReturns) {
    if (GetParam() == 0) GTEST_SKIP() << "nobody runs the task that ends the scheduler";
    struct watched {
        std::atomic<bool> handling{false}, freed_meanwhile{false};
        std::atomic<int> live{0};  // pieces of memory
        std::thread::id foreign;
    } seen;
    braid::scheduler_options o = options();
    o.memory.user = nullptr;
    static watched* at = nullptr;
    at = &seen;
    o.memory.allocate = [](void*, std::size_t bytes, std::size_t alignment, braid::memory_tag) {
        ++at->live;
        return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
    };
    o.memory.release = [](void*, void* p, std::size_t, std::size_t alignment,
                          braid::memory_tag tag) {
        if (tag == braid::memory_tag::runtime && at->handling) at->freed_meanwhile = true;
        ::operator delete(p, std::align_val_t{alignment});
        --at->live;
    };
    o.unobserved_exception = {[](void*, const char*, std::exception_ptr) {
                                  if (std::this_thread::get_id() != at->foreign) return;
                                  at->handling = true;
                                  for (int i = 0; i < 2'000; ++i) std::this_thread::yield();
                                  at->handling = false;
                              },
                              nullptr};
    auto* const s = new braid::scheduler(o);
    // They keep the workers, so that only the wait runs what says that it has begun.
    std::atomic<int> kept{0};
    std::atomic<bool> calls_are_over{false}, waits{false};
    for (int i = 0; i < GetParam(); ++i) {
        s->post([s, i, &kept, &calls_are_over] {
            ++kept;
            until([&] { return calls_are_over.load(); });
            if (i == 0) delete s;
        });
    }
    until([&] { return kept == GetParam(); });
    auto gate = s->begin({}, braid::empty);
    std::vector<task_id> ids{s->spawn([&waits] { waits = true; })};
    for (int i = 0; i < 3; ++i) ids.push_back(failing(*s, i, {.after = {gate.id()}}));
    std::thread foreign([&] {
        seen.foreign = std::this_thread::get_id();
        EXPECT_THROW(wait_all(*s, ids), int);
    });
    until([&] { return waits.load(); });
    gate.finish();
    calls_are_over = true;
    foreign.join();
    until([&] { return seen.live == 0; });  // a thread of the scheduler's own ends it
    EXPECT_FALSE(seen.freed_meanwhile);
}

TEST_P(WaitAll, OfRandomTasksThatWaitForSeveralEnds) {
    braid::scheduler s(options());
    const std::uint64_t seeds = braid_test::scaled(200);
    for (std::uint64_t seed = 0; seed < seeds; ++seed) random_waits(s, seed);
}

TEST_P(WaitAll, OfRandomTasksEndsUnderAChooser) {
    const std::uint64_t seeds = braid_test::scaled(20);
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        braid_test::seeded_chooser chooser(seed);
        braid::scheduler_options o = options();
        o.chooser = &chooser;
        braid::scheduler s(o);
        random_waits(s, seed);
    }
}

}  // namespace
