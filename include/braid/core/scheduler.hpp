#pragma once
// The scheduler owns the threads, runs the tasks, and lets callers wait for them. All other parts
// of core are reached through its interface.

#include "braid/base/export.hpp"
#include "braid/base/time.hpp"
#include "braid/core/closure.hpp"
#include "braid/core/scheduler_options.hpp"
#include "braid/core/statistics.hpp"
#include "braid/core/task_context.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

class event;
class task_builder;
template <class T>
class future;

enum class shutdown : std::uint8_t {
    drain,    // runs every task; running tasks may spawn more
    discard,  // cancels tasks that have not started, except tasks with only `after_any` edges
};

/// Holds one sentence about a task, as scheduler::explain() returns it. A longer sentence is cut
/// off.
struct task_explanation {
    char text[1024] = "";
};

/// Returns the version of the compiled library.
BRAID_API version_number library_version();

class scheduler {
public:
    /// If the scheduler object itself cannot be allocated, the constructor calls the out-of-memory
    /// handler and then std::terminate, because a constructor cannot return an error.
    BRAID_API explicit scheduler(const scheduler_options& options = {});
    /// Shuts the scheduler down with shutdown::drain, unless it was shut down before. No other
    /// thread may be inside a call of this scheduler.
    ///
    /// A task of this scheduler may call the destructor, even if the task runs on top of a wait of
    /// the scheduler's owner. A separate thread then finishes the teardown after that task has
    /// ended. In this case other threads may still be inside waits, but no thread may still be
    /// inside the post() that made the task. The reason is that post() may still search for a
    /// thread to wake while the task is already running. The task must therefore first wait for an
    /// event that is set after the post() has returned.
    BRAID_API ~scheduler();
    scheduler(const scheduler&) = delete;
    scheduler& operator=(const scheduler&) = delete;

    // ---- making work: any thread ----------------------------------------------------------

    /// Posts a task that runs `f` once. No caller can wait for the task. This is the cheapest way
    /// to run work. Returns false if the task is refused, for the same reasons as in spawn(). The
    /// scheduler keeps no copy of a refused `f`.
    template <detail::task_callable F>
    bool post(F&& f, std::source_location where = std::source_location::current()) {
        return static_cast<bool>(detail::submit_plain(*rt_, nullptr, nullptr, nullptr,
                                                      detail::draft_kind::posted, where,
                                                      std::forward<F>(f)));
    }
    template <detail::task_callable F>
    bool post(const task_options& options, F&& f) {
        return static_cast<bool>(
            detail::submit(*rt_, nullptr, options, detail::draft_kind::posted, std::forward<F>(f)));
    }
    /// Posts a task from an audio callback or another real-time thread. The call is bounded,
    /// allocates nothing, and never runs a task. If it has to wake a sleeping thread, it makes up
    /// to two system calls under a lock. The sleeping thread holds that lock only on its way to
    /// sleep, and once after it has run for 1 ms.
    ///
    /// Do not call try_post() from a signal handler that interrupts a thread of the scheduler. With
    /// a chooser, do not call it from any signal handler, because with a chooser the call acquires
    /// a lock.
    ///
    /// Returns false if there is no room for a task, if another foreign thread is inside try_post()
    /// or try_complete(), or if a safepoint is in progress. Try again later in these cases. Also
    /// returns false if the scheduler is shut down. A task may still call try_post() while the
    /// scheduler drains, as with post(). `data` must live until `function` is called.
    BRAID_API bool try_post(void (*function)(void* data), void* data) noexcept;

