#include "graph/graph.hpp"
#include "tbb_threads.hpp"

#include <tbb/flow_graph.h>

#include <deque>
#include <memory>

namespace bench::graph {
namespace {

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

struct flow {
    explicit flow(value** v) {
        for (unsigned i = 0; i < nodes; ++i) {
            all.emplace_back(g, [v, i](const tbb::flow::continue_msg&) { compute(*v, i); });
            if (i < width) continue;
            for (const unsigned p : predecessors(i)) tbb::flow::make_edge(all[p], all[i]);
        }
    }
    void run() {
        for (unsigned i = 0; i < width; ++i) all[i].try_put({});
        g.wait_for_all();
    }
    tbb::flow::graph g;
    std::deque<node> all;
};

struct kept {
    explicit kept(unsigned threads) : system(threads) {}
    tbb_threads system;
    value* values = nullptr;
    flow graph{&values};
};

}  // namespace

void add_tbb(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(rebuild_row(threads)).add("tbb", [=] {
            return [g = std::make_shared<tbb_threads>(threads)] {
                return g->arena.execute([] { return repeat([](value* v) { flow(&v).run(); }); });
            };
        });
        s.at(rerun_row(threads)).add("tbb", [=] {
            return [k = std::make_shared<kept>(threads)] {
                return k->system.arena.execute([&] {
                    k->graph.g.reset();  // it runs in this arena from now on
                    return repeat([&](value* v) {
                        k->values = v;
                        k->graph.run();
                    });
                });
            };
        });
    }
}

}  // namespace bench::graph
