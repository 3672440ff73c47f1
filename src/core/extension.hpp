#pragma once
// The door by which the modules above enter the core: graph, job_list, queue, frame, fork_join.
// They include nothing else of src/core and name no member of `runtime` or of a seat, so that the
// rooms behind this door can be rebuilt without them. Beside it they have the core's public
// headers, with open_task(), publish_task() and submit_as() of core/closure.hpp.
//
//   the scheduler   memory, options, what it reports and to whom
//   seats           the calling thread's, and one leased for a call
//   own threads     of a module, and how they sleep under a chooser
//   sources         what comes from outside, and who makes tasks then
//   waiting         for a task, and how a task failed
//   tasks           their ids, and the shares that hold them open
//   bodies          one after the other in one frame of a thread's stack
//   (tasks of a module's own kind: core/own_task.hpp; what counts for a thread as long as an
//   object lives: core/thread_marks.hpp; this header brings both)
//
// Any thread may call what takes no seat; what takes one is for the thread that has it. A step is
// inline and forwards, so that passing the door costs nothing.

#include "base/printf_format.hpp"
#include "core/held_up.hpp"
#include "core/own_task.hpp"
#include "core/thread_marks.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail::core {

// ---- the scheduler -----------------------------------------------------------------------------

inline accounted_memory& memory(runtime& rt) { return rt.memory(); }
/// Null: the calling thread runs no task.
inline accounted_memory* memory_of_current_task() {
    running_task* const t = current_task();
    return t != nullptr ? &t->context.internals().rt.memory() : nullptr;
}
inline const scheduler_options& options(const runtime& rt) { return rt.options(); }
inline std::uint64_t number_of(const runtime& rt) { return rt.serial_number(); }  // no two have one
/// Who hears of a caller's mistake; for BRAID_EXPECT.
inline const assertion_handler& misuse(const runtime& rt) { return rt.options().assertion; }
/// Brings numbers of the struct of options that is called `name` into their ranges.
inline limiter limits(const runtime& rt, const char* name) { return {rt.options(), name}; }

/// Logs "<scheduler>: " and the text, of which 400 characters at most are kept.
BRAID_PRINTF(3, 4) void log(runtime& rt, log_level level, const char* format, ...);
/// Hands an exception that nobody receives to its handler.
inline void report_unobserved(runtime& rt, const char* who, std::exception_ptr error) {
    rt.report_unobserved(who, std::move(error));
}
/// The floating-point control of the thread that made the scheduler; its threads compute by it.
inline std::uint64_t float_control(const runtime& rt) { return rt.float_control(); }

/// The workers that run now, without the thread that asks. relaxed: a count.
inline unsigned worker_count(const runtime& rt) { return rt.active_workers(relaxed); }
/// Hardware threads that the process may use.
inline unsigned hardware_threads(const runtime& rt) { return rt.cores(); }
/// Seats are numbered below this, in every scheduler.
inline constexpr unsigned seat_limit = sleepers::capacity;
/// Seats that there are. acquire: pairs with add_to_seats().
inline unsigned seat_count(const runtime& rt) { return rt.seat_count(); }

/// No shutdown began.
inline bool accepts_tasks(const runtime& rt) { return rt.phase(relaxed) == life::running; }
/// A discarding shutdown began: nothing is run any more.
inline bool discarding(const runtime& rt) { return rt.phase(relaxed) == life::discarding; }
/// Every decision is a chooser's.
inline bool under_chooser(const runtime& rt) { return rt.serial() != nullptr; }
/// The process is a child of fork(), and the scheduler its parent's: nothing runs here any more,
/// and a lock may be a thread's that is not here. A call and four loads.
inline bool in_child(const runtime& rt) { return rt.is_childs_copy(); }
/// At the entrance of a call into the library, without any lock of the library: with a chooser
/// another thread may go on first.
inline void point(const runtime& rt) { rt.point(); }
/// Somebody listens. One load; only then may observer_of() be called.
inline bool observed(const runtime& rt) { return rt.observed(); }
inline observer& observer_of(const runtime& rt) { return *rt.options().observer; }
/// Another number when somebody else has begun to listen.
inline std::uint32_t listening(const runtime& rt) { return rt.listening(); }

// ---- seats -------------------------------------------------------------------------------------

/// A seat for one call that does not wait: the thread's own, or a guest's.
using detail::seat_lease;
/// One for a call that runs bodies, which may wait; there may be none.
using detail::body_lease;

