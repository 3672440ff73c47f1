#pragma once
// The core's interface for the modules above it: graph, job_list, queue, frame, fork_join, async
// and device. They include nothing else of src/core and name no member of `runtime` or of a seat,
// so the inside of the core can change without them. They may also use the core's public headers,
// with open_task(), publish_task() and submit_as() of core/closure.hpp.
//
//   the scheduler   memory, options, handlers, observers
//   seats           the calling thread's seat, and a seat leased for one call
//   own threads     threads of a module, and how they sleep if there is a chooser
//   sources         timers, descriptors and other things outside that make tasks
//   waiting         waits for a task, and the failures of tasks
//   tasks           ids of tasks, and the shares that hold tasks open
//   bodies          the body that a thread runs, tasks that run at once, and times of bodies
//   (core/own_task.hpp has tasks of a module's own kind, and core/thread_marks.hpp has marks that a
//   thread carries while an object lives; this header includes both)
//
// Any thread may call a function without a seat parameter. Only the seat's thread may call one with
// a seat parameter. Functions on the path of every task are inline and cost nothing.

#include "base/printf_format.hpp"
#include "core/held_up.hpp"
#include "core/own_task.hpp"
#include "core/thread_marks.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail::core {

// ---- the scheduler -----------------------------------------------------------------------------

inline accounted_memory& memory(runtime& rt) { return rt.memory; }
/// Returns the memory of the running task's scheduler, or null if the thread runs no task.
inline accounted_memory* memory_of_current_task() {
    running_task* const t = current_task();
    return t != nullptr ? &t->context.internals().rt.memory : nullptr;
}
inline const scheduler_options& options(const runtime& rt) { return rt.options; }
inline std::uint64_t number_of(const runtime& rt) { return rt.serial_number(); }  // unique
/// Returns the handler of callers' mistakes, for BRAID_EXPECT.
inline const assertion_handler& misuse(const runtime& rt) { return rt.options.assertion; }
/// Returns a limiter, which clamps the numbers of the options struct `name` to their ranges.
inline limiter limits(const runtime& rt, const char* name) { return {rt.options, name}; }

/// Logs "<scheduler's name>: " and the text. Texts of up to 400 characters are not cut.
BRAID_PRINTF(3, 4) void log(runtime& rt, log_level level, const char* format, ...);
/// Passes an exception that nobody receives to the handler of unobserved exceptions.
inline void report_unobserved(runtime& rt, const char* who, std::exception_ptr error) {
    rt.outcomes.report_unobserved(who, std::move(error));
}
/// Returns the floating-point control that the scheduler's threads take from its creator.
inline std::uint64_t float_control(const runtime& rt) { return rt.float_control(); }

/// Returns the number of active workers, without a caller that is no worker. relaxed: a count.
inline unsigned worker_count(const runtime& rt) { return rt.active_workers(relaxed); }
/// Returns the number of hardware threads that the process may use.
inline unsigned hardware_threads(const runtime& rt) { return rt.cores(); }
/// Seat numbers are below this limit in every scheduler.
inline constexpr unsigned seat_limit = sleepers::capacity;
/// Returns the number of seats made so far. acquire: pairs with add_to_seats().
inline unsigned seat_count(const runtime& rt) { return rt.seat_count(); }

