#pragma once
// A seat: what one participating thread owns. The name `worker` covers all kinds of seats; each
// is used by one thread at a time and is never freed before the scheduler.

#include "braid/core/fork_stack.hpp"
#include "core/ready/ready_queue.hpp"
#include "core/seats/seats_room.hpp"

#include <cstdint>
#include <exception>
#include <mutex>

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr unsigned level_count = 3;

/// Tasks for this seat alone (`on`), or for any of a mask of workers; under a lock, in order.
struct inbox {
    std::mutex mutex;
    atomic<std::uint32_t> size{0};
    std::uint32_t first = no_index, last = no_index;
};

/// The stack, its slots behind it, and behind those the stable ids of the branches in them, if
/// there are any.
constexpr std::size_t fork_stack_bytes(bool identified) {
    return sizeof(fork_stack) + (sizeof(fork_slot) + (identified ? sizeof(std::uint64_t) : 0)) *
                                    (fork_stack::depth + fork_stack::spare);
}

struct alignas(64) worker : seats_seat {
    worker(runtime& owner, std::uint16_t seat, seat_kind k) : seats_seat(owner, *this, seat, k) {}

    ready_queue::cell* cells = nullptr;
    std::uint32_t cell_count = 0;  // of all levels

    // ---- the seat's thread only ----
    ready_queue ready[level_count];
    task_id
        run_next;  // made ready by the task that has just ended; nobody else sees it. run_chain()
    std::uint32_t victim = 0;
    std::uint32_t fork_victim = 0;
    unsigned stole = 0;  // tasks at the last steal, until it is known whether that paid
    std::int64_t stole_at = 0, steal_pause = 0, steal_again = 0;
    std::uint64_t unclaimed = 0;  // the oldest task of somebody, while this thread does not steal
    std::int64_t unclaimed_again = 0;
    fork_stack* joins = nullptr;  // its own
    // Beside its slots, written before a branch becomes public; null: nobody asks for stable ids.
    std::uint64_t* branch_ids = nullptr;
    // When a poll of a job list that helps has done enough; INT64_MAX: none does. See try_wait().
    std::int64_t leave_list_at = INT64_MAX;
    std::int64_t blocking_since = 0, elsewhere_before = 0;
    bool completing = false;
    std::uint32_t to_complete = no_index;  // slots whose open work is done, newest first
    task_id needed_for;                    // whose needs `needed` lists; see needed_work
    task_id needed[32];
    unsigned needed_count = 0;
    scope* scope_ended_in = nullptr;          // tasks that ended there,
    std::uint64_t scope_ends = 0;             // how many of them are not counted there yet
    const atomic<bool>* wait_over = nullptr;  // of the innermost wait that runs tasks
    // How many frames lie below the task that a wait runs although it does not need it, because
    // nobody else can; 0: there is none.
    unsigned unneeded_from = 0;

    // ---- anybody ----
    alignas(64) inbox box;
    atomic<fork_stack*> shown_joins{nullptr};
};

}  // namespace detail
BRAID_NAMESPACE_END
