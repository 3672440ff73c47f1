#pragma once
// A ready_seat is the part of a seat that the ready room uses: the seat's rings, its inbox and its
// fork stack.

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
    std::uint32_t cell_count = 0;  // of all levels together

    // ---- used by the seat's thread only, but others claim from the rings ----
    ready_queue ready[level_count];
    // The task that the thread's loop runs next. It became ready when the last task ended, and no
    // other thread sees it. See set_run_next().
    task_id run_next;
    std::uint32_t victim = 0;       // seat at which the last search for tasks ended
    std::uint32_t fork_victim = 0;  // seat at which the last search for branches ended
    unsigned gave_way = 0;          // calls of enqueue_last(); see gives_way_again_and_again()
    bool others_first = false;      // see wait_loop::run_anything()
    // policy/steals_pay.cpp
    unsigned stole = 0;  // tasks of the last steal, until it is known whether that steal paid
    std::int64_t stole_at = 0, steal_pause = 0, steal_again = 0;
    std::int64_t fetch_ns = 0;  // recent time to fetch another core's line; 0 if unknown
    // policy/unclaimed.cpp
    std::uint64_t unclaimed = 0;  // another thread's oldest task, when last seen
    std::int64_t unclaimed_again = 0;
    std::uint64_t ran_elsewhere = 0;  // 1 + tasks executed by others; 0 if their rings had some
    fork_stack* joins = nullptr;      // the seat's fork stack; null before its first join
    // Stable ids of the branches in the slots of `joins`, each written before its branch becomes
    // public. Null if tasks have no stable ids.
    std::uint64_t* branch_ids = nullptr;

    // ---- used by any thread ----
    alignas(64) task_list box;  // inbox: tasks for this seat alone (`on`)
    atomic<fork_stack*> shown_joins{nullptr};
};

/// Returns true when the thread has called enqueue_last() 32 times, and starts counting again. The
/// caller then checks all other queues, because the thread might run the same tasks for ever.
inline bool gives_way_again_and_again(ready_seat& w) {
    if (w.gave_way < 32) return false;
    w.gave_way = 0;
    return true;
}

/// Records that the thread took `ns` nanoseconds to claim `count` tasks of another thread. See
/// policy/steals_pay.cpp.
void note_claims(ready_seat& w, std::size_t count, std::int64_t ns);

}  // namespace detail
BRAID_NAMESPACE_END
