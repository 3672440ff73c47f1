#pragma once
// A seat: what one participating thread owns. The name `worker` covers all kinds of seats; each
// is used by one thread at a time and is never freed before the scheduler.

#include "core/life/life_room.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct alignas(64) worker : life_seat {
    worker(runtime& owner, std::uint16_t seat, seat_kind k) : life_seat(owner, *this, seat, k) {}

    // ---- the seat's thread only ----
    // When a poll of a job list that helps has done enough; INT64_MAX: none does. See try_wait().
    std::int64_t leave_list_at = INT64_MAX;
    std::int64_t blocking_since = 0, elsewhere_before = 0;
    task_id needed_for;  // whose needs `needed` lists; see needed_work
    task_id needed[32];
    unsigned needed_count = 0;
    const atomic<bool>* wait_over = nullptr;  // of the innermost wait that runs tasks
    // How many frames lie below the task that a wait runs although it does not need it, because
    // nobody else can; 0: there is none.
    unsigned unneeded_from = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
