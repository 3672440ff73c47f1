#pragma once
// The seat's part of this room: what its thread waits for, and what it gave away for that.

#include "core/run/run_seat.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Tasks on a thread's stack, from one that waits down to the one that waited before: one task, or
/// some that were run on top of each other without a wait. Lies in the frame of the wait.
struct stack_part {
    const running_task* from = nullptr;
    const running_task* to = nullptr;  // the first that is none of them
    const stack_part* below = nullptr;
};
/// Parts that stand for all of a stack from `top` down: what is needed to end any task of it, a
/// task of these needs to end. See cover_stack().
struct stack_cover {
    const running_task* top = nullptr;
    const stack_part* parts = nullptr;
};

struct wait_seat : run_seat {
    using run_seat::run_seat;

    std::int64_t blocking_since = 0, elsewhere_before = 0;  // in blocking()
    task_id needed_for;  // whose needs `needed` lists; see needed_work
    task_id needed[32];
    unsigned needed_count = 0;
    // How many frames lie below the task that a wait runs although it does not need it, because
    // nobody else can; 0: there is none.
    unsigned unneeded_from = 0;
    stack_cover cover;
};

}  // namespace detail
BRAID_NAMESPACE_END
