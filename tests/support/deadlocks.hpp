#pragma once
// Looks for deadlocks at moments that the test chooses.

#include "scale.hpp"

#include "core/control/runtime.hpp"

#include <braid/core/scheduler.hpp>

namespace braid_test {

/// By a thread that has a seat: at everything, once.
inline void look_for_deadlocks(braid::scheduler& s) {
    braid::detail::runtime& rt = s.internals();
    while (rt.look_for_deadlocks(*rt.bound()) == braid::detail::looked::in_part) {
    }
    complete_held_back(rt, *rt.bound());
}

/// Until a task waits for that one and its thread is about to sleep; the wait counts from then on.
inline void until_wait_counts(braid::scheduler& s, braid::task_id awaited) {
    until([&] {
        return s.internals().lot().look_at(awaited.value, [](const braid::detail::wait_record& r) {
            return r.depth != 0 && r.stays.load(braid::relaxed);
        });
    });
}

}  // namespace braid_test
