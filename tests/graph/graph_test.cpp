// G2, G5, G13: graphs that are built once: order, runs, edits, failures, what is refused.
#include <braid/graph/graph.hpp>

#include "misuse.hpp"
#include "quiet_rounds.hpp"
#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <random>
#include <set>
#include <thread>
#include <vector>

namespace {

using braid_test::comes_to_allocate_nothing;
using braid_test::misuse;
using braid_test::scaled;

BRAID_SCHEDULER_TEST(Graph);

// Told apart by their types: ThreadSanitizer does not see how the standard library counts
// references to an exception, and takes a look into one for a race with its end on another thread.
struct of_first {};
struct of_another {};

TEST_P(Graph, RunsEachNodeOnceAfterItsPredecessorsInEachRun) {
    braid::scheduler s(options());
    std::mt19937 random(3);
    constexpr std::size_t nodes = 200;
    struct state {
        std::atomic<unsigned> runs{0};
        unsigned plain = 0;  // read by successors: ThreadSanitizer is the judge of the order
    };
    std::vector<state> states(nodes);
    std::vector<std::vector<std::size_t>> before(nodes);
    std::vector<braid::graph_node> all;
    std::atomic<unsigned> early{0};
    braid::graph g(s, "random");
    for (std::size_t i = 0; i < nodes; ++i) {
        for (std::size_t n = 0; n < 3 && i != 0; ++n) before[i].push_back(random() % i);
        all.push_back(g.add([&, i] {
            const unsigned run = ++states[i].runs;
            states[i].plain = run;
            for (const std::size_t p : before[i]) early += states[p].plain != run;
        }));
        ASSERT_TRUE(all[i]);
        for (const std::size_t p : before[i]) ASSERT_TRUE(g.precede(all[p], all[i]));
    }
    EXPECT_EQ(g.size(), nodes);
    const auto runs = static_cast<unsigned>(scaled(50));
    for (unsigned i = 0; i < runs; ++i) g.run_and_wait();
    for (const state& n : states) EXPECT_EQ(n.runs, runs);
    EXPECT_EQ(early, 0U);
}

TEST_P(Graph, ARunAllocatesNothingOnceItHasRun) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::atomic<int> ran{0};
    braid::graph_node last;
    for (int i = 0; i < 160; ++i) {
        const auto node = g.add([&ran] { ++ran; });
        if (last && i % 3 == 0) g.precede(last, node);
        if (i % 5 == 0) last = node;
    }
    int runs = 0;
    EXPECT_TRUE(comes_to_allocate_nothing(s, [&] {
        g.run_and_wait();
        ++runs;
    }));
    EXPECT_EQ(ran, runs * 160);
}

TEST_P(Graph, RunsQueueBehindEachOtherWhileAnotherGraphsRunsDoToo) {
    braid::scheduler s(options());
    braid::graph one(s, "one"), two(s, "two");
    int in_one = 0, in_two = 0;  // plain: runs of one graph never overlap
    for (braid::graph* g : {&one, &two}) {
        int& count = g == &one ? in_one : in_two;
        const auto first = g->add([&count] { ++count; });
        const auto second = g->add([&count] { ++count; });
        g->precede(first, second);
    }
    std::vector<braid::task_id> ids;
    for (int i = 0; i < 50; ++i) {
        ids.push_back(one.run());
        ids.push_back(two.run());
    }
    for (const braid::task_id id : ids) s.wait(id);
    EXPECT_EQ(in_one, 100);
    EXPECT_EQ(in_two, 100);
}

/// Each of two runs goes on only when the other has begun.
TEST_P(Graph, TwoGraphsRunAtTheSameTime) {
    braid::scheduler s(options());
    std::atomic<int> begun{0}, ran{0};
    const auto run_one = [&](const char* name) {
        braid::graph g(s, name);
        const auto meets = g.add([&] {
            ++begun;
            braid_test::until([&] { return begun == 2; });
        });
        g.precede(meets, g.add([&] { ++ran; }));
        g.run_and_wait();
    };
    std::thread other([&] { run_one("two"); });
    run_one("one");
    other.join();
    EXPECT_EQ(ran, 2);
}

