#pragma once
// The seat's part of this room: what its loops look at between two tasks.

#include "core/life/life_seat.hpp"
#include "core/run/policy/short_gaps.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct run_seat : life_seat {
    using life_seat::life_seat;

    const atomic<bool>* wait_over = nullptr;  // of the innermost wait that runs tasks
    // When a poll of a job list that helps has done enough; INT64_MAX: none does. See try_wait().
    std::int64_t leave_list_at = INT64_MAX;
    std::int64_t without_work_since = 0;  // 0: it has some, or nobody asks
    gap_estimate gaps;
};

}  // namespace detail
BRAID_NAMESPACE_END
