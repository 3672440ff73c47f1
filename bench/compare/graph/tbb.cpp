#include "graph/graph.hpp"

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <deque>
#include <memory>

namespace bench::graph {
namespace {

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

struct state {
    explicit state(unsigned threads)
        : limit(tbb::global_control::max_allowed_parallelism, threads),
          arena(static_cast<int>(threads)) {}
    tbb::global_control limit;
    tbb::task_arena arena;
};

void build_and_run(value* v) {
    tbb::flow::graph g;
    std::deque<node> all;
    for (unsigned i = 0; i < nodes; ++i) {
        all.emplace_back(g, [v, i](const tbb::flow::continue_msg&) { compute(v, i); });
        if (i < width) continue;
        for (const unsigned p : predecessors(i)) tbb::flow::make_edge(all[p], all[i]);
    }
    for (unsigned i = 0; i < width; ++i) all[i].try_put({});
    g.wait_for_all();
}

}  // namespace

void add_tbb(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(row_name(threads)).add("tbb", [=] {
            return [g = std::make_shared<state>(threads)] {
                return g->arena.execute([] { return rebuild(build_and_run); });
            };
        });
    }
}

}  // namespace bench::graph