TEST_P(Graph, AnEmptyOneAndEmptyNodesJoin) {
    braid::scheduler s(options());
    braid::graph nothing(s);
    nothing.run_and_wait();

    braid::graph g(s);
    std::atomic<int> before{0};
    int seen = 0;
    const auto join = g.add({.name = "join"}, braid::empty);
    const auto after = g.add([&] { seen = before; });
    g.precede(join, after);
    for (int i = 0; i < 100; ++i) g.precede(g.add([&before] { ++before; }), join);
    g.run_and_wait();
    EXPECT_EQ(seen, 100);
}

TEST_P(Graph, MayBeEditedBetweenRuns) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::string order;
    const auto a = g.add([&order] { order += 'a'; });
    const auto b = g.add([&order] { order += 'b'; });
    const auto c = g.add([&order] { order += 'c'; });
    g.precede(a, b);
    g.precede(b, c);
    g.run_and_wait();
    EXPECT_EQ(order, "abc");
    EXPECT_TRUE(g.erase(b));
    EXPECT_FALSE(g.erase(b)) << "it is gone";
    EXPECT_EQ(g.size(), 2U);
    g.precede(c, a);
    order.clear();
    g.run_and_wait();
    EXPECT_EQ(order, "ca");
    const auto d = g.add([&order] { order += 'd'; });
    g.precede(a, d);
    order.clear();
    g.run_and_wait();
    EXPECT_EQ(order, "cad");
}

TEST_P(Graph, ACallableLivesAsLongAsItsNode) {
    braid::scheduler s(options());
    const auto token = std::make_shared<int>(0);
    struct large {
        std::shared_ptr<int> kept;
        char more[100] = {};
    };
    {
        braid::graph g(s);
        const auto small = g.add([token] { ++*token; });
        const auto big = g.add([l = large{token}] { ++*l.kept; });
        g.precede(small, big);
        EXPECT_EQ(token.use_count(), 3);
        g.run_and_wait();
        g.run_and_wait();
        EXPECT_EQ(*token, 4);
        EXPECT_EQ(token.use_count(), 3);
        g.erase(big);
        EXPECT_EQ(token.use_count(), 2);
        struct throws_when_copied {
            throws_when_copied() = default;
            throws_when_copied(const throws_when_copied&) { throw std::runtime_error("copied"); }
            void operator()() const {}
        } bad;
        EXPECT_THROW(g.add(bad), std::runtime_error);
        EXPECT_EQ(g.size(), 1U);
        g.run();  // the destructor waits for it
    }
    EXPECT_EQ(*token, 5);
    EXPECT_EQ(token.use_count(), 1);
}

TEST_P(Graph, RefusesACycleAndNamesItsPath) {
    misuse reported;
    braid::scheduler_options o = options();
    o.assertion = reported.handler();
    braid::scheduler s(o);
    braid::graph g(s, "frame");
    std::atomic<int> ran{0};
    const auto count = [&ran] { ++ran; };
    const auto input = g.add({.name = "input"}, count);
    const auto animate = g.add({.name = "animate"}, count);
    const auto skin = g.add({.name = "skin"}, count);
    const auto cull = g.add({.name = "cull"}, count);
    const auto draw = g.add({.name = "draw"}, count);
    g.precede(input, animate);
    g.precede(animate, skin);
    g.precede(skin, cull);
    g.precede(cull, animate);
    g.precede(cull, draw);
    EXPECT_FALSE(g.run());
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(reported.text.find("graph 'frame' goes round, each waits for the next: "), 0U)
        << reported.text;
    // Any of the three may be the first.
    const std::string path = reported.text.substr(reported.text.find(": ") + 2);
    const std::set<std::string> rounds = {
        "animate <- cull <- skin <- animate; take one of these edges out",
        "cull <- skin <- animate <- cull; take one of these edges out",
        "skin <- animate <- cull <- skin; take one of these edges out"};
    EXPECT_EQ(rounds.count(path), 1U) << path;
    reported.text.clear();
    EXPECT_TRUE(g.erase(skin));
    g.run_and_wait();
    EXPECT_EQ(ran, 4);
    EXPECT_EQ(reported.text, "");
}

