#pragma once
// An observer is the single interface through which instruments observe a scheduler. Instruments
// are the recorder, the access checker, the explainer and tests.

#include "braid/base/export.hpp"
#include "braid/core/task.hpp"

#include <atomic>
#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN

struct scheduler_options;

/// The kinds of events. In the comments below, task, other, seat, seat_from, object, name, facts
/// and holder are the members of task_event. If captures have a record for a kind, the record has
/// the same number.
enum class event_kind : std::uint8_t {
    // ---- scripts/kinds.py writes this
    // `task` was made. `other` is its parent or empty. `name` and `facts` are set.
    spawned = 1,
    // `task` depends on the task `other`, which may be complete already.
    edge = 2,
    // `task` is ready. `other` is the task whose end released it, or empty.
    ready = 3,
    // `task` starts on `seat`.
    started = 4,
    // The own work of `task` has ended, by a return or by an exception.
    ended = 5,
    // The own work of `task` and all its children have ended.
    completed = 6,
    // `task` will not run. `completed` follows.
    cancelled = 7,
    // `task` waits for the task `other`. Either is empty if there is none.
    wait_begin = 8,
    // The wait of the matching `wait_begin` has ended.
    wait_end = 9,
    // `seat` stole `task` from `seat_from`.
    stolen = 10,
    // The seat's thread found nothing to run and continues to search.
    searching = 11,
    // The seat's thread goes to sleep.
    parked = 12,
    // The seat's thread is awake again.
    unparked = 13,
    // The event `object` is about to be set. `task` and `seat` are set if the caller has them.
    event_set = 14,
    // A wait for the event `object` succeeds. `wait_end` follows if the wait had begun.
    event_taken = 15,
    // `task` holds the resource `object`.
    acquired = 16,
    // `task` no longer holds the resource `object`.
    released = 17,
    // `task` offers the second part of the join `object` to other threads.
    forked = 18,
    // Both parts of the join `object` have ended. `seat_from` ran the second part, or is `seat`.
    joined = 19,
    // `seat` runs the second part of the join `object`, stolen from `seat_from`.
    job_started = 20,
    // The second part of the join `object` has ended.
    job_ended = 21,
    // The own work of `task` threw an exception. `ended` follows.
    failed = 22,
    // `other` runs on top of the wait of `task`. Tasks that `other` makes ready may run there next.
    helped = 23,
    // The calling thread has `seat` from now on. `name` and `holder` are set.
    seated = 24,
    // A frame of a frame_loop begins. `other` is its number, and `name` is set.
    frame_begin = 32,
    // A frame of a frame_loop ends. `other` is its number, and `name` is set.
    frame_end = 33,
    // `other`, a completion of `task` or an armed timer, is open. `name` and `facts.where` are set.
    deferred = 40,
    // The completion `other` of `task` is settled, or the timer is due or disarmed. `name` is set.
    settled = 41,
    // `task` suspends and releases its thread. `resumed` follows.
    suspended = 42,
    // `task` resumes on `seat`.
    resumed = 43,
    // ---- as far as here
};

/// The kind of thread that a seat belongs to. A guest is a thread that does not belong to the
/// scheduler, while that thread is inside a call of the scheduler. The `source` thread serves
/// timers and file descriptors, and runs no tasks.
enum class seat_kind : std::uint8_t { worker, main, guest, reserve, background, source };

/// Facts that are reported with a `spawned` event, beside the task's name.
struct spawn_facts {
    std::source_location where;   // empty if the source location is not known
    std::uint8_t level = 0;       // the priority level
    bool restricted = false;      // only certain threads may run the task
    bool background = false;      // background threads run the task
    bool same_moment = false;     // no time has passed since the thread's previous event
    std::uint64_t stable_id = 0;  // see alternative in decision.hpp; 0 if nobody asked for it
};

/// Describes one event. An observer may use ids only to tell tasks apart. If it knows a task's id
/// only from an event, it must not wait for the task or add children or predecessors to it. The
/// reason is that other threads may use the id of a graph's node only if the node's body asked for
/// its own id.
struct task_event {
    event_kind kind;
    seat_kind holder = {};            // set for `seated` only
    std::uint16_t seat = UINT16_MAX;  // the seat of the reporting thread
    std::uint16_t seat_from = UINT16_MAX;
    task_id task = {};
    task_id other = {};  // for frame events, the number of the frame
    const char* name = nullptr;
    const void* object = nullptr;
    // Set for `spawned` and `deferred`. If the observer asked for stable ids, it is also set for
    // `forked`, but then contains only the branch's stable id. The pointer is valid during the
    // call.
    const spawn_facts* facts = nullptr;
};

/// Bits in the `facts` of observer::on_start().
inline constexpr unsigned start_ready_now = 1;  // the task became ready at the moment of its start
inline constexpr unsigned start_told_by_run = 2;  // on_graph_run() has reported the task's name

