#pragma once
// The one place where instruments listen: recorder, access checker, explainer, tests.

#include "braid/base/export.hpp"
#include "braid/core/task.hpp"

#include <atomic>
#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN

struct scheduler_options;

/// What happens. Numbers are those of the records in captures, where there is one.
enum class event_kind : std::uint8_t {
    // ---- scripts/kinds.py writes this
    // Task, other = parent (or empty), name, facts.
    spawned = 1,
    // Task waits for other, or would if that were not complete already.
    edge = 2,
    // Task; other = the task whose end released it (or empty).
    ready = 3,
    // Task runs on seat.
    started = 4,
    // Its own work returned (also when it threw).
    ended = 5,
    // Own work and all children have ended.
    completed = 6,
    // Will not run; `completed` follows.
    cancelled = 7,
    // Task (or empty: a thread outside tasks) waits; other = awaited (or empty).
    wait_begin = 8,
    // That wait has ended.
    wait_end = 9,
    // Seat took task from seat_from.
    stolen = 10,
    // The seat's thread found nothing to run and goes on searching.
    searching = 11,
    // The seat's thread sleeps.
    parked = 12,
    // The seat's thread is awake again.
    unparked = 13,
    // Object = the event, before others can see it; task, seat: where there are any.
    event_set = 14,
    // A wait for object ends with it, or found it set; `wait_end` follows if it began.
    event_taken = 15,
    // Task holds object, a resource.
    acquired = 16,
    // Task holds object no more.
    released = 17,
    // Task puts the second part of a join, object, where others can take it.
    forked = 18,
    // Both parts of that join have ended; seat_from = who ran the second, if not seat.
    joined = 19,
    // Seat runs that part, which it took from seat_from.
    job_started = 20,
    // That part has ended.
    job_ended = 21,
    // Its own work threw; `ended` follows.
    failed = 22,
    // Other runs on top of the wait of task; what it makes ready may follow there.
    helped = 23,
    // The calling thread has the seat from now on; name, holder.
    seated = 24,
    // A frame of a frame_loop: other = its number, name.
    frame_begin = 32,
    // A frame of a frame_loop: other = its number, name.
    frame_end = 33,
    // Task (empty: a timer) waits for somebody outside: other = completion, name, facts.where.
    deferred = 40,
    // Other, which task waits for, was settled, or the timer is due or disarmed; name.
    settled = 41,
    // Its own work gave the thread back; `resumed` follows.
    suspended = 42,
    // Task goes on, on seat.
    resumed = 43,
    // ---- as far as here
};

/// Whose seat it is. Guests are threads that are no part of the scheduler, while they are inside.
/// The source serves timers and descriptors, and runs no tasks.
enum class seat_kind : std::uint8_t { worker, main, guest, reserve, background, source };

/// What is reported beside the name when a task is spawned.
struct spawn_facts {
    std::source_location where;   // empty: not known
    std::uint8_t level = 0;       // priority
    bool restricted = false;      // certain threads only may run it
    bool background = false;      // background threads run it
    bool same_moment = false;     // no time has passed since the thread's event before
    std::uint64_t stable_id = 0;  // see alternative in decision.hpp; 0: the observer asked for none
};

/// Ids tell tasks apart. What a graph's node leaves to others depends on whether its body asked for
/// the id: an observer that knows it from here only must not wait for it, nor add to it.
struct task_event {
    event_kind kind;
    seat_kind holder = {};            // with seated
    std::uint16_t seat = UINT16_MAX;  // whose thread says so
    std::uint16_t seat_from = UINT16_MAX;
    task_id task = {};
    task_id other = {};  // of a frame: its number
    const char* name = nullptr;
    const void* object = nullptr;
    // With spawned; with forked where stable ids are asked for, and then only those of the branch.
    // Good during the call.
    const spawn_facts* facts = nullptr;
};

/// What is reported beside the name when a body begins.
inline constexpr unsigned start_ready_now = 1;    // `ready` came at that moment, too
inline constexpr unsigned start_told_by_run = 2;  // on_graph_run() reported the name, to listeners

