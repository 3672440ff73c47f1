// G3, G15 and what else a graph is made of: groups, ranges, graphs within graphs, conditions.
#include <braid/graph/graph.hpp>

#include "misuse.hpp"
#include "quiet_rounds.hpp"
#include "refusing_memory.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"
#include "scratch_folder.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>

namespace {

using braid_test::comes_to_allocate_nothing;
using braid_test::misuse;
using braid_test::scaled;

BRAID_SCHEDULER_TEST(GraphParts);

// ---- groups ------------------------------------------------------------------------------------

TEST_P(GraphParts, AnEdgeOfAGroupHoldsForAllItsMembers) {
    braid::scheduler s(options());
    braid::graph g(s);
    bool before = false;
    std::atomic<int> early{0}, members{0};
    int seen = 0;
    const auto physics = g.add_group({.name = "physics"});
    const auto solve = g.add_group({.name = "solve", .in = physics});
    const auto first = g.add([&before] { before = true; });
    const auto last = g.add([&] { seen = members; });
    g.precede(first, physics);
    g.precede(physics, last);
    const auto member = [&] {
        early += !before;
        ++members;
    };
    for (int i = 0; i < 10; ++i) g.add({.in = physics}, member);
    for (int i = 0; i < 10; ++i) g.add({.in = solve}, member);
    EXPECT_EQ(g.size(), 24U);
    for (int i = 1; i <= 20; ++i) {
        before = false;
        g.run_and_wait();
        ASSERT_EQ(seen, 20 * i);
    }
    EXPECT_EQ(early, 0);
}

TEST_P(GraphParts, MemoryThatRunsOutLeavesNoGroupWithoutItsOrder) {
    for (int k = 0; k < 30; ++k) {
        braid::scheduler_options o = options();
        o.workers = std::min(GetParam(), 2);
        braid_test::refusing_memory memory(o.memory);
        o.memory = memory.hooks();
        braid::scheduler s(o);
        braid::graph g(s);
        int ran = 0;
        std::atomic<int> members{0}, wrong{0};
        const auto first = g.add([&] { ++ran; });
        const auto serial = g.add_group({.serial = true});
        const auto open = g.add_group({});
        const auto last = g.add([&] { wrong += ran != 101 || members != 30; });
        ASSERT_TRUE(g.precede(first, serial) && g.precede(serial, open) && g.precede(open, last));
        for (int i = 1; i <= 100; ++i) {
            g.add({.in = serial}, [&, i] {
                wrong += ran != i || members != 0;
                ++ran;
            });
        }
        for (int i = 0; i < 30; ++i) {
            g.add({.in = open}, [&] {
                wrong += ran != 101;
                ++members;
            });
        }
        memory.refuse_one_after(k);
        const braid::task_id run = g.run();
        memory.give_back();
        if (run) {
            s.wait(run);
            EXPECT_EQ(members, 30) << "refused from request " << k;
            EXPECT_EQ(ran, 101) << "refused from request " << k;
        }
        EXPECT_EQ(wrong, 0) << "refused from request " << k;
    }
}

TEST_P(GraphParts, APlanThatLacksAnyPartForWantOfMemoryIsRefused) {
    // The list of edges grows at 256 and at half of that, and so on: with so many before them each
    // kind of edge is the one that makes it grow.
    for (int before = 0; before < 3; ++before) {
        int refusals = 0;
        for (int k = 0;; ++k) {
            braid::scheduler_options o = options();
            o.workers = std::min(GetParam(), 2);
            braid_test::refusing_memory memory(o.memory);
            o.memory = memory.hooks();
            braid::scheduler s(o);
            s.wait(s.spawn([] {}));  // takes what a task needs
            braid::graph g(s);
            const auto serial = g.add_group({.serial = true});
            const auto open = g.add_group({});
            ASSERT_TRUE(g.precede(serial, open));
            for (int i = 0; i < before; ++i) ASSERT_TRUE(g.precede(g.add([] {}), serial));
            for (int i = 0; i < 170; ++i) g.add({.in = i % 2 == 0 ? serial : open}, [] {});
            memory.refuse_one_after(k);
            const braid::task_id run = g.run();
            const bool refused = memory.refused() != 0;
            memory.give_back();
            if (!refused) {
                s.wait(run);
                break;
            }
            ++refusals;
            EXPECT_EQ(run, braid::task_id{}) << "refused from request " << k;
        }
        EXPECT_GE(refusals, 10) << "five for edges, the plan, its order, and more";
    }
}

TEST_P(GraphParts, AGroupThatWasAddedFirstIsAwaitedLikeAnyOther) {
    for (const bool serial : {false, true}) {
        braid::scheduler s(options());
        braid::graph g(s);
        const auto all = g.add_group({.serial = serial});
        std::atomic<int> members{0}, early{0};
        const auto last = g.add([&] { early += members != 5; });
        ASSERT_TRUE(g.precede(all, last));
        for (int i = 0; i < 5; ++i) g.add({.in = all}, [&members] { ++members; });
        for (int run = 0; run < 20; ++run) {
            members = 0;
            g.run_and_wait();
        }
        EXPECT_EQ(early, 0);
    }
}

TEST_P(GraphParts, AnEmptyGroupKeepsTransitiveOrder) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::string order;  // plain: only the group orders the two
    const auto last = g.add([&order] { order += 'z'; });
    const auto nothing = g.add_group({.name = "nothing"});
    const auto first = g.add([&order] { order += 'a'; });
    g.precede(first, nothing);
    g.precede(nothing, last);
    for (int i = 0; i < 20; ++i) g.run_and_wait();
    std::string expected;
    for (int i = 0; i < 20; ++i) expected += "az";
    EXPECT_EQ(order, expected);
}

