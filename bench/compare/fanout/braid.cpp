#include "fanout/fanout.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/core/spawn_batch.hpp>
#include <braid/fork_join/parallel_for.hpp>

#include <memory>

namespace bench::fanout {

void add_braid(suite& s) {
    for (const shape& shape : shapes) {
        s.at(shape.name).add("braid", [&shape] {
            return [&shape, b = std::make_shared<braid::scheduler>(
                                braid::scheduler_options{.workers = 1})] {
                return over_ideal(shape, 2, [&](trace& t) {
                    braid::parallel_for(*b, shape.bodies, [&](std::size_t i) { t.body(shape, i); });
                });
            };
        });
        // The same as a batch of tasks.
        s.at(shape.name).add("braid batch", [&shape] {
            return [&shape, b = std::make_shared<braid::scheduler>(
                                braid::scheduler_options{.workers = 1})] {
                return over_ideal(shape, 2, [&](trace& t) {
                    b->wait(
                        b->spawn_batch({}, shape.bodies, [&](std::size_t i) { t.body(shape, i); }));
                });
            };
        });
        // With the loop announced as a frame loop does it; the others have nothing like it.
        if (shape.cold) {
            s.at(shape.name).add("braid announced", [&shape] {
                return [&shape, b = std::make_shared<braid::scheduler>(
                                    braid::scheduler_options{.workers = 1})] {
                    return over_ideal(
                        shape, 2,
                        [&](trace& t) {
                            braid::parallel_for(*b, shape.bodies,
                                                [&](std::size_t i) { t.body(shape, i); });
                        },
                        [&](std::int64_t in) { b->expect_work(braid::nanoseconds{in}); });
                };
            });
        }
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

}  // namespace bench::fanout
