#include "loops/loops.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/core/spawn_batch.hpp>

#include <memory>

namespace bench::loops {

void add_braid(suite& s) {
    for (const shape& shape : shapes) {
        s.at(shape.name).add("braid", [&shape] {
            return [&shape, b = std::make_shared<braid::scheduler>(
                                braid::scheduler_options{.workers = 1})] {
                return over_ideal(shape, 2, [&](trace& t) {
                    b->wait(
                        b->spawn_batch({}, shape.bodies, [&](std::size_t i) { t.body(shape, i); }));
                });
            };
        });
        // The same by hand: a task for each body, and a join.
        s.at(shape.name).add("braid spawn", [&shape] {
            return [&shape, b = std::make_shared<braid::scheduler>(
                                braid::scheduler_options{.workers = 1})] {
                return over_ideal(shape, 2, [&](trace& t) {
                    std::array<braid::task_id, 64> ids;
                    for (unsigned i = 0; i < shape.bodies; ++i) {
                        ids[i] = b->spawn([&t, &shape, i] { t.body(shape, i); });
                    }
                    b->wait(b->spawn({.after_all = {ids.data(), shape.bodies}}, braid::empty));
                });
            };
        });
    }
}

}  // namespace bench::loops