/// Describes work that an external processor has done for a task; see observer::on_external(). An
/// external processor is not a thread of the scheduler.
struct external_run {
    std::uint32_t processor = 0;      // unique in the process; names need not be unique
    const char* processor_name = "";  // valid during the call
    task_id work = {};                // the id of the completion, as in `deferred`
    task_id task = {};                // the task that the work belongs to
    const char* name = nullptr;       // the name of the completion
    std::source_location where = {};  // the source location of the completion
    std::int64_t begin = 0, end = 0;  // ns of CLOCK_MONOTONIC
    /// The maximum error of `begin` and `end` in ns, if they were read from another clock than
    /// CLOCK_MONOTONIC. Otherwise the value is 0.
    std::int64_t clock_error = 0;
    /// `arrived` is the time at which all input of the work had arrived. `left` is the time at
    /// which the output of the work began to leave. 0 means that the time is not known.
    std::int64_t arrived = 0, left = 0;
    bool lost = false;  // the work did not end well, and may run again
};

class observer;

/// Contains the events at the start of a graph's run: `spawned` for each node, `edge` for each
/// dependency, and `ready` for each node that waits for nothing. The id of a node is the node's id
/// in the first run of the plan, plus `id_offset`. All other data is the same as in the first run
/// of the plan.
class graph_run_events {
public:
    /// Reports the events to `to`, one by one. Call this only during on_graph_run().
    virtual void tell_each(observer& to) const = 0;

    std::uint64_t plan = 0;  // unique in the process; a changed graph gets a new plan
    std::uint64_t id_offset = 0;
    task_id run = {};                 // the parent of the nodes
    std::uint16_t seat = UINT16_MAX;  // the seat of the reporting thread

protected:
    ~graph_run_events() = default;
};

/// Receives the events of a scheduler. Each function is called on the thread where the event
/// happens, so many threads may call the functions at the same time. The events of one thread
/// arrive in the order in which they happened on that thread. The `ready` of a task arrives after
/// the `completed` of the predecessor that released it. The functions must not call into the
/// scheduler. An observer is installed when the scheduler is constructed
/// (scheduler_options::observer).
class observer {
public:
    virtual void on_event(const task_event& e) = 0;

    // ---- Each of these functions reports several events of one moment in one call. Observers that
    // ---- must be fast override them. If a function is not overridden, it passes each of its
    // ---- events to on_event().

    /// Reports `spawned`, and `ready` after it if `ready_now` is true.
    virtual void on_spawn(const task_event& spawned, bool ready_now) {
        on_event(spawned);
        if (ready_now) {
            on_event({event_kind::ready, {}, spawned.seat, UINT16_MAX, spawned.task, {}, nullptr});
        }
    }
    /// Reports `started`, and `ready` before it if `facts` contains start_ready_now. `facts` is a
    /// combination of start_ready_now and start_told_by_run.
    virtual void on_start(std::uint16_t seat, task_id task, const char* name, unsigned facts,
                          task_id released_by) {
        if ((facts & start_ready_now) != 0) {
            on_event({event_kind::ready, {}, seat, UINT16_MAX, task, released_by, nullptr});
        }
        on_event({event_kind::started, {}, seat, UINT16_MAX, task, {}, name});
    }
    /// Reports `ended`, and `completed` after it if `completes` is true.
    virtual void on_end(std::uint16_t seat, task_id task, const char* name, bool completes) {
        on_event({event_kind::ended, {}, seat, UINT16_MAX, task, {}, name});
        if (completes) on_event({event_kind::completed, {}, seat, UINT16_MAX, task, {}, name});
    }
    virtual void on_graph_run(const graph_run_events& all) { all.tell_each(*this); }

    /// Reports that an external processor has ended work. The `settled` event of the work follows,
    /// unless the work had timed out or will run again. The function is called on the thread that
    /// learns of the end first, while no lock of the processor is held.
    virtual void on_external(const external_run& done) { static_cast<void>(done); }

    /// Returns false if the observer receives no events but `seated`. Each task then costs as much
    /// as without an observer. The value may change at any time. Threads notice a change soon, but
    /// not at once.
    bool listens() const noexcept {
        // relaxed: on_event() must order by itself all data that the flag guards.
        return listens_.load(std::memory_order_relaxed) != 0;
    }
    /// Returns the word from which listens() is computed. The word is 0 if the observer does not
    /// listen. Otherwise it is a number that is new after each call of listen(true).
    const std::atomic<std::uint32_t>& listening() const noexcept { return listens_; }
    /// Returns true if the observer wants stable ids (see spawn_facts). Each task then takes the
    /// slower path of a task with options. With a chooser, each task takes this path in any case.
    bool wants_stable_ids() const noexcept { return stable_ids_; }

protected:
    observer() = default;
    enum class identity : bool { none, stable };
    explicit observer(identity wanted) : stable_ids_(wanted == identity::stable) {}
    ~observer() = default;
    /// Starts or stops listening. A new observer listens.
    BRAID_API void listen(bool on) noexcept;

private:
    std::atomic<std::uint32_t> listens_{1};
    const bool stable_ids_ = false;
};

/// A function that supplies an observer to each scheduler that is constructed without an observer.
/// The function may return null. It must be set before the first scheduler is constructed. The
/// `profile` module sets it if the environment variable BRAID_CAPTURE is set.
using observer_source = observer* (*)(const scheduler_options& of);
BRAID_API void set_observer_source(observer_source source);

BRAID_NAMESPACE_END
