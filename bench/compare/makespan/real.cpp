// 20 of the graphs on two real threads: nodes that keep a core busy for as long as they take.
#include "makespan/makespan.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/graph/graph.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace bench::makespan {
namespace {

constexpr unsigned real_members = 20, threads = 2;

struct real_graph {
    real_graph(braid::scheduler& s, unsigned number, braid::graph_priorities by)
        : plan(make_member(number)), graph(s) {
        std::vector<braid::graph_node> all;
        for (std::size_t i = 0; i < plan.size(); ++i) {
            const auto ns = static_cast<std::int64_t>(plan.takes[i] * 1000);
            all.push_back(graph.add([this, ns] {
                busy_for(ns);
                ran.fetch_add(1, std::memory_order_relaxed);
            }));
        }
        for (std::size_t i = 0; i < plan.size(); ++i) {
            for (const unsigned next : plan.after[i]) graph.precede(all[i], all[next]);
        }
        graph.set_priorities(by);
    }
    /// Over the lower bound: the best of three runs, because other programs run here, too.
    double run() {
        double best = HUGE_VAL;
        for (int i = 0; i < 3; ++i) {
            ran = 0;
            best = std::min(best, time_ns([&] { graph.run_and_wait(); }));
            check_equal(ran.load(), plan.size(), "nodes that ran");
        }
        return best / 1000 / lower_bound(plan, threads);
    }

    member plan;
    braid::graph graph;
    std::atomic<std::size_t> ran{0};
};

struct state {
    explicit state(braid::graph_priorities by) : scheduler({.workers = threads - 1}) {
        for (unsigned n = 0; n < real_members; ++n) {
            // Spread over the family.
            all.push_back(
                std::make_unique<real_graph>(scheduler, n * members / real_members + n % 3, by));
        }
    }
    double run() {
        double logarithms = 0;
        for (const auto& g : all) logarithms += std::log(g->run());
        return std::exp(logarithms / real_members);
    }
    braid::scheduler scheduler;
    std::vector<std::unique_ptr<real_graph>> all;
};

}  // namespace

void add_real(suite& s) {
    const std::string row = "graph.makespan.real";
    s.at(row, "/bound", "20 of the graphs on two threads, geometric mean over lower bound");
    const auto add = [&](const char* system, braid::graph_priorities by) {
        s.at(row).add(system, [by] {
            return [state = std::make_shared<struct state>(by)] { return state->run(); };
        });
    };
    add("declared", braid::graph_priorities::declared);
    add("dynamic", braid::graph_priorities::critical_path);
}

}  // namespace bench::makespan
