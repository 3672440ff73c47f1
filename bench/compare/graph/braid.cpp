#include "graph/graph.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/core/scope.hpp>
#include <braid/graph/graph.hpp>

#include <memory>

namespace bench::graph {
namespace {

struct state {
    explicit state(unsigned threads) : scheduler({.workers = static_cast<int>(threads) - 1}) {}
    braid::scheduler scheduler;
    std::array<braid::task_id, nodes> ids;
};

void build_and_run(state& s, value* v) {
    braid::scope all(s.scheduler);
    for (unsigned i = 0; i < nodes; ++i) {
        const auto work = [v, i] { compute(v, i); };
        if (i < width) {
            s.ids[i] = all.spawn({}, work);
            continue;
        }
        const auto& p = predecessors(i);
        s.ids[i] = all.spawn({.after = {s.ids[p[0]], s.ids[p[1]], s.ids[p[2]]}}, work);
    }
    all.wait();
}

struct kept {
    explicit kept(unsigned threads) : scheduler({.workers = static_cast<int>(threads) - 1}) {
        std::array<braid::graph_node, nodes> all;
        for (unsigned i = 0; i < nodes; ++i) {
            all[i] = graph.add([this, i] { compute(values, i); });
            if (i < width) continue;
            for (const unsigned p : predecessors(i)) graph.precede(all[p], all[i]);
        }
    }
    braid::scheduler scheduler;
    braid::graph graph{scheduler};
    value* values = nullptr;
};

}  // namespace

void add_braid(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(rebuild_row(threads)).add("braid", [=] {
            return [g = std::make_shared<state>(threads)] {
                return repeat([&](value* v) { build_and_run(*g, v); });
            };
        });
        s.at(rerun_row(threads)).add("braid", [=] {
            return [k = std::make_shared<kept>(threads)] {
                return repeat([&](value* v) {
                    k->values = v;
                    k->graph.run_and_wait();
                });
            };
        });
    }
}

}  // namespace bench::graph
