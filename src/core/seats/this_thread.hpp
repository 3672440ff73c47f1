#pragma once
// This is what the core stores for each thread: the seats that the thread took, the innermost task
// that it runs, and that task's joins (joins_of_thread, which is declared where each join reads
// it). The stack without room for joins in serial_context() (fork_doors.cpp) is not part of this
// state. It belongs to no scheduler, and holds nothing between two joins.
//
// libbraid.so stores at most 256 bytes for each thread (integration.dlopen). A single variable that
// is "initial-exec" puts all of them into the block in which dlopen() has little room left.

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

/// Names the seat that a thread has in a scheduler. A thread may have seats in several schedulers.
/// `serial` distinguishes schedulers that were at the same address.
struct seat_binding {
    const threads_room* in = nullptr;
    std::uint64_t serial = 0;
    seats_seat* seat = nullptr;
};

struct thread_state {
    /// The number of schedulers whose seats a thread finds in its own table.
    static constexpr unsigned near = 2;

    seat_binding bindings[near];
    // A number by which this thread finds its seats in all other schedulers. No other thread ever
    // gets the same number.
    std::uint64_t serial = 0;
    bool has_more_bindings = false;
    // A thread of a module, for example of a queue, rests in its waits as a worker does. This
    // points to the place where the thread stores, while it waits, the address of the flag that
    // says whether it rests. It is null in all other threads.
    atomic<const atomic<bool>*>* module_wait = nullptr;
    running_task* innermost = nullptr;
    // The joins of the innermost body of fork_join() on the thread's stack that found no seat. Null
    // if there is no such body.
    fork_stack* unseated_joins = nullptr;
};
extern constinit BRAID_THREAD_LOCAL thread_state this_thread_state;

/// Returns the innermost task that the calling thread runs, of any scheduler, or null if it runs
/// none.
inline running_task* current_task() { return this_thread_state.innermost; }
/// Sets the innermost task of the calling thread. `joins` are the joins of the thread's seat in
/// that task's scheduler. They are null if the seat has none yet, or if `task` is null.
void set_current_task(running_task* task, fork_stack* joins);
/// Sets the joins of the innermost task, which had none before.
void set_current_joins(fork_stack* joins);

}  // namespace detail
BRAID_NAMESPACE_END