    /// Spawns a task and returns its id. Returns the empty id if the task is refused: the scheduler
    /// is shut down, there is no memory, or the caller made a mistake. The reason is reported to
    /// the handlers.
    template <detail::task_callable F>
    task_id spawn(const task_options& options, F&& f) {
        return detail::submit(*rt_, nullptr, options, detail::draft_kind::spawned,
                              std::forward<F>(f));
    }
    template <detail::task_callable F>
    task_id spawn(F&& f, std::source_location where = std::source_location::current()) {
        return spawn(task_options{.where = where}, std::forward<F>(f));
    }
    /// Spawns a join. A join is a task without work of its own. It completes when its predecessors
    /// and children are complete.
    BRAID_API task_id spawn(const task_options& options, empty_task);
    /// Spawns one task whose children are f(0) … f(count − 1). The call decides only once whether
    /// to wake a thread, not once for each child. `f` is copied once and shared by the children. It
    /// is destroyed when the last child has run. `count` is 0..most_bodies. A larger count is
    /// refused, and the call reports it to the assertion handler.
    template <class F>
        requires std::is_invocable_v<const std::decay_t<F>&, std::size_t>
    task_id spawn_batch(const task_options& options, std::size_t count, F&& f);

    static constexpr std::size_t most_bodies = std::size_t{1} << 40;

    /// Starts to build a task. Children can be added to the task until task_builder::finish() is
    /// called. The task does not complete before finish(), even if its own work has ended.
    template <detail::task_callable F>
    task_builder begin(const task_options& options, F&& f);
    BRAID_API task_builder begin(const task_options& options, empty_task);

    /// Spawns a task and returns a future for the value that `f` returns.
    template <detail::task_callable F>
    auto async(const task_options& options, F&& f);
    template <detail::task_callable F>
    auto async(F&& f, std::source_location where = std::source_location::current()) {
        return async(task_options{.where = where}, std::forward<F>(f));
    }

    // ---- waiting: any thread; the caller must hold no lock that a task acquires --------------

    /// Waits until the task is complete. The calling thread runs work that the task needs during
    /// the wait. If the task fails during the wait, its exception is rethrown. If the task is
    /// cancelled during the wait, task_cancelled is thrown. If a failed predecessor caused the
    /// cancellation, the exception of that predecessor is thrown instead. For a task that completed
    /// before the wait, wait() only returns, and `state(id)` returns how the task ended.
    BRAID_API void wait(task_id id, help policy = help::needed);
    /// Waits as wait() does, but for `timeout` at most. Returns false if the time is up. If the
    /// wait could never end, the call logs an error, calls the assertion handler and returns false.
    /// Any `timeout` is allowed; see nanoseconds. With a timeout of 0 the call checks once and runs
    /// at most one piece of needed work. If there are no workers and all other threads are at rest,
    /// a wait outside tasks runs one ready task of any kind before it times out, because no other
    /// thread would run that task.
    BRAID_API bool wait_for(task_id id, nanoseconds timeout, help policy = help::needed);
    BRAID_API task_state state(task_id id) const;
    /// Returns true if the task is complete, however it ended.
    BRAID_API bool done(task_id id) const;

    /// Runs work until the event is set, and then clears an event with automatic reset. Returns
    /// false if the time is up. If the event belongs to another scheduler, the call reports this to
    /// the assertion handler and returns false.
    BRAID_API bool do_work_while_waiting_for(event& e, nanoseconds timeout = no_limit);
    /// Runs tasks on this thread, as a worker would, until `stop` is set. If the event belongs to
    /// another scheduler, the call reports this to the assertion handler and returns false at once.
    BRAID_API bool work_until(event& stop);
    /// Runs `f` on the calling thread while another thread stands in for the calling thread. Use it
    /// for calls that block.
    template <class F>
    decltype(auto) blocking(F&& f) {
        struct guard {
            detail::runtime& rt;
            bool gave;
            ~guard() { end_blocking(rt, gave); }
        } g{*rt_, begin_blocking(*rt_)};
        return std::forward<F>(f)();
    }

    // ---- work that others end: any thread ----------------------------------------------------

