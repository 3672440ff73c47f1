#pragma once
// The seat's part of this room: what its thread has ended and not dealt with yet.

#include "core/ready/ready_room.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct scope_state;

/// A wait that runs what it waits for before it enters the parking lot: most often it need not. On
/// the stack of the thread that waits.
struct unentered_wait {
    wait_record& record;          // its key is the task
    unentered_wait* const below;  // of the same thread
    bool entered = false;
};

/// What a task held is destroyed on this thread before the task is complete; a destructor may wait.
struct ending_task {
    std::uint32_t slot;
    unsigned depth;            // of bodies that lie below on the stack
    ending_task* const below;  // of the same thread
};

struct life_seat : ready_seat {
    using ready_seat::ready_seat;

    unentered_wait* unentered = nullptr;  // the innermost
    ending_task* ends = nullptr;          // the innermost
    bool completing = false;
    bool makes_children = false;            // of tasks that are open, and nothing else
    std::uint32_t to_complete = no_index;   // slots whose open work is done, newest first
    scope_state* scope_ended_in = nullptr;  // tasks that ended there,
    std::uint64_t scope_ends = 0;           // how many of them are not counted there yet
    pool_cache completion_extras;
};

inline void destroy_stored_of(life_seat& w, slot& s, std::uint32_t index) {
    struct listed {
        life_seat& w;
        ending_task own;
        ~listed() { w.ends = own.below; }  // also where a destructor throws
    } here{w, {index, w.depth, w.ends}};
    w.ends = &here.own;
    s.destroy_stored();
}

}  // namespace detail
BRAID_NAMESPACE_END