TEST_P(Graph, NamesTheCycleAndNotWhatComesAfterIt) {
    misuse reported;
    braid::scheduler_options o = options();
    o.assertion = reported.handler();
    braid::scheduler s(o);
    braid::graph g(s, "frame");
    const auto last = g.add({.name = "last"}, [] {});
    const auto late = g.add({.name = "late"}, [] {});
    const auto a = g.add({.name = "a"}, [] {});
    const auto b = g.add({.name = "b"}, [] {});
    g.precede(a, b);
    g.precede(b, a);
    g.precede(b, late);
    g.precede(late, last);
    EXPECT_FALSE(g.run());
    EXPECT_EQ(reported.text.find("la"), std::string::npos) << reported.text;
    EXPECT_NE(reported.text.find("a <- b <- a"), reported.text.find("b <- a <- b"))
        << "one of them";
}

TEST_P(Graph, RefusesEdgesOfOthersAndEditsWhileItRuns) {
    misuse reported;
    braid::scheduler_options o = options();
    o.assertion = reported.handler();
    braid::scheduler s(o);
    braid::graph g(s), other(s);
    const auto a = g.add([] {});
    const auto b = other.add([] {});
    EXPECT_FALSE(g.precede(a, b));
    EXPECT_EQ(reported.text, "both nodes must be in this graph, and not erased");
    EXPECT_FALSE(g.precede(a, a));
    EXPECT_EQ(reported.text, "a node cannot precede itself");
    EXPECT_FALSE(g.precede(a, {}));
    braid::event go(s, braid::reset::manual);
    const auto held = g.add({.name = "held"}, [&] { s.do_work_while_waiting_for(go); });
    ASSERT_TRUE(held);
    const braid::task_id run = g.run();
    reported.text.clear();
    EXPECT_FALSE(g.add([] {}));
    EXPECT_EQ(reported.text, "a graph is edited between its runs; wait for the last one");
    EXPECT_FALSE(g.precede(a, held));
    EXPECT_FALSE(g.erase(a));
    go.set();
    s.wait(run);
    EXPECT_TRUE(g.precede(a, held));
}

TEST_P(Graph, AFailureCancelsWhatComesAfterItInThisRunOnly) {
    braid::scheduler s(options());
    braid::graph g(s, "frame");
    bool bad = true;
    std::atomic<int> after{0}, beside{0};
    const auto first = g.add({.name = "first"}, [&] {
        if (bad) throw of_first();
    });
    const auto also = g.add({.name = "also"}, [&] {
        if (bad) throw of_another();
    });
    const auto next = g.add([&after] { ++after; });
    const auto last = g.add([&after] { ++after; });
    g.precede(first, next);
    g.precede(also, next);
    g.precede(next, last);
    g.precede(g.add([&beside] { ++beside; }), g.add([&beside] { ++beside; }));
    for (int i = 0; i < 20; ++i) {
        bad = i % 2 == 0;
        after = beside = 0;
        if (bad) {
            EXPECT_THROW(g.run_and_wait(), of_first) << "of two the one that was added first";
        } else {
            g.run_and_wait();
        }
        EXPECT_EQ(after, bad ? 0 : 2);
        EXPECT_EQ(beside, 2);
    }
}

TEST_P(Graph, AFailureOfANodesChildIsTheNodes) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::atomic<int> after{0};
    bool bad = true;
    const auto parent = g.add([&](braid::task_context& task) {
        task.spawn_child([&] {
            if (bad) throw std::runtime_error("child");
        });
    });
    g.precede(parent, g.add([&after] { ++after; }));
    for (int i = 0; i < 10; ++i) {
        bad = i % 3 != 2;
        after = 0;
        if (bad) {
            EXPECT_THROW(g.run_and_wait(), std::runtime_error) << "run " << i;
        } else {
            g.run_and_wait();
        }
        EXPECT_EQ(after, bad ? 0 : 1) << "run " << i;
    }
}

TEST_P(Graph, AFailureReachesTasksThatWaitForTheNode) {
    braid::scheduler s(options());
    braid::graph g(s);
    braid::task_id of_node, behind;
    bool ran = false;
    g.add({.name = "bad"}, [&](braid::task_context& task) {
        of_node = task.id();
        behind = task.spawn({.after = {of_node}}, [&ran] { ran = true; });
        throw std::runtime_error("bad");
    });
    EXPECT_THROW(g.run_and_wait(), std::runtime_error);
    EXPECT_TRUE(s.done(of_node));
    try {
        s.wait(behind);  // nothing, if it has ended by now
    } catch (const std::runtime_error&) {
    }
    EXPECT_FALSE(ran);
}

