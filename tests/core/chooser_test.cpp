// With a chooser one thread runs at a time, every choice is the chooser's, and the same answers
// give the same run (I8). BRAID_TEST_WORKERS picks the worker counts as for every scheduler test.
#include "core/control/runtime.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

namespace {

using braid::task_context;
using braid::task_id;
using braid_test::seeded_chooser;

/// What a run left behind: the order in which its tasks ran, and every decision on the way.
struct run_record {
    std::vector<int> order;
    std::vector<std::uint64_t> decisions;
    friend bool operator==(const run_record&, const run_record&) = default;
};

/// A program of tasks that writes down who runs. Plain memory: one thread runs at a time.
using program = std::function<void(braid::scheduler&, std::vector<int>& order)>;

class Chooser : public braid_test::scheduler_test {
protected:
    run_record run(std::uint64_t seed, const program& tasks) {
        seeded_chooser chooser(seed);
        run_record record;
        {
            braid::scheduler_options o = options();
            o.chooser = &chooser;
            braid::scheduler s(o);
            tasks(s, record.order);
        }
        record.decisions = chooser.log();
        return record;
    }
    /// Each seed is a scheduler with all its threads: fewer where starting them is what costs, and
    /// at least one.
    std::uint64_t seeds(std::uint64_t usual) const {
        if (GetParam() > 8 || braid_test::emulated) return usual / 20 + 1;
        return braid_test::sanitized ? usual / 10 + 1 : usual + 1;
    }
};

TEST_P(Chooser, HearsThatNobodyCanGoOn) {
    // The program hung without a word: the gate let nobody through.
    seeded_chooser chooser(1);
    braid::scheduler_options o = options();
    o.chooser = &chooser;
    braid::scheduler s(o);
    auto gate = s.begin({}, braid::empty);
    std::atomic<bool> ran{false};
    const task_id id = s.spawn({.after = {gate.id()}}, [&] { ran = true; });
    // Only a thread that takes no part can end it.
    std::thread outside([&] {
        braid_test::until([&] { return chooser.standstills() > 0; });
        gate.finish();
    });
    s.wait(id);
    s.blocking([&] { outside.join(); });  // it comes to the gate once more
    EXPECT_TRUE(ran);
    EXPECT_GE(notes_.count(&braid_test::recorder::log, "nobody can go on"), 1U);
}

INSTANTIATE_TEST_SUITE_P(Workers, Chooser, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& row) { return std::to_string(row.param); });

/// Edges, children, a join, priorities and a wait inside a task.
void graph(braid::scheduler& s, std::vector<int>& order) {
    const auto note = [&order](int n) { return [&order, n] { order.push_back(n); }; };
    const task_id a = s.spawn(note(1));
    const task_id b = s.spawn(note(2));
    const task_id c = s.spawn({.after = {a, b}}, note(3));
    const task_id d = s.spawn({.after = {a}, .priority = braid::priority_level::high}, note(4));
    const task_id parent = s.spawn([&order, note](task_context& task) {
        order.push_back(5);
        for (int i = 6; i < 9; ++i) task.spawn_child(note(i));
        task.wait(task.spawn(note(9)));
        order.push_back(10);
    });
    s.wait(s.spawn({.after = {c, d, parent}}, braid::empty));
}

/// Events, scopes, reserves, failures and background tasks at once.
void everything(braid::scheduler& s, std::vector<int>& order) {
    const auto note = [&order](int n) { return [&order, n] { order.push_back(n); }; };
    braid::event opened(s);
    braid::scope some(s);
    // Waits for an event that another ready task sets: needs a reserve where nobody else is free.
    const task_id waiter = s.spawn([&] {
        s.do_work_while_waiting_for(opened);
        order.push_back(1);
    });
    some.post([&] {
        order.push_back(2);
        opened.set();
    });
    for (int i = 3; i < 6; ++i) some.post(note(i));
    const task_id slow = s.spawn({.runs_as = braid::task_class::background}, note(6));
    // Fails only once its successors exist.
    braid::task_builder built = s.begin({}, braid::empty);
    const task_id failed = s.spawn({.after = {built.id()}}, [&] {
        order.push_back(7);
        throw std::runtime_error("on purpose");
    });
    const task_id cancelled = s.spawn({.after = {failed}}, note(-1));
    const task_id always = s.spawn({.after_any = {failed, slow}}, note(8));
    built.finish();
    some.wait();
    s.wait(waiter);
    s.wait(always);
    bool threw = false;
    try {
        s.wait(cancelled);
    } catch (const std::runtime_error&) {
        threw = true;
    }
    // A wait that begins after the end hears only that it is done.
    order.push_back(threw ? 9 : 10);
}

