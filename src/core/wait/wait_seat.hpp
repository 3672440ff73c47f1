#pragma once
// The wait room's part of a seat: what the thread's waits need, and what they run besides.

#include "core/run/run_seat.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class wait_list;

struct wait_seat : run_seat {
    using run_seat::run_seat;

    std::int64_t blocking_since = 0, elsewhere_before = 0;  // at the start of blocking()
    task_id needed_for;                      // `needed` lists what this task needs; see needed_work
    const wait_list* needed_list = nullptr;  // not null if that task is one of several
    task_id needed[64];
    unsigned needed_count = 0, known_needed = 0, perhaps_needed = 0;
    // A wait may run a task that it does not need, because no other thread can run that task. This
    // is the number of frames below such a task, or 0 if there is none. relaxed: other threads look
    // only at a stack that stays as it is.
    atomic<unsigned> unneeded_from{0};
    // The wait has run tasks that give way for so long that other waits count this thread as
    // resting. A thread may stand in for the rest of the work, or not. relaxed: a hint.
    atomic<bool> spins{false};
};

}  // namespace detail
BRAID_NAMESPACE_END
