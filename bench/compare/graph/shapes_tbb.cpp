#include "graph/shapes.hpp"

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <deque>
#include <memory>

namespace bench::graph {
namespace {

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

struct kept {
    kept(unsigned threads, const shape& of)
        : limit(tbb::global_control::max_allowed_parallelism, threads),
          arena(static_cast<int>(threads)) {
        for (unsigned i = 0; i < of.size(); ++i) {
            all.emplace_back(graph, [this, &of, i](const tbb::flow::continue_msg&) {
                values[i] = of.compute(values, i);
            });
            for (const unsigned p : of.before[i]) tbb::flow::make_edge(all[p], all[i]);
            if (of.before[i].empty()) roots.push_back(&all[i]);
        }
    }
    void run() {
        for (node* r : roots) r->try_put({});
        graph.wait_for_all();
    }
    tbb::global_control limit;
    tbb::task_arena arena;
    tbb::flow::graph graph;
    std::deque<node> all;
    std::vector<node*> roots;
    value* values = nullptr;
};

}  // namespace

void add_shapes_tbb(suite& s) {
    for (const shape& of : shapes()) {
        for (unsigned threads = 1; threads <= 2; ++threads) {
            s.at(shape_row(of, threads)).add("tbb", [&of, threads] {
                return [&of, k = std::make_shared<kept>(threads, of)] {
                    return k->arena.execute([&] {
                        k->graph.reset();  // it runs in this arena from now on
                        return repeat(of, [&](value* v) {
                            k->values = v;
                            k->run();
                        });
                    });
                };
            });
        }
    }
}

}  // namespace bench::graph