TEST_P(Graph, ANodeRemembersThatItFailedUntilTheNextRun) {
    braid::scheduler s(options());
    braid::graph g(s);
    braid::task_id of_node, of_next;
    bool fails = true;
    const auto bad = g.add([&](braid::task_context& task) {
        of_node = task.id();
        if (fails) throw std::runtime_error("bad");
    });
    g.precede(bad, g.add([&](braid::task_context& task) { of_next = task.id(); }));
    EXPECT_THROW(g.run_and_wait(), std::runtime_error);
    EXPECT_EQ(s.state(of_node), braid::task_state::failed);
    std::atomic<int> ran{0};
    const auto late = s.spawn({.after = {of_node}}, [&ran] { ++ran; });
    s.wait(s.spawn({.after_any = {late}}, braid::empty));
    EXPECT_EQ(s.state(late), braid::task_state::cancelled);
    EXPECT_EQ(ran, 0);
    const braid::task_id failed_before = of_node;
    fails = false;
    g.run_and_wait();
    EXPECT_EQ(s.state(of_node), braid::task_state::done);
    EXPECT_EQ(s.state(of_next), braid::task_state::done);
    EXPECT_EQ(s.state(failed_before), braid::task_state::done) << "forgotten";
    s.wait(s.spawn({.after = {failed_before}}, [&ran] { ++ran; }));
    EXPECT_EQ(ran, 1);
}

TEST_P(Graph, WhatNobodyWaitedForIsReportedWhenItEnds) {
    std::atomic<int> reported{0};
    braid::scheduler_options o = options();
    o.unobserved_exception = {[](void* user, const char* task, std::exception_ptr) {
                                  EXPECT_STREQ(task, "bad");
                                  ++*static_cast<std::atomic<int>*>(user);
                              },
                              &reported};
    {
        braid::scheduler s(o);
        braid::graph g(s, "frame");
        g.add({.name = "bad"}, [] { throw std::runtime_error("bad"); });
        g.run();
    }
    EXPECT_EQ(reported, 1);
}

TEST_P(Graph, AFailFastScopeKeepsTheCauseOfItsEnd) {
    braid::scheduler s(options());
    for (int i = 0; i < 20; ++i) {
        braid::graph g(s);
        for (int n = 0; n < 8; ++n) g.add([] {});
        const auto bad = g.add([] { throw of_first(); });
        for (int n = 0; n < 8; ++n) g.precede(bad, g.add([] {}));
        braid::scope all(s, braid::on_failure::cancel);
        EXPECT_THROW(g.run_and_wait({.within = &all}), of_first);
        all.wait();
    }
}

TEST_P(Graph, ARefusedRunLeavesTheOneBeforeIt) {
    misuse reported;
    braid::scheduler_options o = options();
    o.assertion = reported.handler();
    braid::scheduler s(o);
    braid::graph g(s);
    braid::event go(s, braid::reset::manual);
    int runs = 0;
    g.add([&] {
        s.do_work_while_waiting_for(go);
        ++runs;
    });
    const auto over = s.spawn([] {});
    s.wait(over);
    const auto first = g.run();
    EXPECT_FALSE(g.run({.parent = over})) << "a child of a task that is complete";
    EXPECT_FALSE(g.add([] {})) << "the first run is still open";
    const auto third = g.run();
    go.set();
    s.wait(first);
    s.wait(third);
    EXPECT_EQ(runs, 2);
}

TEST_P(Graph, ANodeForAThreadThatIsNotThereCancelsWhatComesAfterIt) {
    misuse reported;
    braid::scheduler_options o = options();
    o.assertion = reported.handler();
    braid::scheduler s(o);
    braid::graph g(s);
    std::atomic<int> ran{0};
    const auto lost = g.add({.workers = std::uint64_t{1} << 63}, [&ran] { ++ran; });
    if (GetParam() > 63) GTEST_SKIP() << "that worker exists";
    const auto after = g.add({.on = s.this_thread()}, [&ran] { ++ran; });
    g.precede(lost, after);
    g.add([&ran] { ++ran; });
    for (int i = 0; i < 3; ++i) EXPECT_THROW(g.run_and_wait(), braid::task_cancelled);
    EXPECT_EQ(ran, 3);
    EXPECT_EQ(reported.text, "no worker of the mask `workers` exists");
}

