// Random graphs, several at once, whose nodes fail, have children, join and wait; each is destroyed
// as soon as its last run has ended.
#include <braid/fork_join.hpp>
#include <braid/graph/graph.hpp>

#include "scale.hpp"
#include "scheduler_test.hpp"

#include <memory>
#include <random>
#include <stdexcept>

namespace {

using braid_test::scaled;

BRAID_SCHEDULER_TEST(GraphStress);

/// A graph with an account of what each node should see.
struct random_graph {
    struct node {
        unsigned run = 0;  // plain: read by successors
        bool throws = false;
        std::vector<std::size_t> before;
    };

    random_graph(braid::scheduler& scheduler, unsigned seed) : s(scheduler), nodes(1 + seed % 60) {
        std::mt19937 random(seed);
        std::vector<braid::graph_node> ids;
        if (seed % 2 == 1) g.set_priorities(braid::graph_priorities::critical_path);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            node& n = nodes[i];
            for (unsigned k = 0; k < 3 && i != 0; ++k) n.before.push_back(random() % i);
            n.throws = random() % 50 == 0;
            const std::size_t what = random() % 5;
            ids.push_back(g.add({.may_be_long = true}, [this, i, what](braid::task_context& task) {
                body(task, i, what);
            }));
            for (const std::size_t p : n.before) g.precede(ids[p], ids[i]);
        }
    }

    void body(braid::task_context& task, std::size_t i, std::size_t what) {
        node& n = nodes[i];
        for (const std::size_t p : n.before) early += nodes[p].run != run;
        ran.fetch_add(1, std::memory_order_relaxed);
        if (what == 0) {
            task.spawn_child([this, &n] { n.run = run; });
        } else if (what == 1) {
            braid::join(task, [this, &n] { n.run = run; }, [] {});
        } else if (what == 2) {
            task.wait(task.spawn([this, &n] { n.run = run; }));
        } else {
            n.run = run;
        }
        if (n.throws) throw std::runtime_error("planned");
    }

    /// What a run does: which nodes, and whether it fails.
    std::pair<unsigned, bool> expected() const {
        std::vector<bool> out(nodes.size());
        unsigned count = 0;
        bool fails = false;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            for (const std::size_t p : nodes[i].before) out[i] = out[i] || out[p];
            if (out[i]) continue;
            ++count;
            out[i] = nodes[i].throws;
            fails = fails || out[i];
        }
        return {count, fails};
    }

    braid::scheduler& s;
    std::vector<node> nodes;
    unsigned run = 0;
    std::atomic<unsigned> ran{0}, early{0};
    braid::graph g{s};
};

TEST_P(GraphStress, RandomGraphsRunAsTheirEdgesSay) {
    braid::scheduler s(options());
    const auto check = [&s](unsigned seed) {
        random_graph graph(s, seed);
        const auto [count, fails] = graph.expected();
        for (unsigned i = 1; i <= 3; ++i) {
            graph.run = i;
            graph.ran = 0;
            bool failed = false;
            try {
                graph.g.run_and_wait();
            } catch (const std::runtime_error&) {
                failed = true;
            }
            EXPECT_EQ(graph.ran, count) << "seed " << seed;
            EXPECT_EQ(failed, fails) << "seed " << seed;
        }
        EXPECT_EQ(graph.early, 0U) << "seed " << seed;
    };
    for (unsigned seed = 0; seed < scaled(60); ++seed) {
        // Two at once in tasks, one on this thread.
        const auto first = s.spawn([&check, seed] { check(3 * seed); });
        const auto second = s.spawn([&check, seed] { check(3 * seed + 1); });
        check(3 * seed + 2);
        s.wait(first);
        s.wait(second);
    }
}

}  // namespace
