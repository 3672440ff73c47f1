#pragma once
// The part of a seat that life_room uses: waits that run the awaited task, and tasks that have
// ended but are not yet completed or counted in their scope.

#include "core/ready/ready_room.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct scope_state;

/// A wait that runs the awaited task itself before it enters the parking lot. Most often the task
/// is complete after that, and the wait need not enter. The object is on the waiting thread's
/// stack.
struct unentered_wait {
    wait_record& record;          // its key is the id of the awaited task
    unentered_wait* const below;  // the next outer unentered wait of this thread
    bool entered = false;
};

/// A task whose callable this thread is destroying. The task is not complete yet, and a user
/// destructor in the callable may wait.
struct ending_task {
    std::uint32_t slot;
    unsigned depth;            // number of bodies below on the stack
    ending_task* const below;  // the next outer ending task of this thread
};

struct life_seat : ready_seat {
    using ready_seat::ready_seat;

    unentered_wait* unentered = nullptr;    // the innermost unentered wait
    ending_task* ends = nullptr;            // the innermost ending task
    bool completing = false;                // tasks that end only go into `to_complete`
    bool makes_children = false;            // spawns only children of tasks that are open
    std::uint32_t to_complete = no_index;   // slots whose open work is done, newest first
    scope_state* scope_ended_in = nullptr;  // the scope whose tasks `scope_ends` counts
    std::uint64_t scope_ends = 0;           // ended tasks that the scope has not counted yet
    pool_cache completion_extras;
};

inline void destroy_stored_of(life_seat& w, slot& s, std::uint32_t index) {
    struct listed {
        life_seat& w;
        ending_task own;
        ~listed() { w.ends = own.below; }  // runs also if a destructor throws
    } here{w, {index, w.depth, w.ends}};
    w.ends = &here.own;
    s.destroy_stored();
}

}  // namespace detail
BRAID_NAMESPACE_END