    /// Reports that the work of a completion has ended. Returns false, and changes nothing, if the
    /// completion was already settled by another call, its deadline or a cancellation. If the id
    /// did not come from defer() of this scheduler, the call reports this to the assertion handler
    /// and returns false. Tasks that become ready run on threads of the scheduler. If there are no
    /// workers, they run in the next wait.
    ///
    /// A foreign thread leases a guest's seat for the call. Like every call of a foreign thread,
    /// this call may block while many foreign threads are inside a call, or while a safepoint is in
    /// progress. The scheduler's destructor waits for calls that settle a completion.
    BRAID_API bool complete(completion_id id, const completion_result& result = {});
    /// Settles a completion from a real-time thread, such as a thread that calls try_post(). The
    /// call is bounded, allocates nothing, and acquires only the locks that try_post() acquires.
    /// `code` has the meaning of completion_result::code. Returns false for the same reasons as
    /// complete(). Also returns false if the call is not possible at the moment. The caller should
    /// then try again later. `completed(id)` distinguishes the two cases.
    BRAID_API bool try_complete(completion_id id, int code = 0) noexcept;
    /// Returns true if the completion is settled.
    BRAID_API bool completed(completion_id id) const;
    /// Writes up to `capacity` open completions to `rows`, and returns how many completions are
    /// open. The call examines every task, so use it for debug pages and messages, not in each
    /// frame.
    BRAID_API std::size_t open_completions(completion_info* rows, std::size_t capacity) const;

    // ---- threads ---------------------------------------------------------------------------

    BRAID_API unsigned worker_count() const;
    /// Sets the number of workers, 0..max_workers. A larger count is clamped to max_workers. Any
    /// thread may call it, even while tasks run. No task is lost.
    BRAID_API void set_worker_count(unsigned count);
    BRAID_API thread_ref worker_thread(unsigned index) const;
    /// Returns a reference to the calling thread, or an empty reference if the calling thread has
    /// no seat in this scheduler.
    BRAID_API thread_ref this_thread() const;
    /// Returns scheduler_options::most_seats, which is one more than the highest possible seat
    /// number. Use it as the size of an array of per-thread scratch.
    BRAID_API unsigned seat_count() const;

    /// Announces that work will arrive after the time `in`. Workers sleep until 60 µs before that
    /// moment. They then poll until at most 0.2 ms after that moment, so that the work finds them
    /// awake. In a frame loop, call it after the last wait of a frame, while the workers are still
    /// awake. If the workers already sleep, the call has to wake one of them. Each call replaces
    /// the previous announcement, and an announcement applies to one moment only. `no_limit`
    /// cancels the announcement. Any thread may call it.
    BRAID_API void expect_work(nanoseconds in);

    /// Starts no more bodies. Returns when every thread of the scheduler, of its queues and of its
    /// rate threads is at rest: it runs no body, or its body sleeps in a wait. Threads of the
    /// program keep running. While the scheduler is frozen, these threads start no tasks in their
    /// waits and no pieces of work in queue::drain() or in a queue::push() to a full queue. If
    /// another thread has frozen the scheduler, the caller waits until the scheduler is resumed.
    /// Calls on one thread nest, and each call needs its own resume(). Any thread may call
    /// freeze(). If a task calls it, the thread of that task keeps running.
    BRAID_API void freeze();
    /// Ends one freeze(). Any thread may call it. If the scheduler is not frozen, the call does
    /// nothing.
    BRAID_API void resume();

    /// Sets the priority levels of categories 1..255. The index in `levels` is the category. Tasks
    /// that are already queued move to their new level. `count` is 0..256. If `count` is larger or
    /// an entry is not a valid priority_level, the call changes nothing and reports this to the
    /// assertion handler.
    BRAID_API void set_priority_table(const priority_level* levels, std::size_t count);

    // ---- the end ---------------------------------------------------------------------------

    /// Shuts the scheduler down and returns when all of its work has ended. Any thread may call it.
    /// If a task of this scheduler calls it, the call only starts the shutdown, and the destructor
    /// completes it.
    BRAID_API void shut_down(shutdown how = shutdown::drain);

    // ---- statistics and explanations -------------------------------------------------------

    BRAID_API scheduler_statistics statistics() const;
    BRAID_API seat_statistics statistics(unsigned seat) const;
    /// Writes up to `capacity` rows, and returns how many task types exist.
    BRAID_API std::size_t statistics(task_type_statistics* rows, std::size_t capacity) const;
    BRAID_API std::size_t bytes(memory_tag tag) const;
    BRAID_API std::uint64_t allocations() const;

