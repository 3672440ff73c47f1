#pragma once
// The wait room's part of a seat: what the thread's current wait needs, and notes about other work
// that its waits run.

#include "core/run/run_seat.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class wait_list;

struct wait_seat : run_seat {
    using run_seat::run_seat;

    std::int64_t blocking_since = 0, elsewhere_before = 0;  // at the start of blocking()
    task_id needed_for;                      // the task whose needs `needed` lists; see needed_work
    const wait_list* needed_list = nullptr;  // set if that task is one of several
    task_id needed[64];
    unsigned needed_count = 0, known_needed = 0, perhaps_needed = 0;
    // A wait may run a task that it does not need, because no other thread can run that task. This
    // is the number of frames below the topmost such task, or 0 if there is none. relaxed: other
    // threads read this only while the stack does not change.
    atomic<unsigned> unneeded_from{0};
    // The wait has run tasks that give way for so long that other waits count this thread as
    // resting. A reserve thread may have come to run the other work, or not. relaxed: a hint.
    atomic<bool> spins{false};
};

}  // namespace detail
BRAID_NAMESPACE_END