/// The thread is in a body of fork_join() for which there was none.
inline bool runs_without_seat() { return this_thread_state.unseated_joins != nullptr; }

/// Null: the calling thread has none.
inline seat* own_seat(const runtime& rt) { return rt.bound(); }
inline seat& seat_of(task_context& task) { return *task.internals().seat; }
/// Null: the thread is in no scheduler.
inline const seat* seat_of(fork_context c) { return fork_access::top(c)->stack->owner; }
inline runtime& scheduler_of(const seat& w) { return w.rt; }
inline std::uint16_t number_of(const seat& w) { return w.index; }
inline bool is_background(const seat& w) { return w.kind == seat_kind::background; }
inline bool runs_task(const seat& w) { return w.top != nullptr; }

/// The task that the thread runs; there is one.
struct running {
    task_id id;  // empty: it was posted
    priority_level level;
};
inline running running_on(const seat& w) {
    const runtime& rt = w.rt;
    const slot& s = rt.slot_at(w.top->slot);
    return {s.has(flag_posted) ? task_id{} : rt.id_of(w.top->slot),
            static_cast<priority_level>(rt.level_of(s))};
}

/// The thread must not begin with a further task of `level` that it has found: something comes
/// before it.
inline bool wanted_elsewhere(const seat& w, priority_level level) {
    return w.rt.wanted_elsewhere(w, static_cast<unsigned>(level));
}

/// Runs one task that `id` needs, if one is ready and this thread is one that should: in a task, on
/// a thread of the scheduler, or where there is nobody else. What is run may look at
/// take_help_deadline() and leave after `enough`.
void help_poll(runtime& rt, task_id id, nanoseconds enough);
/// INT64_MAX: none. What runs on top of this does not see it any more.
inline std::int64_t take_help_deadline(seat& w) {
    return std::exchange(w.leave_list_at, INT64_MAX);
}

// ---- threads of a module's own -----------------------------------------------------------------

/// A thread that is none of the scheduler's. With a chooser it passes the gate like a worker, from
/// start() to join(), so that a seed decides when it goes on. Stays where it is.
class own_thread {
public:
    own_thread() = default;
    own_thread(const own_thread&) = delete;
    own_thread& operator=(const own_thread&) = delete;
    /// False: the system refused it.
    bool start(runtime& rt, const platform::thread_request& how);
    /// Any thread but this one. Nothing if it was not started.
    void join();
    /// The thread rests in a wait, while another thread has frozen the scheduler, or is the one
    /// that asks. After that, and after all seats have come to rest.
    bool rests_in_wait() const;

private:
    void run();

    runtime* rt_ = nullptr;
    atomic<const atomic<bool>*> waits_in_{nullptr};  // see thread_state::module_wait
    seats_seat* seat_ = nullptr;  // null: without a chooser, or there was no seat
    platform::thread_request given_{}, request_{};
    platform::thread_handle thread_ = 0;
    atomic<bool> over_{false};
};

/// Another thread has frozen the scheduler. seq_cst: pairs with freeze(), which then asks
/// code_holder::runs_code(); a module's thread says that it runs code, and then asks this.
inline bool is_frozen(const runtime& rt) {
    return rt.frozen().on() && !rt.frozen().is_by_this_thread();
}
/// The thread sleeps until resume(), or `enough()`, at which it looks now and then.
template <class Enough>
void rest_while_frozen(runtime& rt, Enough&& enough) {
    const bool passes = rt.serial() != nullptr && rt.bound() != nullptr;
    if (passes) rt.serial()->leave(rt.bound()->index);
    rt.frozen().wait_until_over_or(enough);
    if (passes) rt.serial()->enter(rt.bound()->index);
}
/// The thread may be stopped: none of the library's bodies lies on its stack, that freeze() would
/// wait for.
inline bool may_rest() {
    return current_task() == nullptr && this_thread_state.module_wait == nullptr;
}