/// Returns true if no shutdown has begun.
inline bool accepts_tasks(const runtime& rt) { return rt.phase(relaxed) == life::running; }
/// Returns true if a discarding shutdown has begun; see shutdown::discard.
inline bool discarding(const runtime& rt) { return rt.phase(relaxed) == life::discarding; }
/// Returns true if a chooser makes every decision.
inline bool under_chooser(const runtime& rt) { return rt.serial != nullptr; }
/// Returns true if this process is a child of fork() and the scheduler was made by its parent. No
/// thread runs in such a copy, and a lock in it may be held by a thread that does not exist here.
/// Costs a call and four loads.
inline bool in_child(const runtime& rt) { return rt.is_childs_copy(); }
/// Call this at the start of each call into the library, while holding no lock of the library. If
/// there is a chooser, it may let another thread run first.
inline void point(const runtime& rt) { rt.point(); }
/// Returns true if an observer listens. Only then may observer_of() be called. Costs one load.
inline bool observed(const runtime& rt) { return rt.report.observed(); }
inline observer& observer_of(const runtime& rt) { return *rt.options.observer; }
/// Returns a number that changes each time an observer begins to listen, or 0 if none listens.
inline std::uint32_t listening(const runtime& rt) { return rt.report.listening(); }

// ---- seats -------------------------------------------------------------------------------------

/// A seat for one call that does not wait. It is the thread's own seat, or a leased guest seat.
using detail::seat_lease;
/// A seat for a call that runs bodies, which may wait. The lease is empty if no seat is free.
using detail::body_lease;

/// Returns true if the thread runs the body of a fork_join() for which no seat was free.
inline bool runs_without_seat() { return this_thread_state.unseated_joins != nullptr; }

/// Returns the calling thread's seat, or null if it has none.
inline seat* own_seat(const runtime& rt) { return rt.bound(); }
inline seat& seat_of(task_context& task) { return *task.internals().seat; }
/// Returns the seat of the thread that runs the joins, or null if it has none.
inline const seat* seat_of(fork_context c) { return fork_access::top(c)->stack->owner; }
inline runtime& scheduler_of(const seat& w) { return w.rt; }
inline std::uint16_t number_of(const seat& w) { return w.index; }
inline bool is_background(const seat& w) { return w.kind == seat_kind::background; }
inline bool runs_task(const seat& w) { return w.top != nullptr; }

/// The task that a thread runs.
struct running {
    task_id id;  // empty for a posted task
    priority_level level;
};
/// Returns the innermost task of the seat's thread, which must run one.
inline running running_on(const seat& w) {
    const runtime& rt = w.rt;
    const slot& s = rt.slots.at(w.top->slot);
    return {s.has(flag_posted) ? task_id{} : rt.slots.id_of(w.top->slot),
            static_cast<priority_level>(rt.slots.level_of(s))};
}

/// Returns true if the thread must not begin another task of `level` now, for example because a
/// more urgent task is ready, its wait has ended, or the scheduler is frozen.
inline bool wanted_elsewhere(const seat& w, priority_level level) {
    return w.rt.wanted_elsewhere(w, static_cast<unsigned>(level));
}

/// Runs one ready task that `id` needs, if there is one. Does nothing if there are active workers
/// and the caller neither runs a task nor is a thread of the scheduler. The task that is run may
/// call take_help_deadline() and return after `enough`.
void help_poll(runtime& rt, task_id id, nanoseconds enough);
/// Returns the deadline that help_poll() has set, and clears it, so that tasks that the caller runs
/// meanwhile do not see it. INT64_MAX means that there is no deadline.
inline std::int64_t take_help_deadline(seat& w) {
    return std::exchange(w.leave_list_at, INT64_MAX);
}

// ---- threads of a module's own -----------------------------------------------------------------

/// A thread of a module, besides the scheduler's threads. If there is a chooser, the thread passes
/// the chooser's gate like a worker from start() to join(), so that a seed decides when it runs.
/// The object must not move.
class own_thread {
public:
    own_thread() = default;
    own_thread(const own_thread&) = delete;
    own_thread& operator=(const own_thread&) = delete;
    /// Returns false if the system refused to start the thread.
    bool start(runtime& rt, const platform::thread_request& how);
    /// Waits for the end of the thread. Any other thread may call this. Does nothing if the thread
    /// was not started.
    void join();
    /// Returns true if the thread rests in a wait or is itself the caller. Call this only when the
    /// scheduler is frozen and the threads of all seats rest.
    bool rests_in_wait() const;

private:
    void run();

