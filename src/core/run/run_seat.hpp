#pragma once
// The part of a seat that run_room uses: what the thread's loops check between two tasks.

#include "core/life/life_seat.hpp"
#include "core/run/policy/short_gaps.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct run_seat : life_seat {
    using life_seat::life_seat;

    // The flag that ends this thread's innermost wait that runs tasks, or null. Once it is true,
    // the thread runs no further task and returns to that wait.
    const atomic<bool>* wait_over = nullptr;
    // The time at which a job list's try_wait(), which runs work while it polls, has done enough.
    // INT64_MAX means that the thread is in no such call.
    std::int64_t leave_list_at = INT64_MAX;
    std::int64_t without_work_since = 0;  // 0 if the thread has work, or if this is not measured
    gap_estimate gaps;
};

}  // namespace detail
BRAID_NAMESPACE_END