/// The calling thread passes the gate, so it must not sleep but by sleep_at_gate().
inline bool passes_gate(const runtime& rt) {
    return rt.serial() != nullptr && rt.bound() != nullptr;
}
struct gate_sleep {
    std::int64_t deadline = INT64_MAX;  // on the virtual clock
    bool waits = false;                 // for something, not for want of work
};
/// Sleeps until wake_at_gate() or the deadline. `still()`, under a lock that wake_at_gate() takes:
/// the thread is to sleep.
template <class Still>
void sleep_at_gate(runtime& rt, const void* key, const gate_sleep& how, Still&& still) {
    seat& w = *rt.bound();
    const gate_pass pass(rt, w);
    wait_record record;
    if (!rt.lot().enter(record, own_key(key), w.index, still)) return;
    bool in_time = true;
    // acquire: pairs with parking_lot::wake().
    while (in_time && !record.done.load(acquire)) {
        in_time = rt.serial()->block(w.index, {.deadline = how.deadline, .waits = how.waits});
    }
    rt.lot().leave(record);
}
/// Everybody who sleeps there.
inline void wake_at_gate(runtime& rt, const void* key) {
    if (rt.serial() != nullptr) rt.notify_all_at(own_key(key));
}
/// With a chooser, in ns; see gate::now().
inline std::int64_t virtual_now(const runtime& rt) { return rt.serial()->now(); }

// ---- sources -----------------------------------------------------------------------------------

/// attach() ─► arm() or watch() ─► arrived() on the source thread ─► … ─► detach(): see
/// outside/outside_room.hpp.
using detail::arrival;
using detail::outside_source;
inline outside_room& sources(runtime& rt) { return rt; }
/// Where ids are wanted it gets one: who makes it, and what that one had made before.
inline void attach_source(runtime& rt, outside_source& s) {
    if (rt.identified()) s.set_stable_id(rt.next_identity(*seat_lease(rt, nullptr)));
    rt.attach(s);
}
/// By the thread that has the seat; runs no code of the program but handlers where the completion
/// holds nothing. False: somebody was first.
inline bool settle(runtime& rt, seat& w, completion_id id, const completion_result& how = {}) {
    return rt.settle_completion(w, id, how);
}
inline bool settle_as_cancelled(runtime& rt, seat& w, completion_id id) {
    return rt.settle_as_cancelled(w, id);
}

/// Something waits for an open task, or comes after it or after what it is the last open part of; a
/// scope's waiter does not count. Relaxed loads: what comes at that moment may be missed.
bool is_awaited(const runtime& rt, task_id id);

// ---- waiting -----------------------------------------------------------------------------------

/// How a task failed, for one who received it. A receiver that drops it unseen leaves it to the
/// others who have received it; the last one to go hands it to the handler.
class failure {
public:
    explicit failure(runtime& rt, outcome* what = nullptr) : rt_(&rt), what_(what) {}
    ~failure() { rt_->drop(what_); }
    failure(failure&& other) noexcept
        : rt_(other.rt_), what_(std::exchange(other.what_, nullptr)) {}
    failure& operator=(failure&& other) noexcept {
        std::swap(rt_, other.rt_);
        std::swap(what_, other.what_);
        return *this;
    }
    explicit operator bool() const { return what_ != nullptr; }
    /// Rethrows it, if it is any; with a mere cancellation task_cancelled.
    void raise() { rt_->raise(std::exchange(what_, nullptr)); }
    /// Another owner has it and hears of it.
    void forget() {
        if (what_ != nullptr) rt_->forget(std::exchange(what_, nullptr));
    }
    outcome** receive() { return &what_; }

private:
    runtime* rt_;
    outcome* what_;
};

/// Helps until the task is complete; any thread. False: the time is up, by sources(rt).clock(); or,
/// and reported, that can never come about.
inline bool wait(runtime& rt, task_id id, help policy, failure& received,
                 nanoseconds timeout = no_limit) {
    return rt.wait_here({.task = id}, timeout, policy, received.receive());
}
/// How a task failed that is held (draft_kind::valued) and is complete; empty: it did not.
inline failure failure_of(runtime& rt, task_id id) {
    const slot& s = rt.slot_at(index_of(id.value));
    outcome* const own = s.has(flag_failed) ? rt.outcome_of(s) : nullptr;
    return failure(rt, own != nullptr ? rt.share(own) : nullptr);
}
/// Gives up the handle of a task that was opened as draft_kind::valued.
inline void release_handle(runtime& rt, task_id id) {
    rt.release_holder(*seat_lease(rt, nullptr), id);
}

struct cause {
    std::exception_ptr error;  // null: a mere cancellation
    std::uint32_t ordinal;     // the lowest one wins
    const char* by = nullptr;  // who threw, if not the task itself
};
/// The task has failed: its dependents and waiters get the cause.
inline void record_failure(runtime& rt, seat& w, task_id of, cause why) {
    rt.record_failure(w, index_of(of.value), std::move(why.error), why.ordinal, why.by);
}