TEST_P(GraphParts, GroupsThatFollowEachOtherDoNotOverlap) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::vector<braid::graph_node> groups;
    std::vector<std::atomic<int>> ended(5);
    std::atomic<int> early{0};
    for (std::size_t k = 0; k < 5; ++k) {
        groups.push_back(g.add_group({.serial = k % 2 == 1}));
        for (int i = 0; i < 8; ++i) {
            g.add({.in = groups[k]}, [&, k] {
                if (k != 0) early += ended[k - 1] % 8 != 0 || ended[k - 1] == ended[k];
                ++ended[k];
            });
        }
    }
    for (std::size_t k = 1; k < 5; ++k) g.precede(groups[k - 1], groups[k]);
    for (int i = 0; i < 10; ++i) g.run_and_wait();
    EXPECT_EQ(early, 0);
    for (const auto& n : ended) EXPECT_EQ(n, 80);
}

TEST_P(GraphParts, ASerialGroupRunsItsMembersInTheOrderOfAddingUntilItIsSwitched) {
    braid::scheduler s(options());
    braid::graph g(s);
    const auto stage = g.add_group({.name = "stage", .serial = true});
    std::vector<int> order;  // plain: one at a time
    std::atomic<int> ran{0};
    bool serial = true;
    for (int i = 0; i < 50; ++i) {
        g.add({.in = stage}, [&, i] {
            if (serial) order.push_back(i);
            ++ran;
        });
    }
    g.run_and_wait();
    std::vector<int> expected(50);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(order, expected);
    serial = false;
    ASSERT_TRUE(g.set_serial(stage, false));
    g.run_and_wait();
    EXPECT_EQ(ran, 100);
    const auto concurrent = g.to_dot();
    EXPECT_EQ(concurrent.find("(serial)"), std::string::npos);
}

TEST_P(GraphParts, AGroupIsErasedWithItsMembers) {
    braid::scheduler s(options());
    braid::graph g(s);
    const auto token = std::make_shared<int>(0);
    const auto outer = g.add_group({.name = "outer"});
    const auto inner = g.add_group({.name = "inner", .in = outer});
    const auto kept = g.add([token] { ++*token; });
    g.add({.in = inner}, [token] { ++*token; });
    g.precede(kept, outer);
    EXPECT_EQ(token.use_count(), 3);
    ASSERT_TRUE(g.erase(outer));
    EXPECT_EQ(token.use_count(), 2);
    EXPECT_EQ(g.size(), 1U);
    EXPECT_FALSE(g.erase(inner)) << "it went with its group";
    g.run_and_wait();
    EXPECT_EQ(*token, 1);
}

