#pragma once
// What it costs to give a task one more part: a child, a completion, a submission.

#include "driver.hpp"

#include <braid/core/scheduler.hpp>

#include <cstdint>

namespace bench {

/// ns for each of the parts that a task is made of; all on this thread. `part(task, done)` counts
/// itself in `done`.
template <class Part>
double time_of_parts(braid::scheduler& b, int tasks, int parts, Part&& part) {
    std::int64_t done = 0;
    const double ns = time_ns([&] {
        for (int i = 0; i < tasks; ++i) {
            b.wait(b.spawn([&](braid::task_context& task) {
                for (int n = 0; n < parts; ++n) part(task, done);
            }));
        }
    });
    if (done != std::int64_t{tasks} * parts) throw wrong_answer("not every part was done");
    return ns / (std::int64_t{tasks} * parts);
}

}  // namespace bench
