#include "fanout/fanout.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <memory>

namespace bench::fanout {
namespace {

struct state {
    tbb::global_control limit{tbb::global_control::max_allowed_parallelism, 2};
    tbb::task_arena arena{2};
};

}  // namespace

void add_tbb(suite& s) {
    for (const shape& shape : shapes) {
        s.at(shape.name).add("tbb", [&shape] {
            return [&shape, a = std::make_shared<state>()] {
                return a->arena.execute([&] {
                    return over_ideal(shape, 2, [&](trace& t) {
                        tbb::parallel_for(
                            tbb::blocked_range<std::size_t>(0, shape.bodies, 1),
                            [&](const auto& r) {
                                for (std::size_t i = r.begin(); i != r.end(); ++i) t.body(shape, i);
                            },
                            tbb::simple_partitioner());
                    });
                });
            };
        });
    }
}

}  // namespace bench::fanout