TEST_P(GraphParts, RefusesGroupsOfOthersAndCyclesThroughGroups) {
    misuse reported;
    braid::scheduler_options o = options();
    o.assertion = reported.handler();
    braid::scheduler s(o);
    braid::graph g(s, "frame"), other(s);
    const auto foreign = other.add_group({});
    const auto node = g.add({.name = "node"}, [] {});
    EXPECT_FALSE(g.add({.in = foreign}, [] {}));
    EXPECT_EQ(reported.text, "`in` must be a group of this graph");
    EXPECT_FALSE(g.add_group({.in = node}));
    reported.text.clear();
    EXPECT_FALSE(g.set_serial(node, true));
    EXPECT_EQ(reported.text, "set_serial() takes a group of this graph");
    const auto group = g.add_group({.name = "group"});
    const auto member = g.add({.name = "member", .in = group}, [] {});
    g.precede(group, node);
    g.precede(node, member);
    EXPECT_FALSE(g.run());
    EXPECT_NE(reported.text.find("graph 'frame' goes round"), std::string::npos) << reported.text;
    EXPECT_NE(reported.text.find("member"), std::string::npos) << reported.text;
}

// ---- declared accesses -------------------------------------------------------------------------

TEST_P(GraphParts, DeclaredReadsAndWritesGiveTheResultOfTheOrderOfAdding) {
    braid::scheduler s(options());
    std::mt19937 random(5);
    constexpr std::size_t cells = 6;
    for (unsigned round = 0; round < scaled(10); ++round) {
        std::array<std::uint64_t, cells> values{}, expected{};
        braid::graph g(s);
        struct work {
            std::size_t a, b, to;
        };
        std::vector<work> all;
        const auto run = [](std::array<std::uint64_t, cells>& v, const work& w, std::size_t i) {
            v[w.to] = (v[w.a] + 3 * v[w.b] + i + 1) * 0x9e37'79b9'7f4a'7c15U;
        };
        for (std::size_t i = 0; i < 60; ++i) {
            all.push_back({random() % cells, random() % cells, random() % cells});
            g.add({.reads = {&values[all[i].a], &values[all[i].b]}, .writes = {&values[all[i].to]}},
                  [&, i] { run(values, all[i], i); });
        }
        for (int times = 0; times < 3; ++times) {
            g.run_and_wait();
            for (std::size_t i = 0; i < all.size(); ++i) run(expected, all[i], i);
            ASSERT_EQ(values, expected) << "round " << round;
        }
    }
}

TEST_P(GraphParts, DeclaredAccessesMakeTheEdgesThatOneWouldMakeByHand) {
    misuse reported;
    braid::scheduler_options o = options();
    o.assertion = reported.handler();
    braid::scheduler s(o);
    braid::graph g(s, "frame");
    g.measure(true);
    int pose = 0, mesh = 0;
    std::atomic<int> readers{0};
    int before_second = 0;
    const auto animate = g.add({.name = "animate", .writes = {&pose}}, [&pose] { ++pose; });
    const auto skin = g.add({.name = "skin", .reads = {&pose}, .writes = {&mesh}}, [&] {
        mesh = pose;
        ++readers;
    });
    const auto physics =
        g.add({.name = "physics", .reads = {&pose, &pose}}, [&readers] { ++readers; });
    const auto again = g.add({.name = "again", .reads = {&pose}, .writes = {&pose}},
                             [&] { before_second = readers; });
    g.run_and_wait();
    EXPECT_EQ(mesh, 1);
    EXPECT_EQ(before_second, 2) << "a writer waits for those who have read";
    EXPECT_GE(g.timing(skin).ready, g.timing(animate).ended);
    EXPECT_GE(g.timing(physics).ready, g.timing(animate).ended);
    EXPECT_NE(g.to_dot().find("    n0 -> n1 [style=dotted"), std::string::npos) << g.to_dot();
    // Without the first writer nobody has to wait for it; the others keep their order.
    ASSERT_TRUE(g.erase(animate));
    g.run_and_wait();
    EXPECT_GE(g.timing(again).ready, g.timing(skin).ended);
    // An edge against the order of adding goes round.
    g.precede(again, skin);
    EXPECT_FALSE(g.run());
    EXPECT_NE(reported.text.find("graph 'frame' goes round"), std::string::npos) << reported.text;
}

// ---- ranges ------------------------------------------------------------------------------------