std::vector<int> sorted(std::vector<int> values) {
    std::sort(values.begin(), values.end());
    return values;
}

TEST_P(Chooser, TheSameSeedGivesTheSameRunEachTime) {
    for (const program& tasks : {program(graph), program(everything)}) {
        const run_record first = run(42, tasks);
        EXPECT_FALSE(first.decisions.empty());
        for (std::uint64_t i = 1; i < seeds(40) + 1; ++i) {
            ASSERT_EQ(run(42, tasks), first) << "run " << i;
        }
    }
}

TEST_P(Chooser, OtherSeedsGiveOtherOrders) {
    std::set<std::vector<int>> orders;
    for (std::uint64_t seed = 0; seed < 100; ++seed) orders.insert(run(seed, graph).order);
    EXPECT_GE(orders.size(), 20U);
}

TEST_P(Chooser, NoSeedHangsOrLosesATask) {
    const auto usual = static_cast<std::uint64_t>(200 * braid_test::stress_scale());
    for (std::uint64_t seed = 0; seed < seeds(usual); ++seed) {
        ASSERT_EQ(sorted(run(seed, graph).order), (std::vector{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}))
            << "seed " << seed;
        std::vector<int> all = sorted(run(seed, everything).order);
        ASSERT_EQ(all.size(), 9U) << "seed " << seed;
        all.pop_back();
        ASSERT_EQ(all, (std::vector{1, 2, 3, 4, 5, 6, 7, 8})) << "seed " << seed;
    }
}

TEST_P(Chooser, EdgesHoldInEveryOrder) {
    for (std::uint64_t seed = 0; seed < seeds(400); ++seed) {
        const std::vector<int> order = run(seed, graph).order;
        const auto at = [&](int n) { return std::find(order.begin(), order.end(), n); };
        ASSERT_LT(at(1), at(3)) << "seed " << seed;
        ASSERT_LT(at(2), at(3)) << "seed " << seed;
        ASSERT_LT(at(1), at(4)) << "seed " << seed;
        ASSERT_LT(at(9), at(10)) << "seed " << seed;
    }
}

/// Reads a value without waiting for its writer: right in most orders.
void planted_bug(braid::scheduler& s, std::vector<int>& order) {
    int value = 0;
    const task_id write = s.spawn([&] { value = 1; });
    const task_id other = s.spawn({.after = {write}}, [] {});
    const task_id read = s.spawn([&] { order.push_back(value); });
    s.wait(s.spawn({.after = {other, read}}, braid::empty));
}

TEST_P(Chooser, AnOrderThatAProgramForgotIsFoundBySomeSeedAndFoundAgain) {
    std::uint64_t found = 0;
    std::set<int> seen;
    for (std::uint64_t seed = 1; seed <= 200 && seen.size() < 2; ++seed) {
        const int value = run(seed, planted_bug).order.at(0);
        seen.insert(value);
        if (value == 0 && found == 0) found = seed;
    }
    ASSERT_EQ(seen.size(), 2U) << "some orders show the mistake, some do not";
    for (int i = 0; i < 20; ++i) EXPECT_EQ(run(found, planted_bug).order.at(0), 0);
}

TEST_P(Chooser, OneTaskRunsAtATime) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::atomic<int> inside{0};
        int most = 0;
        run(seed, [&](braid::scheduler& s, std::vector<int>&) {
            braid::scope all(s);
            for (int i = 0; i < 50; ++i) {
                all.post([&] {
                    most = std::max(most, ++inside);
                    --inside;
                });
            }
            all.wait();
        });
        ASSERT_EQ(most, 1) << "seed " << seed;
    }
}

