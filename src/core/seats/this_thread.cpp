#include "core/seats/this_thread.hpp"

#include "core/seats/threads_room.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

constinit BRAID_THREAD_LOCAL thread_state this_thread_state;

#if defined(_WIN32)
namespace {
thread_local fork_stack* joins_of_thread = nullptr;
}
fork_stack* thread_joins() { return joins_of_thread; }
#else
constinit BRAID_THREAD_LOCAL fork_stack* joins_of_thread = nullptr;
#endif

void set_current_task(running_task* task, fork_stack* joins) {
    this_thread_state.innermost = task;
    joins_of_thread = joins;
}

void set_current_joins(fork_stack* joins) { joins_of_thread = joins; }

namespace {
atomic<std::uint64_t> next_thread_serial{1};
}

/// Adds the seat to the calling thread's own table, and drops the oldest entry if the table is
/// full. Another thread may have ended the scheduler of an entry. So the seat of an entry is used
/// only in calls of that scheduler.
void threads_room::bind_near(seats_seat& w) const {
    thread_state& here = this_thread_state;
    for (seat_binding& b : here.bindings) {
        if (b.seat != nullptr && b.in != this) continue;
        b = {this, serial_number_, &w};
        return;
    }
    std::copy(here.bindings + 1, here.bindings + thread_state::near, here.bindings);
    here.bindings[thread_state::near - 1] = {this, serial_number_, &w};
    here.has_more_bindings = true;  // from now on, find_far() finds the dropped seat
}

/// Finds the calling thread's seat in this scheduler among all seats, and adds it to the thread's
/// table again. Called when the seat is not in that table. Returns null if the thread has no seat.
seats_seat* threads_room::find_far() const {
    for (unsigned i = 0; i < seat_count(); ++i) {
        seats_seat& w = seat_at(i);
        // relaxed: only this thread ever writes its own number there.
        if (w.bound_to.load(relaxed) != this_thread_state.serial) continue;
        bind_near(w);
        return &w;
    }
    return nullptr;
}

seats_seat* threads_room::bound() const {
    for (const seat_binding& b : this_thread_state.bindings) {
        if (b.in == this && b.serial == serial_number_) return b.seat;
    }
    return this_thread_state.has_more_bindings ? find_far() : nullptr;
}

void threads_room::bind(seats_seat& w) const {
    thread_state& here = this_thread_state;
    if (here.serial == 0) here.serial = next_thread_serial.fetch_add(1, relaxed);
    w.bound_to.store(here.serial, relaxed);  // relaxed: see find_far()
    bind_near(w);
}

void threads_room::unbind(seats_seat& w) {
    w.bound_to.store(0, relaxed);
    for (seat_binding& b : this_thread_state.bindings) {
        if (b.seat == &w) b = {};
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