TEST_P(GraphParts, ARangeCallsItsBodyForEachElementOfThatRunsSize) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::size_t size = 0, wide = 0, sum = 0;
    std::vector<unsigned> hits, of_pieces;
    const auto each = g.add_range(
        {.name = "each"}, [&size] { return size; }, [&hits](std::size_t i) { ++hits[i]; });
    const auto pieces = g.add_range(
        {.name = "pieces"}, [&size] { return size; },
        [&](std::size_t first, std::size_t last) {
            for (; first < last; ++first) of_pieces[first] += hits[first];
        });
    g.precede(each, pieces);
    g.precede(pieces, g.add([&] {
        sum = std::accumulate(of_pieces.begin(), of_pieces.end(), std::size_t{0});
        wide = of_pieces.size();
    }));
    for (const std::size_t n : {0U, 1U, 2U, 7U, 1000U, 3U, 4097U}) {
        size = n;
        hits.assign(n, 0);
        of_pieces.assign(n, 0);
        g.run_and_wait();
        ASSERT_EQ(sum, n);
        ASSERT_EQ(wide, n);
        ASSERT_EQ(std::count(hits.begin(), hits.end(), 1U), static_cast<std::ptrdiff_t>(n));
    }
}

TEST_P(GraphParts, ARangeOfLessThanNothingIsEmpty) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::atomic<int> calls{0};
    g.add_range({}, [] { return -3; }, [&calls](std::size_t) { ++calls; });
    g.run_and_wait();
    EXPECT_EQ(calls, 0);
}

TEST_P(GraphParts, ARangeKeepsToItsGrain) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::atomic<std::size_t> shortest{SIZE_MAX}, elements{0}, calls{0};
    g.add_range(
        {}, [] { return std::size_t{1000}; },
        [&](std::size_t first, std::size_t last) {
            std::size_t least = shortest;
            while (last - first < least && !shortest.compare_exchange_weak(least, last - first)) {
            }
            elements += last - first;
            ++calls;
        },
        64);
    g.run_and_wait();
    EXPECT_EQ(elements, 1000U);
    EXPECT_EQ(calls, 15U);
    EXPECT_GE(shortest, 64U);
}

TEST_P(GraphParts, AFailureInARangeCancelsWhatComesAfterIt) {
    braid::scheduler s(options());
    braid::graph g(s);
    std::atomic<int> after{0};
    const auto range = g.add_range(
        {}, [] { return 100; },
        [](std::size_t i) {
            if (i == 57) throw std::runtime_error("57");
        });
    g.precede(range, g.add([&after] { ++after; }));
    EXPECT_THROW(g.run_and_wait(), std::runtime_error);
    EXPECT_EQ(after, 0);
}

// ---- graphs within graphs
// ------------------------------------------------------------------------

TEST_P(GraphParts, AGraphWithinAGraphIsOverBeforeWhatComesAfterIt) {
    braid::scheduler s(options());
    braid::graph inner(s, "inner"), outer(s, "outer");
    int count = 0, seen = 0;
    const auto a = inner.add([&count] { ++count; });
    const auto b = inner.add([&count] { ++count; });
    inner.precede(a, b);
    const auto node = outer.add_graph({.name = "all of inner"}, inner);
    const auto again = outer.add_graph({}, inner);
    const auto after = outer.add([&] { seen = count; });
    outer.precede(node, after);
    outer.precede(again, after);
    for (int i = 1; i <= 20; ++i) {
        outer.run_and_wait();
        ASSERT_EQ(seen, 4 * i) << "twice two, one behind the other";
    }
    EXPECT_TRUE(comes_to_allocate_nothing(s, [&] { outer.run_and_wait(); }));
}

TEST_P(GraphParts, RunsThatSeveralThreadsBeginQueueBehindEachOther) {
    braid::scheduler s(options());
    braid::graph g(s);
    int runs = 0;  // plain
    g.precede(g.add([&runs] { ++runs; }), g.add([&runs] { ++runs; }));
    const auto times = static_cast<int>(scaled(200));
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < times; ++i) g.run_and_wait();
        });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(runs, 6 * times);
}