TEST_P(Graph, ANodeThatIsNotToRunWaitsForNoThread) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::thread::id helper;
    braid::event registered(s), stop(s, braid::reset::manual);
    braid::thread_ref other;
    std::thread thread([&] {
        const braid::main_thread me(s, "other");
        other = me.ref();
        registered.set();
        s.do_work_while_waiting_for(stop);
    });
    s.do_work_while_waiting_for(registered);
    const auto bad = g.add([] { throw std::runtime_error("bad"); });
    g.precede(bad, g.add({.on = other}, [&] { helper = std::this_thread::get_id(); }));
    EXPECT_THROW(g.run_and_wait(), std::runtime_error);
    EXPECT_EQ(helper, std::thread::id());
    stop.set();
    thread.join();
}

TEST_P(Graph, ABackgroundThreadRunsNothingOfAFrame) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::atomic<int> on_background{0};
    std::atomic<std::thread::id> background{};
    for (int i = 0; i < 20; ++i) {
        const auto back = g.add({.runs_as = braid::task_class::background},
                                [&] { background = std::this_thread::get_id(); });
        g.precede(back,
                  g.add([&] { on_background += std::this_thread::get_id() == background.load(); }));
    }
    const auto task = s.spawn({.runs_as = braid::task_class::background},
                              [&](braid::task_context&) { g.run_and_wait(); });
    s.wait(task);
    EXPECT_EQ(on_background, 0);
}

TEST_P(Graph, WithoutMemoryNodesAndRunsAreRefused) {
    struct seen {
        std::atomic<int> count{0};
        std::string what;
    } reported;
    braid::scheduler_options o = options();
    o.workers = 0;
    o.memory_budget_bytes = 4 << 20;
    o.out_of_memory = {[](void* user, std::size_t, const char* what) {
                           auto& t = *static_cast<seen*>(user);
                           ++t.count;
                           t.what = what;
                       },
                       &reported};
    braid::scheduler s(o);
    {
        braid::graph g(s);
        int ran = 0;
        braid::graph_node last = g.add([&ran] { ++ran; });
        std::size_t nodes = 1;
        while (const auto next = g.add([&ran] { ++ran; })) {
            if (!g.precede(last, next)) {
                g.erase(next);
                break;
            }
            last = next;
            ++nodes;
        }
        EXPECT_GT(reported.count, 0);
        EXPECT_NE(reported.what, "");
        // There may be memory for a run or not; if it runs, it runs whole.
        const bool run = g.run_and_wait();
        EXPECT_EQ(ran, run ? static_cast<int>(nodes) : 0);
    }
}

/// One thread, so that a node without predecessors that was added first runs first.
TEST_P(Graph, AChoiceForWhichThereIsNoMemoryLeavesNoEdge) {
    braid::scheduler_options o = options();
    o.workers = 0;
    braid_test::refusing_memory memory(o.memory);
    o.memory = memory.hooks();
    braid::scheduler s(o);
    braid::graph g(s);
    std::string order;
    const auto later = g.add([&order] { order += "later "; });
    const auto asks = g.add_condition({.name = "asks"}, [&order] {
        order += "asks ";
        return 1U;
    });
    const auto other = g.add([&order] { order += "other "; });
    ASSERT_TRUE(g.precede(asks, other));  // edges have room for one more
    memory.refuse_after(0);
    EXPECT_FALSE(g.precede_if(asks, 0, later));
    memory.give_back();
    g.run_and_wait();
    EXPECT_EQ(order, "later asks other ");
}

TEST_P(Graph, ARefusedRunAndWaitSaysSo) {
    braid::scheduler s(options());
    braid::graph g(s);
    int runs = 0;
    g.add([&runs] { ++runs; });
    EXPECT_TRUE(g.run_and_wait());
    s.shut_down();
    EXPECT_FALSE(g.run_and_wait());
    EXPECT_EQ(runs, 1);
}

TEST_P(Graph, ARunBehindAFailedOneRuns) {
    braid::scheduler s(options());
    braid::graph g(s);
    int runs = 0;
    g.add([&runs] {
        if (++runs == 1) throw std::runtime_error("the first");
    });
    const braid::task_id first = g.run();
    const braid::task_id second = g.run();
    try {
        s.wait(first);  // nothing, if it has ended by now; then the handler got it
    } catch (const std::runtime_error&) {
    }
    s.wait(second);
    EXPECT_EQ(runs, 2);
}