TEST_P(Chooser, ATimeOutIsADecision) {
    std::set<bool> outcomes;
    for (std::uint64_t seed = 0; seed < seeds(100); ++seed) {
        run(seed, [&](braid::scheduler& s, std::vector<int>&) {
            braid::event never(s);
            bool over = true;
            s.wait(
                s.spawn([&] { over = s.do_work_while_waiting_for(never, braid::seconds(3600)); }));
            outcomes.insert(over);
        });
    }
    EXPECT_EQ(outcomes, std::set<bool>{false}) << "an hour passes when nobody else can go on";
}

TEST_P(Chooser, EveryKindOfDecisionIsAsked) {
    using enum braid::decision_kind;
    std::size_t asked[16] = {};
    for (std::uint64_t seed = 0; seed < seeds(100); ++seed) {
        seeded_chooser chooser(seed);
        braid::scheduler_options o = options();
        o.workers = std::min(GetParam(), 8);
        o.chooser = &chooser;
        {
            braid::scheduler s(o);
            std::vector<int> order;
            everything(s, order);
            // Two waits that both run out of time, in either order.
            braid::event never(s);
            const auto patient = [&] { s.do_work_while_waiting_for(never, braid::seconds(1)); };
            s.wait(s.spawn({.after = {s.spawn(patient), s.spawn(patient)}}, braid::empty));
        }
        for (const auto kind : {next_thread, next_task, preempt, wake, time_out, clock}) {
            asked[static_cast<std::size_t>(kind)] += chooser.asked(kind);
        }
    }
    for (const auto kind : {next_thread, next_task, preempt, wake, time_out, clock}) {
        if (kind == wake && GetParam() < 2) continue;  // there is no second sleeper
        EXPECT_GT(asked[static_cast<std::size_t>(kind)], 0U) << "kind " << static_cast<int>(kind);
    }
}

TEST_P(Chooser, ABatchAndItsWaitersRunInEveryOrder) {
    for (std::uint64_t seed = 0; seed < seeds(200); ++seed) {
        run_record record = run(seed, [](braid::scheduler& s, std::vector<int>& order) {
            s.wait(s.spawn_batch(
                {}, 12, [&order](std::size_t i) { order.push_back(static_cast<int>(i)); }));
        });
        ASSERT_EQ(record.order.size(), 12U);
        std::sort(record.order.begin(), record.order.end());
        for (int i = 0; i < 12; ++i) ASSERT_EQ(record.order[static_cast<std::size_t>(i)], i);
    }
}

TEST_P(Chooser, AThreadFromOutsidePassesTheGate) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        int ran = 0;
        run(seed, [&](braid::scheduler& s, std::vector<int>&) {
            braid::event done(s);
            std::thread outside([&] {
                s.wait(s.spawn([&] { ++ran; }));
                done.set();
            });
            s.do_work_while_waiting_for(done);
            outside.join();
        });
        ASSERT_EQ(ran, 1);
    }
}

TEST_P(Chooser, ABlockingRegionLetsOthersThroughTheGate) {
    int ran = 0;
    run(7, [&](braid::scheduler& s, std::vector<int>&) {
        std::thread outside;
        s.blocking([&] {
            outside = std::thread([&] { s.wait(s.spawn([&] { ++ran; })); });
            outside.join();
        });
    });
    EXPECT_EQ(ran, 1);
}

TEST_P(Chooser, ABlockingRegionMayContainAWait) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const run_record record = run(seed, [](braid::scheduler& s, std::vector<int>& order) {
            s.wait(s.spawn([&] {
                s.blocking([&] { s.wait(s.spawn([&] { order.push_back(1); })); });
                order.push_back(2);
            }));
        });
        ASSERT_EQ(record.order, (std::vector{1, 2})) << "seed " << seed;
    }
}

TEST_P(Chooser, FreezeComesToRestAndNothingRunsUntilResume) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::size_t frozen = 0;
        const run_record record = run(seed, [&](braid::scheduler& s, std::vector<int>& order) {
            for (int i = 0; i < 4; ++i) s.post([&order] { order.push_back(1); });
            s.freeze();
            frozen = order.size();
            for (int i = 0; i < 4; ++i) s.post([&order] { order.push_back(2); });
            ASSERT_EQ(order.size(), frozen) << "seed " << seed;
            s.resume();
        });
        ASSERT_EQ(record.order.size(), 8U) << "seed " << seed;
    }
}

