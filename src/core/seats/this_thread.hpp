#pragma once
// What a thread has of the core: the seats that it took, the innermost task that it runs, and that
// task's joins (joins_of_thread, which is declared where each join reads it). The stack without
// room in serial_context() (fork_doors.cpp) is no part of it: it belongs to no scheduler, and holds
// nothing between two joins.
//
// All that libbraid.so keeps a thread is at most 256 bytes (integration.dlopen): one variable that
// is "initial-exec" puts all of them where dlopen() has little room left.

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

/// Several schedulers may share a thread. `serial` tells those at one address apart.
struct seat_binding {
    const threads_room* in = nullptr;
    std::uint64_t serial = 0;
    seats_seat* seat = nullptr;
};

struct thread_state {
    /// The schedulers that a thread finds its seats in without looking further.
    static constexpr unsigned near = 2;

    seat_binding bindings[near];
    // By which this thread's seats are found in all others; never given to another thread.
    std::uint64_t serial = 0;
    bool has_more_bindings = false;
    // Threads of queues and the like rest in waits as workers do. They have a place for what says
    // whether they rest, while they wait. Null: the thread is none of those.
    atomic<const atomic<bool>*>* module_wait = nullptr;
    running_task* innermost = nullptr;
    // The innermost body of fork_join() on its stack for which no seat could be had has these.
    fork_stack* unseated_joins = nullptr;
};
extern constinit BRAID_THREAD_LOCAL thread_state this_thread_state;

/// The innermost task that the calling thread runs, of any scheduler.
inline running_task* current_task() { return this_thread_state.innermost; }
/// `joins`: of the thread's seat in that task's scheduler. Null: there are none yet, or no task.
void set_current_task(running_task* task, fork_stack* joins);
/// The same task has joins from now on.
void set_current_joins(fork_stack* joins);

}  // namespace detail
BRAID_NAMESPACE_END
