#include "graph/shapes.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/graph/graph.hpp>

#include <memory>

namespace bench::graph {
namespace {

struct kept {
    kept(unsigned threads, const shape& of)
        : scheduler({.workers = static_cast<int>(threads) - 1}) {
        std::vector<braid::graph_node> all(of.size());
        for (unsigned i = 0; i < of.size(); ++i) {
            all[i] = graph.add([this, &of, i] { values[i] = of.compute(values, i); });
            for (const unsigned p : of.before[i]) graph.precede(all[p], all[i]);
        }
    }
    braid::scheduler scheduler;
    braid::graph graph{scheduler};
    value* values = nullptr;
};

}  // namespace

void add_shapes_braid(suite& s) {
    for (const shape& of : shapes()) {
        for (unsigned threads = 1; threads <= 2; ++threads) {
            s.at(shape_row(of, threads)).add("braid", [&of, threads] {
                return [&of, k = std::make_shared<kept>(threads, of)] {
                    return repeat(of, [&](value* v) {
                        k->values = v;
                        k->graph.run_and_wait();
                    });
                };
            });
        }
    }
}

}  // namespace bench::graph