TEST_P(Chooser, TasksForCertainThreadsRunOnceAndThere) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const run_record record = run(seed, [](braid::scheduler& s, std::vector<int>& order) {
            const braid::thread_ref here = s.this_thread();
            braid::scope all(s);
            for (int i = 0; i < 4; ++i) {
                all.spawn({.on = here}, [&, here, i] {
                    EXPECT_EQ(s.this_thread(), here);
                    order.push_back(i);
                });
                if (s.worker_count() == 0) continue;
                const braid::thread_ref there = s.worker_thread(0);
                all.spawn({.on = there}, [&, there, i] {
                    EXPECT_EQ(s.this_thread(), there);
                    order.push_back(4 + i);
                });
                all.spawn({.workers = 1}, [&, there, i] {
                    EXPECT_EQ(s.this_thread(), there);
                    order.push_back(8 + i);
                });
            }
            all.wait();
        });
        std::vector<int> expected(GetParam() == 0 ? 4 : 12);
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int>(i);
        ASSERT_EQ(sorted(record.order), expected) << "seed " << seed;
    }
}

TEST_P(Chooser, UrgentTasksThatItPickedNoLongerCountAsReady) {
    seeded_chooser chooser(3);
    braid::scheduler_options o = options();
    o.chooser = &chooser;
    braid::scheduler s(o);
    braid::scope all(s);
    for (int i = 0; i < 30; ++i) {
        const auto level = i % 2 == 0 ? braid::priority_level::high : braid::priority_level::low;
        s.wait(all.spawn({.priority = level}, [] {}));
        EXPECT_FALSE(s.internals().urgent_ready());
    }
}

TEST_P(Chooser, HearsNothingWhileThereIsNothingToDo) {
    seeded_chooser chooser(1);
    braid::scheduler_options o = options();
    o.chooser = &chooser;
    braid::scheduler s(o);
    const braid::detail::runtime& rt = s.internals();
    for (int round = 0; round < 20; ++round) {
        s.wait(s.spawn([] {}));
        // Without this thread nobody has anything to do, and nobody waits. It comes back when the
        // last worker has left the serial gate.
        s.blocking([&] {
            for (unsigned i = 0; i < s.worker_count(); ++i) {
                const auto& w = rt.seat_at(s.worker_thread(i).seat);
                braid_test::until([&] { return w.at_rest.load(); });
            }
        });
    }
    EXPECT_EQ(chooser.standstills(), 0);
    EXPECT_EQ(notes_.count(&braid_test::recorder::log, "nobody can go on"), 0U);
}

/// The last thread, the first task; and to go on or let another one go as it is asked.
struct preempting_chooser final : braid::chooser {
    std::atomic<std::size_t> answer{0};
    std::size_t choose(braid::decision_kind kind, const braid::alternative*,
                       std::size_t count) override {
        if (kind == braid::decision_kind::preempt) return answer;
        return kind == braid::decision_kind::next_thread ? count - 1 : 0;
    }
};

TEST_P(Chooser, AThreadThatMakesWorkReadyGoesOnOrStepsAsideAsItIsChosen) {
    if (GetParam() == 0) GTEST_SKIP() << "nobody to step aside for";
    preempting_chooser chooser;
    braid::scheduler_options o = options();
    o.chooser = &chooser;
    braid::scheduler s(o);
    int ran = 0;
    const auto body = [&ran] { ++ran; };
    s.wait(s.spawn(body));
    ASSERT_EQ(ran, 1);
    const task_id ids[] = {s.spawn(body), s.spawn(body), s.spawn(body)};
    EXPECT_EQ(ran, 1) << "goes on";
    chooser.answer = 1;
    const task_id last = s.spawn(body);
    EXPECT_GT(ran, 1) << "steps aside";
    s.wait(s.spawn({.after = {ids[0], ids[1], ids[2], last}}, braid::empty));
    EXPECT_EQ(ran, 5);
}

}  // namespace