// ---- tasks -------------------------------------------------------------------------------------

inline bool is_open(const runtime& rt, task_id id) { return rt.is_open(id); }
/// The id of a task between open_task() and publish_task().
inline task_id id_of(const runtime& rt, const draft& d) { return rt.id_of(index_of(d)); }
/// Makes the task run also when its scope is cancelled or a discarding shutdown begins. Called
/// before it is published.
inline void runs_always(const draft& d) { slot_of(d).flags.fetch_or(flag_finally, relaxed); }

/// The task was asked for and may run, and nobody has begun with it. Of a task that is complete by
/// the time of the answer this may say anything.
inline bool waits_for_thread(const runtime& rt, task_id id) {
    const slot& s = rt.slot_at(index_of(id.value));
    return rt.is_open(id) && s.waits_for.load(relaxed) == 0 && s.runner.load(relaxed) == UINT16_MAX;
}
inline bool has_begun(const runtime& rt, task_id id) {
    return rt.slot_at(index_of(id.value)).runner.load(relaxed) != UINT16_MAX;
}
/// The task's scope was cancelled, or nothing is run any more, and its body does not clean up yet.
/// For what is part of a task that is open.
inline bool is_unwanted(const runtime& rt, task_id id) {
    const slot& s = rt.slot_at(index_of(id.value));
    return (discarding(rt) || rt.scope_cancelled(s)) && !rt.is_shielded(s);
}

/// The task's stable id; 0: nobody asks for it.
inline std::uint64_t stable_id_of(const runtime& rt, task_id id) {
    return stable_id_at(rt, index_of(id.value));
}

/// One more share of the task's open work: it does not complete before end_share(). False: it is
/// complete already.
inline bool add_share(const runtime& rt, task_id id) {
    return add_open_work(rt.slot_at(index_of(id.value)).open, generation_of(id.value));
}
/// Adds a share for a caller that has one.
inline void add_another_share(const runtime& rt, task_id id) {
    // relaxed: the caller's own share keeps the count above 0.
    rt.slot_at(index_of(id.value)).open.fetch_add(1, relaxed);
}
inline void end_share(runtime& rt, seat& w, task_id id) { rt.own_work_done(w, index_of(id.value)); }
/// For messages. "": it is complete, or has none.
const char* name_of(runtime& rt, task_id id);

// ---- bodies ------------------------------------------------------------------------------------

/// The innermost body that a thread runs.
class running_body {
public:
    explicit running_body(seat& w) : seat_(w), body_(*w.top) {}

    /// The thread goes on with another task in this frame; the slot stays.
    void go_on_as(task_id id) const {
        body_.context.internals().id = id;
        body_.context.internals().id_taken = false;
        seat_.frames[std::min(seat_.depth - 1, seat::shown_depth)].show(id.value);
    }
    task_context& context() const { return body_.context; }
    /// The body threw; take_error() makes room for the next one.
    bool failed() const { return body_.error != nullptr; }
    std::exception_ptr take_error() const { return std::exchange(body_.error, nullptr); }

private:
    seat& seat_;
    running_task& body_;
};

/// A task that was opened (draft_kind::valued) runs on this thread, at once, for as long as this
/// lives, as if it had been taken from a queue. Its own work is done then.
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

/// When the last task or sleep of the thread ended.
inline std::int64_t last_end(const seat& w) { return w.stamp; }
/// So many bodies end without a look at the clock between them.
inline unsigned bodies_a_look(const seat& w) { return w.time_each; }
/// A body that began at `started` has returned: a long one is logged, statistics count it. `quiet`:
/// it may be long.
inline void note_duration(seat& w, const char* name, bool quiet, std::int64_t started) {
    w.rt.note_duration(w, name, quiet, started);
}
/// Notes `count` bodies since last_end() in that way.
inline void note_durations(seat& w, const char* name, bool quiet, unsigned count) {
    w.rt.note_durations(w, name, quiet, count);
}
/// What of the running body's time was spent elsewhere: in waits, or in what counts by itself.
inline void set_elsewhere(seat& w, std::int64_t ns) { w.elsewhere = ns; }

}  // namespace detail::core
BRAID_NAMESPACE_END