    runtime* rt_ = nullptr;
    atomic<const atomic<bool>*> waits_in_{nullptr};  // see thread_state::module_wait
    seats_seat* seat_ = nullptr;  // null without a chooser, or if no seat was free
    platform::thread_request given_{}, request_{};
    platform::thread_handle thread_ = 0;
    atomic<bool> over_{false};
};

/// Returns true if another thread has frozen the scheduler. A module's thread first marks that it
/// runs user code, and then calls this. seq_cst: pairs with freeze(), which first freezes and then
/// calls code_holder::runs_code().
inline bool is_frozen(const runtime& rt) {
    return rt.frozen().on() && !rt.frozen().is_by_this_thread();
}
/// Sleeps until resume(), or until `enough()` returns true. `enough()` is called now and then.
template <class Enough>
void rest_while_frozen(runtime& rt, Enough&& enough) {
    const bool passes = rt.serial != nullptr && rt.bound() != nullptr;
    if (passes) rt.serial->leave(rt.bound()->index);
    rt.frozen().wait_until_over_or(enough);
    if (passes) rt.serial->enter(rt.bound()->index);
}
/// Returns true if the calling thread may rest while the scheduler is frozen. A thread that runs a
/// task, or a module's thread, may not: freeze() may wait for a body on its stack.
inline bool may_rest() {
    return current_task() == nullptr && this_thread_state.module_wait == nullptr;
}

/// Returns true if the calling thread passes the gate. It must then sleep only in sleep_at_gate().
inline bool passes_gate(const runtime& rt) { return rt.serial != nullptr && rt.bound() != nullptr; }
struct gate_sleep {
    std::int64_t deadline = INT64_MAX;  // on the virtual clock
    bool waits = false;                 // it waits for something; if false, it lacks work
};
/// Sleeps until wake_at_gate() or the deadline, unless `still()` returns false. `still()` is called
/// once, under a lock that wake_at_gate() takes. It returns true if the thread still has to sleep.
template <class Still>
void sleep_at_gate(runtime& rt, const void* key, const gate_sleep& how, Still&& still) {
    seat& w = *rt.bound();
    const gate_pass pass(rt, w);
    wait_record record;
    if (!rt.lot().enter(record, own_key(key), w.index, still)) return;
    bool in_time = true;
    // acquire: pairs with parking_lot::wake().
    while (in_time && !record.done.load(acquire)) {
        in_time = rt.serial->block(w.index, {.deadline = how.deadline, .waits = how.waits});
    }
    rt.lot().leave(record);
}
/// Wakes each thread that sleeps under `key`. Does nothing without a chooser.
inline void wake_at_gate(runtime& rt, const void* key) {
    if (rt.serial != nullptr) rt.notify_all_at(own_key(key));
}
/// Returns the virtual time in ns; see gate::now(). There must be a chooser.
inline std::int64_t virtual_now(const runtime& rt) { return rt.serial->now(); }

// ---- sources -----------------------------------------------------------------------------------

/// A source lives like this: attach() ─► arm() or watch() ─► arrived() on the source thread ─► … ─►
/// detach(). See outside/outside_room.hpp.
using detail::arrival;
using detail::outside_source;
inline outside_room& sources(runtime& rt) { return rt; }
/// Attaches a source. If stable ids are wanted, the source gets one, which is made from its
/// creator's stable id and the number of the creator's earlier creations.
inline void attach_source(runtime& rt, outside_source& s) {
    if (rt.identified()) s.set_stable_id(rt.next_identity(*seat_lease(rt, nullptr)));
    rt.attach(s);
}
/// Settles a completion. If the completion keeps no object, no user code but handlers runs here.
/// Returns false if the completion had been settled before.
inline bool settle(runtime& rt, seat& w, completion_id id, const completion_result& how = {}) {
    return rt.settle_completion(w, id, how);
}
inline bool settle_as_cancelled(runtime& rt, seat& w, completion_id id) {
    return rt.settle_as_cancelled(w, id);
}

