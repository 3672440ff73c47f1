#pragma once
// The seat's part of this room: its rings, its inbox, its joins.

#include "braid/core/fork_stack.hpp"
#include "core/ready/ready_queue.hpp"
#include "core/ready/task_list.hpp"
#include "core/seats/threads_room.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr unsigned level_count = 3;
inline constexpr auto normal_level = static_cast<unsigned>(priority_level::normal);
inline constexpr auto high_level = static_cast<unsigned>(priority_level::high);

struct ready_seat : seats_seat {
    using seats_seat::seats_seat;

    ready_queue::cell* cells = nullptr;
    std::uint32_t cell_count = 0;  // of all levels

    // ---- the seat's thread only; others claim from the rings ----
    ready_queue ready[level_count];
    // Made ready by the task that has just ended; nobody else sees it. See set_run_next().
    task_id run_next;
    std::uint32_t victim = 0;       // looked at last: for tasks,
    std::uint32_t fork_victim = 0;  // for branches
    unsigned gave_way = 0;          // see gives_way_again_and_again()
    bool others_first = false;      // see wait_loop::run_anything()
    // policy/steals_pay.cpp
    unsigned stole = 0;  // tasks at the last steal, until it is known whether that paid
    std::int64_t stole_at = 0, steal_pause = 0, steal_again = 0;
    std::int64_t fetch_ns = 0;  // what a line of another core has taken lately; 0 is not known
    // policy/unclaimed.cpp
    std::uint64_t unclaimed = 0;  // the oldest task of somebody, while this thread does not steal
    std::int64_t unclaimed_again = 0;
    std::uint64_t ran_elsewhere = 0;  // 1 + what others had executed, if nothing lay in their rings
    fork_stack* joins = nullptr;      // its own
    // Beside its slots, written before a branch becomes public; null: nobody asks for stable ids.
    std::uint64_t* branch_ids = nullptr;

    // ---- anybody ----
    alignas(64) task_list box;  // tasks for this seat alone (`on`)
    atomic<fork_stack*> shown_joins{nullptr};
};

/// True, once, when the thread has put so many tasks behind all others: it may come to the same
/// ones for ever, and looks at everything else.
inline bool gives_way_again_and_again(ready_seat& w) {
    if (w.gave_way < 32) return false;
    w.gave_way = 0;
    return true;
}

/// policy/steals_pay.cpp: the thread has claimed `count` tasks of another one within `ns`.
void note_claims(ready_seat& w, std::size_t count, std::int64_t ns);

}  // namespace detail
BRAID_NAMESPACE_END