TEST_P(Graph, NodesHaveChildrenWaitAndJoin) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::atomic<int> children{0};
    int seen = 0, waited = 0;
    const auto parent = g.add({.name = "parent"}, [&](braid::task_context& task) {
        for (int i = 0; i < 10; ++i) task.spawn_child([&children] { ++children; });
    });
    const auto after = g.add([&](braid::task_context& task) {
        seen = children;
        task.wait(task.spawn([&waited] { ++waited; }));
    });
    g.precede(parent, after);
    for (int i = 1; i <= 20; ++i) {
        g.run_and_wait();
        ASSERT_EQ(seen, 10 * i) << "a node is complete when its children are";
    }
    EXPECT_EQ(waited, 20);
}

TEST_P(Graph, RunsAsAPartOfOtherTasksAndScopes) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::atomic<int> ran{0};
    const auto a = g.add([&ran] { ++ran; });
    const auto b = g.add([&ran] { ++ran; });
    g.precede(a, b);
    int seen = 0;
    const auto input = s.spawn([&seen] { seen = 1; });
    const auto frame = s.spawn({.name = "frame"}, [&](braid::task_context& task) {
        g.run({.after = {input}, .parent = task.id()});
    });
    s.wait(frame);
    EXPECT_EQ(ran, 2) << "a child of the frame";
    EXPECT_EQ(seen, 1);

    braid::scope all(s);
    g.run({.within = &all});
    all.wait();
    EXPECT_EQ(ran, 4);
    EXPECT_EQ(all.account().executed, 3U) << "the run and its nodes";

    braid::scope cancelled(s);
    cancelled.cancel();
    const auto never = g.run({.within = &cancelled});
    cancelled.wait();
    EXPECT_EQ(s.state(never), braid::task_state::cancelled);
    EXPECT_EQ(ran, 4);
    g.run_and_wait();
    EXPECT_EQ(ran, 6);
}

TEST_P(Graph, AScopeThatIsCancelledMeanwhileFailsTheRun) {
    braid::scheduler s(options());
    braid::graph g(s);
    braid::scope all(s);
    int ran = 0;
    const auto a = g.add([&all] { all.cancel(); });
    const auto b = g.add([&ran] { ++ran; });
    g.precede(a, b);
    const auto run = g.run({.within = &all});
    all.wait();
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(s.state(run), braid::task_state::failed) << "a node of it was cancelled";
}

/// One thread, so that the order is the one of the priorities.
TEST_P(Graph, NodesStartInTheOrderOfTheirPriorities) {
    braid::scheduler_options o = options();
    o.workers = 0;
    braid::scheduler s(o);
    braid::graph g(s);
    std::string order;
    const auto root = g.add([] {});
    const auto add = [&](braid::priority_level level, char name) {
        g.precede(root, g.add({.priority = level}, [&order, name] { order += name; }));
    };
    for (int i = 0; i < 3; ++i) {
        add(braid::priority_level::low, 'l');
        add(braid::priority_level::high, 'h');
        add(braid::priority_level::normal, 'n');
    }
    for (int i = 0; i < 3; ++i) g.run_and_wait();
    EXPECT_EQ(order, "hhhnnnlllhhhnnnlllhhhnnnlll");
}

TEST_P(Graph, NodesKeepTheirThreadAndTheirResources) {
    braid::scheduler s(options());
    const auto here = s.this_thread();
    braid::resource one(s, "one", 1);
    braid::graph g(s);
    const auto caller = std::this_thread::get_id();
    int on_caller = 0, alone = 0;
    std::atomic<int> inside{0}, together{0};
    for (int i = 0; i < 10; ++i) {
        g.add({.on = here}, [&] { on_caller += std::this_thread::get_id() == caller; });
        g.add({.priority = braid::priority_level::high, .uses = {&one}}, [&] {
            together += ++inside != 1;
            ++alone;
            --inside;
        });
    }
    for (int i = 0; i < 10; ++i) g.run_and_wait();
    EXPECT_EQ(on_caller, 100);
    EXPECT_EQ(alone, 100);
    EXPECT_EQ(together, 0);
}

