#include "graph/graph.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/core/scope.hpp>

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

}  // namespace

void add_braid(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(row_name(threads)).add("braid", [=] {
            return [g = std::make_shared<state>(threads)] {
                return rebuild([&](value* v) { build_and_run(*g, v); });
            };
        });
    }
}

}  // namespace bench::graph