    /// Returns one readable sentence about what the task does or waits for. If the task waits for
    /// another task, the sentence continues with that task: "'load a' waits for 'load b', which is
    /// ready, and no thread has begun with it.". Any thread may call it for any id, inside or
    /// outside a task. The sentence describes the state at the time of the call and may be out of
    /// date afterwards.
    ///
    /// explain() does not wait. If a foreign thread gets no seat at once, because all seats of
    /// guests are taken or the scheduler is frozen, the sentence shows the numbers of tasks instead
    /// of their names. If a task ends while explain() reads the task's name, the task completes on
    /// the calling thread. This thread then destroys the objects that the task holds. explain()
    /// itself allocates nothing, except a seat for a foreign thread if no seat is free. In the
    /// worst case explain() examines every task and every wait.
    BRAID_API task_explanation explain(task_id id) const;

    detail::runtime& internals() { return *rt_; }

private:
    BRAID_API static bool begin_blocking(detail::runtime& rt);
    BRAID_API static void end_blocking(detail::runtime& rt, bool gave);

    detail::runtime* rt_;
};

/// Calls `say(user, id, text)` for each open task and returns how many tasks were open. `text` is
/// the sentence of scheduler::explain(), and it is valid only during the call of `say`. Use
/// explain_all() for a console, or in a thread that a signal handler wakes. Any thread may call it.
/// Each sentence may examine every task, so do not call it in each frame.
BRAID_API std::size_t explain_all(scheduler& s,
                                  void (*say)(void* user, task_id id, const char* text),
                                  void* user);

/// The maximum number of ids that one call of wait_all() accepts.
inline constexpr std::size_t most_awaited = 256;

/// Waits until all of these tasks are complete. The caller runs work that any of them needs during
/// the wait. While one of the tasks runs on another thread, the caller runs another of the tasks.
/// With a separate wait for each id, other threads would have to run those tasks. Any thread may
/// call it. Empty ids and ids of complete tasks are skipped. Ids that this scheduler has not issued
/// are reported to the assertion handler and skipped.
///
/// If tasks fail during the wait, wait_all() throws the failure of the first failed task in the
/// order of `ids`. An exception takes precedence over a cancellation. The other exceptions go to
/// the unobserved-exception handler. Returns false if the time is up, if the wait could never end,
/// or if there are more than most_awaited ids. The last two cases are reported to the assertion
/// handler. If the time is up and a task has failed by then, the failure is thrown instead.
/// `timeout` applies to the whole call and has the same meaning as for scheduler::wait_for(), with
/// one difference: if one of the tasks needs the caller, this is reported even if `timeout` is 0.
/// The call uses about 60 bytes of stack for each id and, like every wait, allocates at most a seat
/// for a foreign thread.
BRAID_API bool wait_all(scheduler& s, task_ids ids, nanoseconds timeout = no_limit,
                        help policy = help::needed);
inline bool wait_all(scheduler& s, std::initializer_list<task_id> ids,
                     nanoseconds timeout = no_limit, help policy = help::needed) {
    return wait_all(s, task_ids(ids.begin(), ids.size()), timeout, policy);
}

/// Registers the calling thread under a name for the life of this object. The thread can then be
/// the target of task_options::on, and it keeps its seat between waits. The object must be
/// destroyed on the same thread.
class main_thread {
public:
    BRAID_API main_thread(scheduler& s, const char* name);
    BRAID_API ~main_thread();
    main_thread(const main_thread&) = delete;
    main_thread& operator=(const main_thread&) = delete;
    thread_ref ref() const { return ref_; }

private:
    detail::runtime& rt_;
    thread_ref ref_;
};

namespace this_task {
/// Returns the id of the running task. Returns the empty id outside tasks and in posted tasks.
BRAID_API task_id id();
/// Returns the name of the running task, or "" outside tasks.
BRAID_API const char* name();
BRAID_API bool cancelled();
/// Calls task_context::defer() for the task that runs on this thread.
BRAID_API completion_id defer(completion_options with = {});
/// Lets a chooser switch to another thread here, as every call into the library does. Use it where
/// tasks access shared data without calling the library. It does nothing without a chooser or
/// outside tasks.
BRAID_API void point();
}  // namespace this_task

BRAID_NAMESPACE_END