TEST_P(GraphParts, AFailureWithinAGraphWithinAGraphIsTheNodes) {
    misuse reported;
    braid::scheduler_options o = options();
    o.assertion = reported.handler();
    braid::scheduler s(o);
    braid::graph inner(s, "inner"), outer(s, "outer");
    int after = 0;
    bool fail = true;
    const auto bad = inner.add({.name = "bad"}, [&fail] {
        if (fail) throw std::runtime_error("inside");
    });
    outer.precede(outer.add_graph({}, inner), outer.add([&after] { ++after; }));
    EXPECT_THROW(outer.run_and_wait(), std::runtime_error);
    EXPECT_EQ(after, 0);
    fail = false;
    outer.run_and_wait();
    EXPECT_EQ(after, 1);
    // One that cannot run must not look as if it had.
    const auto second = inner.add({.name = "second"}, [] {});
    inner.precede(bad, second);
    inner.precede(second, bad);
    EXPECT_THROW(outer.run_and_wait(), braid::task_cancelled);
    EXPECT_NE(reported.text.find("graph 'inner' goes round"), std::string::npos) << reported.text;
    EXPECT_EQ(after, 1);
}

TEST_P(GraphParts, RefusesAGraphInsideItself) {
    misuse reported;
    braid::scheduler_options o = options();
    o.assertion = reported.handler();
    braid::scheduler s(o);
    braid::graph a(s), b(s), c(s);
    EXPECT_FALSE(a.add_graph({}, a));
    EXPECT_TRUE(a.add_graph({}, b));
    const auto c_in_b = b.add_graph({}, c);
    EXPECT_TRUE(c_in_b);
    EXPECT_FALSE(c.add_graph({}, a));
    EXPECT_EQ(reported.text, "a graph cannot run itself, nor one that runs it");
    EXPECT_TRUE(b.erase(c_in_b));
    EXPECT_TRUE(c.add_graph({}, a)) << "nothing goes round any more";
    c.run_and_wait();
}

TEST_P(GraphParts, RefusesAGraphOfAnotherScheduler) {
    misuse reported;
    braid::scheduler_options o = options();
    o.assertion = reported.handler();
    braid::scheduler s(o), other(o);
    braid::graph a(s), theirs(other);
    EXPECT_FALSE(a.add_graph({}, theirs));
    EXPECT_EQ(reported.text, "a graph cannot run one of another scheduler");
}

// ---- conditions --------------------------------------------------------------------------------

TEST_P(GraphParts, AConditionChoosesNodesAndWholeGroupsAnewInEachRun) {
    braid::scheduler s(options());
    braid::graph g(s);
    unsigned value = 0;
    std::atomic<int> zero{0}, group{0}, either{0};
    int after = 0;
    const auto mode = g.add_condition({.name = "mode"}, [&value] { return value; });
    const auto on_zero = g.add([&zero] { ++zero; });
    const auto effects = g.add_group({.name = "effects"});
    const auto chain = g.add_group({.serial = true, .in = effects});
    for (int i = 0; i < 5; ++i) g.add({.in = effects}, [&group] { ++group; });
    for (int i = 0; i < 5; ++i) g.add({.in = chain}, [&group] { ++group; });
    const auto both = g.add([&either] { ++either; });
    const auto end = g.add([&after] { ++after; });
    g.precede_if(mode, 0, on_zero);
    g.precede_if(mode, 1, effects);
    g.precede_if(mode, 1, both);
    g.precede_if(mode, 2, both);
    g.precede(on_zero, end);
    g.precede(effects, end);
    for (int i = 0; i < 30; ++i) {
        value = static_cast<unsigned>(i) % 3;
        g.run_and_wait();
    }
    EXPECT_EQ(zero, 10);
    EXPECT_EQ(group, 100);
    EXPECT_EQ(either, 20);
    EXPECT_EQ(after, 30) << "what comes after a part that was left out runs";
    EXPECT_EQ(s.statistics().failed, 0U);
}

TEST_P(GraphParts, AConditionAndItsBranchesMayBeErased) {
    braid::scheduler s(options());
    braid::graph g(s);
    unsigned value = 0;
    std::string ran;
    const auto mode = g.add_condition({.name = "mode"}, [&value] { return value; });
    const auto zero = g.add([&ran] { ran += '0'; });
    const auto one = g.add([&ran] { ran += '1'; });
    g.precede_if(mode, 0, zero);
    g.precede_if(mode, 1, one);
    g.run_and_wait();
    EXPECT_EQ(ran, "0");
    EXPECT_TRUE(g.erase(zero));
    for (value = 0; value < 2; ++value) g.run_and_wait();
    EXPECT_EQ(ran, "01") << "nothing, then the other";
    EXPECT_TRUE(g.erase(mode));
    g.run_and_wait();
    EXPECT_EQ(ran, "011") << "no condition is left";
}