/// Returns true if something waits for or depends on the open task `id`, or on an ancestor of which
/// `id` is the last open part. A waiter for a scope does not count. relaxed loads: a waiter that
/// comes at the same moment may be missed.
bool is_awaited(const runtime& rt, task_id id);

// ---- waiting -----------------------------------------------------------------------------------

/// One receiver's reference to a task's failure. The destructor drops it, even if the receiver has
/// not rethrown the failure. If no receiver has, the last one to drop its reference passes the
/// failure to the handler of unobserved exceptions.
class failure {
public:
    explicit failure(runtime& rt, outcome* what = nullptr) : rt_(&rt), what_(what) {}
    ~failure() { rt_->outcomes.drop(what_); }
    failure(failure&& other) noexcept
        : rt_(other.rt_), what_(std::exchange(other.what_, nullptr)) {}
    failure& operator=(failure&& other) noexcept {
        std::swap(rt_, other.rt_);
        std::swap(what_, other.what_);
        return *this;
    }
    explicit operator bool() const { return what_ != nullptr; }
    /// Rethrows the failure, if there is one. Throws task_cancelled for a mere cancellation.
    void raise() { rt_->outcomes.raise(std::exchange(what_, nullptr)); }
    outcome** receive() { return &what_; }

private:
    runtime* rt_;
    outcome* what_;
};

/// Waits until the task is complete, and helps meanwhile. Any thread may call this. Returns false
/// after `timeout`, by sources(rt).clock(), or if the task can never be complete, and reports that.
inline bool wait(runtime& rt, task_id id, help policy, failure& received,
                 nanoseconds timeout = no_limit) {
    return rt.wait_here({.task = id}, timeout, policy, received.receive());
}
/// Returns the failure of a complete task whose handle the caller has (draft_kind::valued). It is
/// empty if the task succeeded.
inline failure failure_of(runtime& rt, task_id id) {
    const slot& s = rt.slots.at(id);
    return failure(rt, s.has(flag_failed) ? rt.outcomes.share(s) : nullptr);
}
/// Gives up the handle of a task that was opened as draft_kind::valued.
inline void release_handle(runtime& rt, task_id id) {
    rt.release_holder(*seat_lease(rt, nullptr), id);
}

struct cause {
    std::exception_ptr error;  // null for a mere cancellation
    std::uint32_t ordinal;     // of several causes, the lowest ordinal wins
    const char* by = nullptr;  // the name of the part that threw, if not the task itself
};
/// Records that the task has failed. Its dependents and waiters get the cause.
inline void record_failure(runtime& rt, seat& w, task_id of, cause why) {
    rt.record_failure(w, index_of(of.value), std::move(why.error), why.ordinal, why.by);
}

// ---- tasks -------------------------------------------------------------------------------------

inline bool is_open(const runtime& rt, task_id id) { return rt.slots.is_open(id); }
/// Returns the id of a task between open_task() and publish_task().
inline task_id id_of(const runtime& rt, const draft& d) { return rt.slots.id_of(index_of(d)); }
/// Makes the task run also when its scope is cancelled or a discarding shutdown begins. Call this
/// before the task is published.
inline void runs_always(const draft& d) { slot_of(d).flags.fetch_or(flag_finally, relaxed); }

inline bool has_begun(const runtime& rt, task_id id) {
    return rt.slots.at(id).runner.load(relaxed) != UINT16_MAX;
}
/// Returns true if the task is open, waits for no other task, and no thread has begun it. The
/// answer means nothing if the task completes during the call.
inline bool waits_for_thread(const runtime& rt, task_id id) {
    const bool is_ready = rt.slots.at(id).waits_for.load(relaxed) == 0;
    return rt.slots.is_open(id) && is_ready && !has_begun(rt, id);
}
/// Returns true if the task should stop: its scope was cancelled or a discarding shutdown has
/// begun, and the task is not shielded. The caller must be a part of the task that keeps it open.
inline bool is_unwanted(const runtime& rt, task_id id) {
    const slot& s = rt.slots.at(id);
    return (discarding(rt) || rt.scope_cancelled(s)) && !rt.is_shielded(s);
}

