#pragma once
// Declares what the core stores for each thread: its seats, the innermost task that it runs, and
// that task's joins (joins_of_thread, which is declared where each join reads it). The fork stack
// that serial_context() uses (fork_doors.cpp) is separate from this. That stack has no room for
// joins, belongs to no scheduler, and holds nothing between two joins.
//
// libbraid.so stores at most 256 bytes for each thread (integration.dlopen). If one variable is
// "initial-exec", all of them lie in the static TLS block, in which dlopen() has little room
// left.

#include "braid/core/fork_stack.hpp"
#include "core/task/task_room.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class threads_room;
struct seats_seat;

#if defined(__GNUC__) && defined(__linux__)
#define BRAID_THREAD_LOCAL thread_local __attribute__((tls_model("initial-exec")))
#else
#define BRAID_THREAD_LOCAL thread_local
#endif

/// Names the seat that a thread has in one scheduler. A thread may have seats in several
/// schedulers. `serial` distinguishes schedulers that existed one after the other at the same
/// address.
struct seat_binding {
    const threads_room* in = nullptr;
    std::uint64_t serial = 0;
    seats_seat* seat = nullptr;
};

struct thread_state {
    /// The size of `bindings`, which is the thread's own table of seats. It has one entry for each
    /// scheduler.
    static constexpr unsigned near = 2;

    seat_binding bindings[near];
    // Identifies this thread, so that it finds its seats in all other schedulers (find_far()). No
    // other thread ever gets the same number. 0 until the thread's first seat.
    std::uint64_t serial = 0;
    bool has_more_bindings = false;
    // Null except in a thread of a module, for example of a queue. Such a thread rests in its waits
    // as a worker does. While it waits, it stores here the address of its seat's flag `at_rest`.
    // freeze() reads that flag.
    atomic<const atomic<bool>*>* module_wait = nullptr;
    running_task* innermost = nullptr;
    // If fork_join() found no seat for this thread, the joins of the innermost body that it runs
    // without a seat. Null if there is no such body.
    fork_stack* unseated_joins = nullptr;
};
extern constinit BRAID_THREAD_LOCAL thread_state this_thread_state;

/// Returns the innermost task that the calling thread runs, of any scheduler, or null if it runs
/// none.
inline running_task* current_task() { return this_thread_state.innermost; }
/// Sets the innermost task of the calling thread. `joins` are the joins of the thread's seat in
/// that task's scheduler, or null if the seat has none yet or `task` is null.
void set_current_task(running_task* task, fork_stack* joins);
/// Sets the joins of the innermost task. Called when that task's first join has made them.
void set_current_joins(fork_stack* joins);

}  // namespace detail
BRAID_NAMESPACE_END