/// What a processor that is none of our threads has done for a task; see on_external().
struct external_run {
    std::uint32_t processor = 0;      // of the process: tells apart those of one name
    const char* processor_name = "";  // good during the call
    task_id work = {};                // the completion, as in `deferred`
    task_id task = {};                // that it belongs to
    const char* name = nullptr;       // of the completion
    std::source_location where = {};  // as well
    std::int64_t begin = 0, end = 0;  // ns of CLOCK_MONOTONIC
    /// Both are wrong by so many ns at most, as they were read from another clock. 0: from ours.
    std::int64_t clock_error = 0;
    /// All that it reads had come, and what it wrote began to leave. 0: not known.
    std::int64_t arrived = 0, left = 0;
    bool lost = false;  // it did not end well; it may run again
};

class observer;

/// A run of a graph begins: `spawned` for each node, an `edge` for each dependency, `ready` for
/// each node that waits for nothing. The nodes' ids are those of the plan's first run, plus
/// `id_offset`; the rest is as it was then.
class graph_run_events {
public:
    /// Reports the events one by one. During the call only.
    virtual void tell_each(observer& to) const = 0;

    std::uint64_t plan = 0;  // of the process; a graph that is changed gets another one
    std::uint64_t id_offset = 0;
    task_id run = {};                 // the nodes' parent
    std::uint16_t seat = UINT16_MAX;  // whose thread says so

protected:
    ~graph_run_events() = default;
};

/// Called on the thread where it happens, from many threads at once, in the order in which the
/// thread did it. An edge's `ready` comes after the `completed` of the task that released it.
/// Must not call into the scheduler. Installed at construction (scheduler_options::observer).
class observer {
public:
    virtual void on_event(const task_event& e) = 0;

    // ---- Several events at one moment in one call, for observers in a hurry. Where these are not
    // ---- overridden, on_event() gets each of the events.

    /// `spawned`; with `ready_now` `ready` after it.
    virtual void on_spawn(const task_event& spawned, bool ready_now) {
        on_event(spawned);
        if (ready_now) {
            on_event({event_kind::ready, {}, spawned.seat, UINT16_MAX, spawned.task, {}, nullptr});
        }
    }
    /// `started`; with start_ready_now `ready` before it. `facts`: some of the above.
    virtual void on_start(std::uint16_t seat, task_id task, const char* name, unsigned facts,
                          task_id released_by) {
        if ((facts & start_ready_now) != 0) {
            on_event({event_kind::ready, {}, seat, UINT16_MAX, task, released_by, nullptr});
        }
        on_event({event_kind::started, {}, seat, UINT16_MAX, task, {}, name});
    }
    /// `ended`; with `completes` `completed` after it.
    virtual void on_end(std::uint16_t seat, task_id task, const char* name, bool completes) {
        on_event({event_kind::ended, {}, seat, UINT16_MAX, task, {}, name});
        if (completes) on_event({event_kind::completed, {}, seat, UINT16_MAX, task, {}, name});
    }
    virtual void on_graph_run(const graph_run_events& all) { all.tell_each(*this); }

    /// A processor has ended work; the `settled` of it follows, unless it had timed out, or runs
    /// again. On whatever thread hears of it first; nothing of the processor is locked.
    virtual void on_external(const external_run& done) { static_cast<void>(done); }

    /// False: nothing but `seated` is reported, and tasks cost what they cost without an observer.
    /// May change at any time; threads notice soon, not at once.
    bool listens() const noexcept {
        // relaxed: what it guards is on_event()'s matter.
        return listens_.load(std::memory_order_relaxed) != 0;
    }
    /// The word behind listens(): 0, or a number that is new at each listen(true).
    const std::atomic<std::uint32_t>& listening() const noexcept { return listens_; }
    /// Tasks have stable ids (spawn_facts). Each takes the way of a task with options then, with a
    /// chooser also without this.
    bool wants_stable_ids() const noexcept { return stable_ids_; }

protected:
    observer() = default;
    enum class identity : bool { none, stable };
    explicit observer(identity wanted) : stable_ids_(wanted == identity::stable) {}
    ~observer() = default;
    /// An observer listens from its construction on.
    BRAID_API void listen(bool on) noexcept;

private:
    std::atomic<std::uint32_t> listens_{1};
    const bool stable_ids_ = false;
};

/// Asked for an observer by each scheduler that is made without one; may answer null. Set before
/// the first scheduler; `profile` does when BRAID_CAPTURE is in the environment.
using observer_source = observer* (*)(const scheduler_options& of);
BRAID_API void set_observer_source(observer_source source);

BRAID_NAMESPACE_END