TEST_P(GraphParts, TwoConditionsMustBothChooseANode) {
    braid::scheduler s(options());
    braid::graph g(s);
    bool night = false, near = false;
    int lamps = 0, wrong = 0;
    const auto is_night = g.add_condition({}, [&night] { return night; });
    const auto is_near = g.add_condition({}, [&near] { return near; });
    const auto light = g.add([&] {
        ++lamps;
        wrong += !night || !near;
    });
    g.precede_if(is_night, true, light);
    g.precede_if(is_near, true, light);
    for (int i = 0; i < 40; ++i) {
        night = i % 2 == 0;
        near = i % 4 < 2;
        g.run_and_wait();
    }
    EXPECT_EQ(lamps, 10);
    EXPECT_EQ(wrong, 0);
}

TEST_P(GraphParts, WhatIsLeftOutWaitsForNoThreadAndNoResource) {
    misuse reported;
    braid::scheduler_options o = options();
    o.assertion = reported.handler();
    braid::scheduler s(o);
    braid::resource one(s, "one", 1);
    braid::graph g(s);
    const auto never = g.add_condition({}, [] { return false; });
    g.precede_if(never, true, g.add({.workers = std::uint64_t{1} << 63}, [] {}));
    g.precede_if(never, true, g.add({.uses = {&one}}, [] {}));
    g.run_and_wait();
    EXPECT_EQ(reported.text, "") << "there is no such thread, and nobody needs it";
    const auto plain = g.add([] {});
    EXPECT_FALSE(g.precede_if(plain, 1, g.add([] {})));
    EXPECT_EQ(reported.text, "precede_if() takes a node that add_condition() made");
}

TEST_P(GraphParts, AConditionThatThrowsCancelsWhatComesAfterIt) {
    braid::scheduler s(options());
    braid::graph g(s);
    int ran = 0;
    const auto bad = g.add_condition({}, []() -> bool { throw std::runtime_error("undecided"); });
    g.precede_if(bad, true, g.add([&ran] { ++ran; }));
    EXPECT_THROW(g.run_and_wait(), std::runtime_error);
    EXPECT_EQ(ran, 0);
}

TEST_P(GraphParts, WhatWasLeftOutIsCountedAsNotRun) {
    braid::scheduler s(options());
    braid::graph g(s);
    g.precede_if(g.add_condition({}, [] { return 1U; }), 0, g.add([] {}));
    braid::scope all(s);
    g.run({.within = &all});
    all.wait();
    EXPECT_EQ(all.account().executed, 2U) << "the run and the condition";
    EXPECT_EQ(all.account().cancelled, 1U);
    const auto total = s.statistics();
    EXPECT_EQ(total.created, total.ended());
    EXPECT_EQ(total.cancelled, 1U);
}

// ---- times -------------------------------------------------------------------------------------

TEST_P(GraphParts, TimesOfARunFollowItsEdges) {
    braid::scheduler s(options());
    braid::graph g(s, "frame");
    const auto first = g.add({.name = "first"}, [] {});
    const auto group = g.add_group({.name = "group"});
    const auto middle = g.add({.name = "middle", .in = group},
                              [](braid::task_context& task) { task.spawn_child([] {}); });
    const auto last = g.add({.name = "last"}, [] {});
    const auto choice = g.add_condition({.name = "choice"}, [] { return false; });
    const auto never = g.add({.name = "never"}, [] {});
    g.precede(first, group);
    g.precede(group, last);
    g.precede_if(choice, true, never);
    g.run_and_wait();
    EXPECT_FALSE(g.timing(first).ran) << "not measured";
    g.measure(true);
    for (int i = 0; i < 5; ++i) {
        g.run_and_wait();
        const auto a = g.timing(first), b = g.timing(middle), c = g.timing(last);
        ASSERT_TRUE(a.ran && b.ran && c.ran);
        ASSERT_LE(0, a.ready);
        ASSERT_LE(a.ready, a.started);
        ASSERT_LE(a.started, a.ended);
        ASSERT_LE(a.ended, b.ready);
        ASSERT_LE(b.ready, b.started);
        ASSERT_LE(b.ended, c.ready);
        ASSERT_LT(c.seat, s.seat_count());
        ASSERT_GE(c.average, 0);
        ASSERT_FALSE(g.timing(never).ran);
    }
    const std::string text = g.to_text();
    EXPECT_EQ(text.find("graph 'frame', 6 nodes, 3 edges\n"), 0U) << text;
    EXPECT_NE(text.find("last after group\n"), std::string::npos) << text;
    EXPECT_LT(text.find("first"), text.find("middle")) << text;
}