TEST_P(Graph, AChainAndAFanOfTenThousandRun) {
    braid::scheduler s(options());
    const std::size_t n = scaled(10'000);
    std::size_t in_order = 0;
    braid::graph chain(s, "chain");
    braid::graph_node before;
    for (std::size_t i = 0; i < n; ++i) {
        const auto node = chain.add([&in_order, i] { in_order += in_order == i; });
        if (before) chain.precede(before, node);
        before = node;
    }
    chain.run_and_wait();
    EXPECT_EQ(in_order, n);

    braid::graph fan(s, "fan");
    std::atomic<std::size_t> ran{0};
    const auto root = fan.add([] {});
    const auto end = fan.add({.name = "end"}, braid::empty);
    for (std::size_t i = 0; i < n; ++i) {
        const auto leaf = fan.add([&ran] { ++ran; });
        fan.precede(root, leaf);
        fan.precede(leaf, end);
    }
    fan.run_and_wait();
    fan.run_and_wait();
    EXPECT_EQ(ran, 2 * n);
}

// Its nodes lie in the cache of that thread's core, and no other thread is woken for them.
TEST_P(Graph, AChainStaysOnTheThreadThatBeganIt) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::vector<std::thread::id> ran_on(5000);
    braid::graph_node before;
    for (std::thread::id& here : ran_on) {
        const braid::graph_node link = g.add([&here] { here = std::this_thread::get_id(); });
        if (before) g.precede(before, link);
        before = link;
    }
    for (std::size_t run = 0; run < scaled(100); ++run) {
        g.run_and_wait();
        for (const std::thread::id& here : ran_on) ASSERT_EQ(here, ran_on.front());
    }
}

TEST_P(Graph, ADiscardingShutdownEndsItsRuns) {
    std::atomic<int> ran{0};
    braid::scheduler s(options());
    braid::graph g(s);
    braid::event go(s, braid::reset::manual);
    const auto first = g.add([&] { s.do_work_while_waiting_for(go); });
    const auto second = g.add([&ran] { ++ran; });
    g.precede(first, second);
    const auto run = g.run();
    std::thread other([&] { s.shut_down(braid::shutdown::discard); });
    go.set();
    other.join();
    EXPECT_TRUE(s.done(run));
    EXPECT_LE(ran, 1);
}

TEST(GraphText, IsGraphviz) {
    braid::scheduler s({.workers = 0});
    braid::graph g(s);
    const auto a = g.add({.name = "say \"hi\""}, [] {});
    const auto gone = g.add({.name = "gone"}, [] {});
    const auto join = g.add({.name = "join"}, braid::empty);
    g.precede(a, gone);
    g.precede(a, join);
    g.erase(gone);
    EXPECT_EQ(g.to_dot(),
              "digraph {\n    rankdir=LR; compound=true; node [shape=box, fontname=sans];\n"
              "    n0 [label=\"say \\\"hi\\\"\"];\n"
              "    n2 [label=\"join\", shape=point];\n"
              "    n0 -> n2;\n}\n");
}

TEST_P(Graph, NodesGoByTheLevelOfTheirCategory) {
    braid::scheduler_options o = options();
    o.workers = 0;  // this thread alone
    braid::scheduler s(o);
    const braid::priority_level table[] = {braid::priority_level::normal,
                                           braid::priority_level::low, braid::priority_level::high};
    s.set_priority_table(table, 3);
    braid::graph g(s);
    std::vector<int> order;
    const auto first = g.add([] {});
    for (int i = 0; i < 30; ++i) {
        const int category = i % 3;
        const auto node = g.add({.category = static_cast<std::uint8_t>(category)},
                                [&order, category] { order.push_back(category); });
        g.precede(first, node);
    }
    for (int run = 0; run < 3; ++run) {
        order.clear();
        g.run_and_wait();
        ASSERT_EQ(order.size(), 30U);
        // One successor of the node that has just ended may come before its place.
        const auto high = std::count(order.begin(), order.begin() + 11, 2);
        const auto low = std::count(order.end() - 11, order.end(), 1);
        EXPECT_EQ(high, 10) << "run " << run;
        EXPECT_EQ(low, 10) << "run " << run;
    }
}

}  // namespace