/// Returns the task's stable id, or 0 if nobody asks for stable ids.
inline std::uint64_t stable_id_of(const runtime& rt, task_id id) {
    return stable_id_at(rt, index_of(id.value));
}

/// Adds a share of the task's open work, so that the task does not complete before end_share().
/// Returns false if the task is complete already.
inline bool add_share(const runtime& rt, task_id id) {
    return add_open_work(rt.slots.at(id).open, generation_of(id.value));
}
/// Adds a share for a caller that already has one.
inline void add_another_share(const runtime& rt, task_id id) {
    // relaxed: the caller's own share keeps the count above 0.
    rt.slots.at(id).open.fetch_add(1, relaxed);
}
inline void end_share(runtime& rt, seat& w, task_id id) { rt.own_work_done(w, index_of(id.value)); }
/// Returns the task's name, for messages, or "" if the task is complete or has no name.
const char* name_of(runtime& rt, task_id id);

// ---- bodies ------------------------------------------------------------------------------------

/// The innermost body that the seat's thread runs.
class running_body {
public:
    explicit running_body(seat& w) : seat_(w), body_(*w.top) {}

    /// Makes this body count as the body of task `id` from now on. The slot stays the same.
    void go_on_as(task_id id) const {
        body_.context.internals().id = id;
        body_.context.internals().id_taken = false;
        seat_.frames[std::min(seat_.depth - 1, seat::shown_depth)].show(id.value);
    }
    task_context& context() const { return body_.context; }
    /// Returns true if the body threw. take_error() clears the error for the next body.
    bool failed() const { return body_.error != nullptr; }
    std::exception_ptr take_error() const { return std::exchange(body_.error, nullptr); }

private:
    seat& seat_;
    running_task& body_;
};

/// Makes an opened task (draft_kind::valued) the thread's running task while this object lives, as
/// if it had been taken from a queue. The destructor ends the task's own work.
class task_at_once {
public:
    task_at_once(runtime& rt, seat& w, const draft& opened, const char* name);
    ~task_at_once();
    task_at_once(const task_at_once&) = delete;
    task_at_once& operator=(const task_at_once&) = delete;
    task_id id() const { return id_; }

private:
    runtime& rt_;
    seat& seat_;
    const std::uint32_t index_;
    const task_id id_;
    const char* const name_;
    helper_floats floats_;
    std::int64_t outer_elsewhere_ = 0, began_ = 0;
    running_task body_;
    running_task* outer_ = nullptr;
};

/// Returns the time at which the last task or sleep of the thread ended.
inline std::int64_t last_end(const seat& w) { return w.report.stamp; }
/// Returns how many bodies end before the clock is read again.
inline unsigned bodies_a_look(const seat& w) { return w.report.time_each; }
/// Records the time of a body that began at `started` and has returned. Logs a warning if it was
/// long, unless `quiet` is true. Statistics count it.
inline void note_duration(seat& w, const char* name, bool quiet, std::int64_t started) {
    w.rt.report.note_duration(w.report, name, quiet, started);
}
/// Records the `count` bodies that have ended since last_end(), as note_duration() does.
inline void note_durations(seat& w, const char* name, bool quiet, unsigned count) {
    w.rt.report.note_durations(w.report, name, quiet, count);
}
/// Sets how much of the running body's time was spent elsewhere: in waits, or in work that is
/// counted by itself.
inline void set_elsewhere(seat& w, std::int64_t ns) { w.report.elsewhere = ns; }

}  // namespace detail::core
BRAID_NAMESPACE_END
