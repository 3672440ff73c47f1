#pragma once
// The one place where instruments listen: recorder, access checker, explainer, tests.

#include "braid/base/export.hpp"
#include "braid/core/task.hpp"

#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN

struct scheduler_options;

enum class event_kind : std::uint8_t {
    spawned,     // task, other = parent (or empty), name, facts
    edge,        // task waits for other
    ready,       // task; other = the task whose end released it (or empty)
    started,     // task runs on seat
    ended,       // its own work returned (also when it threw)
    completed,   // own work and all children are over
    cancelled,   // will not run; `completed` follows
    failed,      // its own work threw; `ended` follows
    wait_begin,  // task (or empty: a thread outside tasks) waits; other = awaited (or empty)
    wait_end,
    helped,     // other runs on top of the wait of task
    stolen,     // seat took task from seat_from
    seated,     // the calling thread has the seat from now on; name, holder
    searching,  // the seat's thread found nothing to run and looks on
    parked,     // the seat's thread sleeps
    unparked,
    event_set,  // object = the event
    event_taken,
    acquired,  // task holds object, a resource
    released,
    forked,       // task puts the second part of a join, object, where others can take it
    joined,       // both parts of that join are over
    job_started,  // seat runs that part, which it took from seat_from
    job_ended,
    frame_begin,  // of a frame_loop: other = its number, name
    frame_end,
};

/// Whose seat it is. Guests are threads that are no part of the scheduler, while they are inside.
enum class seat_kind : std::uint8_t { worker, main, guest, reserve, background };

/// What is told beside the name when a task is spawned.
struct spawn_facts {
    std::source_location where;  // empty: not known
    std::uint8_t level = 0;      // priority
    bool restricted = false;     // certain threads only may run it
    bool background = false;     // background threads run it
    bool same_moment = false;    // no time has passed since the thread's event before
};

struct task_event {
    event_kind kind;
    seat_kind holder = {};            // with seated
    std::uint16_t seat = UINT16_MAX;  // whose thread says so
    std::uint16_t seat_from = UINT16_MAX;
    task_id task = {};
    task_id other = {};  // of a frame: its number
    const char* name = nullptr;
    const void* object = nullptr;
    const spawn_facts* facts = nullptr;  // with spawned; good during the call
};

/// Called on the thread where it happens, from many threads at once, in the order in which the
/// thread did it. An edge's `ready` comes after the `completed` of the task that released it.
/// Must not call into the scheduler. Installed at construction (scheduler_options::observer).
class observer {
public:
    virtual void on_event(const task_event& e) = 0;

protected:
    ~observer() = default;
};

/// Asked for an observer by each scheduler that is made without one; may answer null. Set before
/// the first scheduler; `profile` does when BRAID_CAPTURE is in the environment.
using observer_source = observer* (*)(const scheduler_options& of);
BRAID_API void set_observer_source(observer_source source);

BRAID_NAMESPACE_END