TEST_P(GraphParts, ANodeIsReadyWhenTheLastOfThoseBeforeItHasEnded) {
    braid::scheduler s(options());
    braid::graph g(s);
    const auto after = g.add([] {});
    std::array<braid::graph_node, 6> before;
    for (auto& node : before) g.precede(node = g.add([] {}), after);
    g.measure(true);
    for (unsigned i = 0; i < scaled(2'000); ++i) {
        g.run_and_wait();
        for (const auto node : before) {
            ASSERT_GE(g.timing(after).ready, g.timing(node).ended) << "run " << i;
        }
    }
}

TEST(GraphText, ShowsGroupsConditionsTimesAndTheCriticalPath) {
    braid::scheduler s({.workers = 0});
    braid::graph g(s);
    const auto choice = g.add_condition({.name = "choice"}, [] { return true; });
    const auto group = g.add_group({.name = "group", .serial = true});
    g.add({.name = "member", .in = group}, [] {});
    const auto end = g.add({.name = "end"}, [] {});
    g.precede_if(choice, true, group);
    g.precede(group, end);
    EXPECT_EQ(g.to_dot(),
              "digraph {\n    rankdir=LR; compound=true; node [shape=box, fontname=sans];\n"
              "    n0 [label=\"choice\"];\n"
              "    subgraph cluster_1 {\n"
              "        label=\"group (serial)\"; fontname=sans; style=rounded;\n"
              "        n1 [shape=point, style=invis];\n"
              "        n3 [label=\"member\"];\n"
              "    }\n"
              "    n4 [label=\"end\"];\n"
              "    n0 -> n1 [lhead=cluster_1, style=dashed, label=\"1\", fontname=sans];\n"
              "    n1 -> n4 [ltail=cluster_1];\n}\n");
    g.measure(true);
    g.run_and_wait();
    const std::string timed = g.to_dot();
    EXPECT_NE(timed.find(" ms\", color=red, penwidth=2];"), std::string::npos) << timed;
}

TEST(GraphText, OfAGraphThatHasGrownSinceItWasMeasured) {
    braid::scheduler s({.workers = 0});
    braid::graph g(s);
    const auto first = g.add({.name = "first"}, [] {});
    g.measure(true);
    g.run_and_wait();
    g.measure(false);
    for (int i = 0; i < 100; ++i) g.precede(g.add([] {}), first);
    EXPECT_EQ(g.to_dot().find(" ms"), std::string::npos);
    EXPECT_FALSE(g.timing(first).ran);
}

TEST(GraphText, GoesThroughGraphvizIntoAPicture) {
    braid::scheduler s({.workers = 0});
    braid::graph g(s);
    g.precede(g.add({.name = "animate <all>"}, [] {}), g.add({.name = "skin"}, [] {}));
    const braid_test::scratch_folder folder;
    const std::string path = (folder / "graph.svg").string();
    const braid::status written = g.write_svg(path.c_str());
    ASSERT_TRUE(written) << written.text;
    std::ifstream file(path);
    const std::string picture{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(picture.find("<svg"), std::string::npos);
    EXPECT_NE(picture.find("animate &lt;all&gt;"), std::string::npos) << picture;

    const braid::status nowhere = g.write_svg("/no/such/folder/graph.svg");
    EXPECT_FALSE(nowhere);
    EXPECT_EQ(nowhere.text.find("dot could not write '/no/such/folder/graph.svg': "), 0U)
        << nowhere.text;

    const std::string path_before = std::getenv("PATH");
    setenv("PATH", "/no/such/folder", 1);
    const braid::status no_program = g.write_svg(path.c_str());
    setenv("PATH", path_before.c_str(), 1);
    EXPECT_FALSE(no_program);
    EXPECT_EQ(no_program.text, "the program `dot` could not be run; install graphviz");
}

}  // namespace
