#include "fanout/fanout.hpp"

namespace bench::fanout {

void add_openmp(suite& s) {
    for (const shape& shape : shapes) {
        s.at(shape.name).add("openmp", [&shape] {
            return [&shape] {
                return over_ideal(shape, 2, [&](trace& t) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
                    for (std::size_t i = 0; i < shape.bodies; ++i) t.body(shape, i);
                });
            };
        });
    }
}

}  // namespace bench::fanout
