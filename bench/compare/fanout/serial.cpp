#include "fanout/fanout.hpp"

namespace bench::fanout {

void add_serial(suite& s) {
    for (const shape& shape : shapes) {
        s.at(shape.name).add("serial", [&shape] {
            return [&shape] {
                // Over the ideal of two threads, as the others.
                const double one = over_ideal(shape, 1, [&](trace& t) {
                    for (unsigned i = 0; i < shape.bodies; ++i) t.body(shape, i);
                });
                return one + static_cast<double>(shape.bodies * shape.body_ns) / 2000;
            };
        });
    }
}

}  // namespace bench::fanout
