// G11: the most urgent of the ready nodes goes first, by what nodes took in the last runs.
#include <braid/graph/graph.hpp>

#include "core/control/runtime.hpp"
#include "graph/ranking.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <random>
#include <thread>

namespace {

using braid_test::scaled;

BRAID_SCHEDULER_TEST(RankedGraph);

/// A diamond with a long and a short side: 0 -> 1 -> 3, 0 -> 2 -> 3, beside a single 4.
class Ranking : public ::testing::Test {
protected:
    Ranking() : order_(s_.internals().memory), ranking_(s_.internals().memory) {
        for (const std::uint32_t n : {0U, 4U, 1U, 2U, 3U}) EXPECT_TRUE(order_.push(n));
        EXPECT_TRUE(ranking_.reset(5));
    }
    bool update() {
        return ranking_.update(
            order_, [this](std::uint32_t n) { return took[n]; },
            [](std::uint32_t n, auto&& f) {
                if (n == 0) f(1), f(2);
                if (n == 1 || n == 2) f(3);
            });
    }
    std::vector<std::uint32_t> by_rank() const {
        std::vector<std::uint32_t> nodes;
        for (std::uint32_t r = 0; r < 5; ++r) nodes.push_back(ranking_.node_at(r));
        return nodes;
    }

    std::vector<std::int64_t> took = {0, 0, 0, 0, 0};
    braid::scheduler s_{braid::scheduler_options{.workers = 0}};
    braid::detail::graph_array<std::uint32_t> order_;
    braid::detail::graph_ranking ranking_;
};

TEST_F(Ranking, GoesByTheLongestChainWhileNoTimesAreKnown) {
    EXPECT_TRUE(update());
    EXPECT_EQ(by_rank(), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(ranking_.of(0).way, 3);
}

TEST_F(Ranking, GoesByTheLongestWayToTheEnd) {
    took = {10, 20, 300, 5, 307};
    EXPECT_TRUE(update());
    EXPECT_EQ(by_rank(), (std::vector<std::uint32_t>{0, 4, 2, 1, 3}));
    EXPECT_EQ(ranking_.of(0).way, 315);
    EXPECT_EQ(ranking_.of(1).way, 25);
}

TEST_F(Ranking, IsMadeAnewWhenTimesHaveMovedByAnEighth) {
    took = {100, 100, 100, 100, 400};
    EXPECT_TRUE(update());
    EXPECT_FALSE(update()) << "nothing has changed";
    took[2] = 180;
    EXPECT_FALSE(update()) << "80 of 880";
    took[4] = 300;
    EXPECT_TRUE(update());
    EXPECT_EQ(by_rank(), (std::vector<std::uint32_t>{0, 4, 2, 1, 3}));
    EXPECT_EQ(ranking_.times(), 2U);
    EXPECT_EQ(ranking_.of(0).before, 1U);
    EXPECT_EQ(ranking_.of(0).rank, 0U);
}

TEST(ReadyRanks, TheLowestThatIsThereIsTakenAndOnce) {
    std::vector<std::atomic<std::uint64_t>> words(3);
    braid::detail::basic_ready_ranks<braid::active_policy> ready(words.data(), words.size());
    for (const std::uint32_t r : {130U, 64U, 63U, 0U, 191U}) ready.add(r);
    EXPECT_TRUE(ready.take(64));
    EXPECT_FALSE(ready.take(64));
    for (const std::uint32_t r : {0U, 63U, 130U, 191U}) EXPECT_EQ(ready.take(), r);
}

TEST(RankedGraphOnOneThread, OneThreadRunsTheMostUrgentOfTheReadyNodes) {
    braid::scheduler s({.workers = 0});
    braid::graph g(s, "frame");
    EXPECT_EQ(g.priorities_to_text(), "") << "nothing is ranked";
    g.set_priorities(braid::graph_priorities::critical_path);
    std::string order;
    const auto node = [&](const char* name) {
        return g.add({.name = name}, [&order, name] { order += name; });
    };
    // No times are known in the first run, so the chain goes before what is beside it.
    for (const char* name : {"v", "w", "x"}) node(name);
    const auto a = node("a"), b = node("b"), c = node("c"), d = node("d");
    g.precede(a, b);
    g.precede(b, c);
    g.precede(a, d);
    g.run_and_wait();
    EXPECT_EQ(order, "abvwxcd");
    const std::string text = g.priorities_to_text();
    EXPECT_EQ(text.find("graph 'frame', ranked 1 times; "), 0U) << text;
    EXPECT_NE(text.find("4 -> 1: 0.000 ms to the end of the run, 0.000 of its own: a\n"),
              std::string::npos)
        << text;
    node("e");
    EXPECT_EQ(g.priorities_to_text(), "") << "ranks are of the run before the edit";
}

TEST(RankedGraphOnOneThread, ABranchThatTakesLongComesToTheFront) {
    braid::scheduler s({.workers = 0});
    braid::graph g(s);
    g.set_priorities(braid::graph_priorities::critical_path);
    std::string order;
    for (int i = 0; i < 8; ++i) g.add([&order] { order += '.'; });
    const std::int64_t before = braid::active_policy::now();
    g.add([&] {
        order += 'L';
        // In the first run it takes longer than all others together, even where the thread lost its
        // core in one of them.
        const std::int64_t began = braid::active_policy::now();
        while (braid::active_policy::now() <= began + (began - before)) {
        }
    });
    g.run_and_wait();
    EXPECT_EQ(order, "........L");
    order.clear();
    g.run_and_wait();
    EXPECT_EQ(order, "L........");
}

TEST_P(RankedGraph, RunsEverythingOnceInTheOrderOfItsEdges) {
    braid::scheduler s(options());
    std::mt19937 random(11);
    constexpr std::size_t nodes = 300;
    struct state {
        std::atomic<unsigned> runs{0};
        unsigned plain = 0;
    };
    std::vector<state> states(nodes);
    std::vector<std::vector<std::size_t>> before(nodes);
    std::vector<braid::graph_node> all;
    std::atomic<unsigned> early{0};
    braid::resource one(s, "one", 1);
    braid::graph g(s, "ranked");
    g.set_priorities(braid::graph_priorities::critical_path);
    for (std::size_t i = 0; i < nodes; ++i) {
        for (std::size_t n = 0; n < 2 && i > 20; ++n) before[i].push_back(random() % i);
        const auto body = [&, i](braid::task_context& task) {
            const unsigned run = ++states[i].runs;
            for (const std::size_t p : before[i]) early += states[p].plain != run;
            if (i % 7 == 0) task.wait(task.spawn([] {}));
            if (i % 5 == 0) {
                task.spawn_child([&, i, run] { states[i].plain = run; });
            } else {
                states[i].plain = run;
            }
        };
        braid::node_options o{.category = static_cast<std::uint8_t>(i % 11 == 0 ? 3 : 0)};
        if (i % 13 == 0) o.on = s.this_thread();
        all.push_back(i % 17 == 0 ? g.add({.uses = {&one}}, body) : g.add(o, body));
        for (const std::size_t p : before[i]) g.precede(all[p], all[i]);
    }
    const auto runs = static_cast<unsigned>(scaled(40));
    for (unsigned i = 0; i < runs; ++i) g.run_and_wait();
    for (const state& n : states) EXPECT_EQ(n.runs, runs);
    EXPECT_EQ(early, 0U);
}

TEST_P(RankedGraph, TicketsThatOverflowTheRingAreNotLost) {
    braid::scheduler_options o = options();
    o.ring = 16;
    braid::scheduler s(o);
    braid::graph g(s);
    g.set_priorities(braid::graph_priorities::critical_path);
    std::atomic<int> ran{0};
    // A node that has run by another one's ticket ends with its child, while its own ticket still
    // lies in the list of what did not fit.
    for (int i = 0; i < 300; ++i) {
        g.add([&ran](braid::task_context& task) {
            task.spawn_child([] {});
            ++ran;
        });
    }
    for (int i = 1; i <= 10; ++i) {
        g.run_and_wait();
        ASSERT_EQ(ran, 300 * i);
    }
}

TEST_P(RankedGraph, WhoWaitsForATaskAfterItHelps) {
    braid::scheduler s(options());
    braid::graph g(s);
    g.set_priorities(braid::graph_priorities::critical_path);
    std::atomic<int> ran{0};
    braid::graph_node last;
    for (int i = 0; i < 200; ++i) {
        const auto node = g.add([&ran](braid::task_context& task) {
            task.wait(task.spawn([] {}));
            ++ran;
        });
        if (i % 10 != 0) g.precede(last, node);
        last = node;
    }
    for (int i = 1; i <= 20; ++i) {
        const auto run = g.run();
        s.wait(s.spawn({.after = {run}}, [] {}));
        ASSERT_EQ(ran, 200 * i);
    }
    g.measure(false);
    g.add([] {});
    g.run_and_wait();
    EXPECT_EQ(ran, 200 * 21);
}

TEST_P(RankedGraph, AFailureAndAConditionKeepItsTicketsInOrder) {
    braid::scheduler s(options());
    braid::graph g(s);
    g.set_priorities(braid::graph_priorities::critical_path);
    std::atomic<int> ran{0};
    unsigned run = 0;
    const auto choice = g.add_condition({}, [&run] { return run % 2; });
    const auto bad = g.add([&run] {
        if (run % 3 == 0) throw std::runtime_error("every third");
    });
    for (int i = 0; i < 50; ++i) {
        const auto node = g.add([&ran] { ++ran; });
        if (i % 2 == 0) g.precede_if(choice, 1, node);
        if (i % 5 == 0) g.precede(bad, node);
    }
    for (run = 0; run < 60; ++run) {
        ran = 0;
        try {
            g.run_and_wait();
            EXPECT_NE(run % 3, 0U);
        } catch (const std::runtime_error&) {
            EXPECT_EQ(run % 3, 0U);
        }
        const int without = (run % 2 == 0 ? 25 : 0) + (run % 3 == 0 ? (run % 2 == 0 ? 5 : 10) : 0);
        EXPECT_EQ(ran, 50 - without) << "run " << run;
    }
}

}  // namespace
