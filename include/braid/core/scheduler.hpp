#pragma once
// The scheduler: threads, tasks and waiting. Its interface leads to everything else in core.

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
    drain,    // every task runs; tasks may go on spawning
    discard,  // what has not started is cancelled (after_any tasks still run)
};

/// One sentence about a task, which scheduler::explain() returns. A longer sentence is cut off.
struct task_explanation {
    char text[1024] = "";
};

/// Returns the version of the compiled library.
BRAID_API version_number library_version();

class scheduler {
public:
    /// If there is no memory for the scheduler itself, calls the out-of-memory handler and then
    /// std::terminate, because a constructor has no failure to return.
    BRAID_API explicit scheduler(const scheduler_options& options = {});
    /// Shuts the scheduler down (drain) unless that was done before. No other thread may be inside
    /// a call. A task of this scheduler may call the destructor, also on top of a wait of the
    /// scheduler's owner. The rest of the teardown then happens on a separate thread after that
    /// task has ended. In that case other threads may be inside waits, but not inside the post()
    /// that made the task: post() looks for a thread to wake when the task is already running. Such
    /// a task must first wait for an event that is set after post() has returned.
    BRAID_API ~scheduler();
    scheduler(const scheduler&) = delete;
    scheduler& operator=(const scheduler&) = delete;

    // ---- making work: any thread ----------------------------------------------------------

    /// Runs `f` once. Nobody can wait for it. This is the cheapest way to run work. Returns false
    /// if the task is refused, as in spawn(). The scheduler keeps no copy of `f` then.
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
    /// Posts a task from an audio callback or another real-time thread. Bounded, allocates nothing,
    /// and never runs a task. Waking a thread that sleeps takes up to two system calls, under a
    /// lock that the sleeping thread holds only on its way to sleep and once after it has run for 1
    /// ms. Do not call it from a signal handler that interrupts a thread of the scheduler. With a
    /// chooser it takes a lock, so do not call it from any signal handler then. Returns false if
    /// there is no room, another foreign thread is inside try_post() or try_complete(), or a
    /// safepoint is in progress (try again later), or if the scheduler is shut down. A task may
    /// post while the scheduler drains, as with post(). `data` must live until `function` is
    /// called.
    BRAID_API bool try_post(void (*function)(void* data), void* data) noexcept;

    /// Returns the empty id if the task is refused: the scheduler is shut down, there is no memory,
    /// or the caller made a mistake. The handlers get the reason.
    template <detail::task_callable F>
    task_id spawn(const task_options& options, F&& f) {
        return detail::submit(*rt_, nullptr, options, detail::draft_kind::spawned,
                              std::forward<F>(f));
    }
    template <detail::task_callable F>
    task_id spawn(F&& f, std::source_location where = std::source_location::current()) {
        return spawn(task_options{.where = where}, std::forward<F>(f));
    }
    /// Spawns a join: a task without work of its own that completes when its predecessors and
    /// children are complete.
    BRAID_API task_id spawn(const task_options& options, empty_task);
    /// Spawns one task whose children are f(0) … f(count − 1), with one wake decision for all of
    /// them. `f` is copied once and shared, and it is destroyed when the last child has run.
    /// `count` is 0..most_bodies. A larger count is refused and reported.
    template <class F>
        requires std::is_invocable_v<const std::decay_t<F>&, std::size_t>
    task_id spawn_batch(const task_options& options, std::size_t count, F&& f);

    static constexpr std::size_t most_bodies = std::size_t{1} << 40;

    /// Begins a task in two phases: the task does not complete before task_builder::finish(),
    /// however fast it runs.
    template <detail::task_callable F>
    task_builder begin(const task_options& options, F&& f);
    BRAID_API task_builder begin(const task_options& options, empty_task);

    /// Spawns a task, and returns a future for the value that `f` returns.
    template <detail::task_callable F>
    auto async(const task_options& options, F&& f);
    template <detail::task_callable F>
    auto async(F&& f, std::source_location where = std::source_location::current()) {
        return async(task_options{.where = where}, std::forward<F>(f));
    }

    // ---- waiting: any thread; hold no lock that a task may want ------------------------------

    /// Returns when the task is complete, and runs what it needs meanwhile. If the task completes
    /// during the wait, its failure is rethrown, and a cancelled task throws task_cancelled. If a
    /// predecessor's failure has cancelled the task, that failure is thrown instead. For a task
    /// that completed earlier the wait only returns, and `state(id)` says how the task ended.
    BRAID_API void wait(task_id id, help policy = help::needed);
    /// Waits as wait() does, for `timeout` at most. Returns false if the time is up, or if the wait
    /// could never end, which is reported. Any `timeout` is allowed; see nanoseconds. A timeout of
    /// 0 looks once and runs at most one piece of needed work. If there are no workers and all
    /// other threads rest, a wait outside tasks runs one ready task of any kind before it is out of
    /// time, because no other thread would run it.
    BRAID_API bool wait_for(task_id id, nanoseconds timeout, help policy = help::needed);
    BRAID_API task_state state(task_id id) const;
    /// Returns true if the task is complete, however it ended.
    BRAID_API bool done(task_id id) const;

    /// Runs work until the event is set, and takes the event. Returns false if the time is up, or
    /// if the event belongs to another scheduler, which is reported.
    BRAID_API bool do_work_while_waiting_for(event& e, nanoseconds timeout = no_limit);
    /// Runs tasks on this thread, as a worker would, until `stop` is set. Returns false at once if
    /// the event belongs to another scheduler, which is reported.
    BRAID_API bool work_until(event& stop);
    /// Runs `f` while another thread stands in for this one. Use it for calls that block.
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
    /// completion was settled before: by another call, its deadline or a cancellation. Returns
    /// false also if the id did not come from defer() of this scheduler, which is reported. Tasks
    /// that become ready run on threads of the scheduler, or in the next wait if there are no
    /// workers. A thread that does not take part leases a guest's seat for the call. This may
    /// block, as all calls of such threads may, while many of them are inside or a safepoint is in
    /// progress. The scheduler's destructor waits for calls that settle a completion.
    BRAID_API bool complete(completion_id id, const completion_result& result = {});
    /// Settles a completion from a real-time thread, such as those that call try_post(). Bounded,
    /// allocates nothing, and takes only the locks that try_post() takes. `code` has the meaning of
    /// completion_result::code. Returns false as complete() does, and also if the call is not
    /// possible now: try again later. `completed(id)` tells the two cases apart.
    BRAID_API bool try_complete(completion_id id, int code = 0) noexcept;
    /// Returns true if the completion was settled.
    BRAID_API bool completed(completion_id id) const;
    /// Writes the completions that are open, `capacity` at most, and returns how many are open.
    /// Looks at every task, so use it for debug pages and messages, not in each frame.
    BRAID_API std::size_t open_completions(completion_info* rows, std::size_t capacity) const;

    // ---- threads ---------------------------------------------------------------------------

    BRAID_API unsigned worker_count() const;
    /// Sets the number of workers, 0..max_workers. A larger count counts as max_workers. Any thread
    /// may call it, also while tasks run. No task is lost.
    BRAID_API void set_worker_count(unsigned count);
    BRAID_API thread_ref worker_thread(unsigned index) const;
    /// Returns the calling thread, or an empty reference if that thread does not take part.
    BRAID_API thread_ref this_thread() const;
    /// Returns one more than the highest possible seat number, which is
    /// scheduler_options::most_seats. Use it as the size of an array of per-thread scratch.
    BRAID_API unsigned seat_count() const;

    /// Announces work that will come after the time `in`. Workers sleep until shortly before that
    /// moment (60 µs) and then poll, until 0.2 ms after it at most, so that the work finds them
    /// awake. In a frame loop, call it after the last wait of a frame, while the workers are still
    /// awake. It costs a wake otherwise. Only the latest call counts, and it counts once.
    /// `no_limit` cancels it. Any thread may call it.
    BRAID_API void expect_work(nanoseconds in);

    /// Returns when every thread of the scheduler, of its queues and of its rate threads is at rest
    /// between two bodies. Threads of the program keep running, but they begin no task in a wait,
    /// in a queue's drain() or in a push() that helps. While one thread has frozen the scheduler,
    /// another thread that calls freeze() waits until the first one has resumed. Calls on one
    /// thread nest, and each needs its own resume(). Any thread may call it. If a task calls it,
    /// the thread of that task keeps running.
    BRAID_API void freeze();
    /// Ends one freeze(). Any thread may call it. Without a freeze() it does nothing.
    BRAID_API void resume();

    /// Sets the levels of categories 1..255 (index = category). Tasks that are already queued move.
    /// `count` is 0..256. The whole call is refused and reported if `count` is larger or a level is
    /// not one of priority_level.
    BRAID_API void set_priority_table(const priority_level* levels, std::size_t count);

    // ---- the end ---------------------------------------------------------------------------

    /// Shuts the scheduler down. Any thread may call it. In a task of this scheduler it only begins
    /// the shutdown, and the destructor completes it.
    BRAID_API void shut_down(shutdown how = shutdown::drain);

    // ---- seeing ----------------------------------------------------------------------------

    BRAID_API scheduler_statistics statistics() const;
    BRAID_API seat_statistics statistics(unsigned seat) const;
    /// Writes up to `capacity` rows, and returns how many task types there are.
    BRAID_API std::size_t statistics(task_type_statistics* rows, std::size_t capacity) const;
    BRAID_API std::size_t bytes(memory_tag tag) const;
    BRAID_API std::uint64_t allocations() const;

    /// Says in one sentence for people what the task does or waits for, and what that one waits for
    /// in turn: "'load a' waits for 'load b', which is ready, and no thread has begun with it.".
    /// Any thread may ask for any id, also in a task. The sentence was true while explain() looked.
    /// explain() does not wait: while all seats of guests are taken it names tasks by their
    /// numbers. A task that ends while explain() names it completes on the calling thread, which
    /// then destroys what the task holds. Apart from that, and from a seat for a foreign thread if
    /// none is free, nothing is allocated. In the worst case explain() looks at every task and
    /// every wait.
    BRAID_API task_explanation explain(task_id id) const;

    detail::runtime& internals() { return *rt_; }

private:
    BRAID_API static bool begin_blocking(detail::runtime& rt);
    BRAID_API static void end_blocking(detail::runtime& rt, bool gave);

    detail::runtime* rt_;
};

/// Calls `say(user, id, text)` for each open task, with the sentence of scheduler::explain(), and
/// returns how many tasks were open. Use it for a console, or in a thread that a signal handler
/// wakes. Any thread may call it. `text` is valid during the call of `say`. Each sentence may look
/// at every task, so do not call it in each frame.
BRAID_API std::size_t explain_all(scheduler& s,
                                  void (*say)(void* user, task_id id, const char* text),
                                  void* user);

/// The most ids of one wait_all().
inline constexpr std::size_t most_awaited = 256;

/// Waits until all of these tasks are complete, and meanwhile runs what any of them needs: while
/// one of them runs on another thread, this one runs the next. Waits for one id after the other
/// leave that to other threads. Any thread. Empty ids and those of complete tasks are skipped;
/// ids that this scheduler has not issued are reported and skipped.
///
/// Throws the failure of the first id, in the order of `ids`, whose task failed during the wait; an
/// exception goes before a cancellation. The unobserved-exception handler gets the others. Returns
/// false if the time is up, if the wait could never end (reported), or for more than most_awaited
/// ids (reported); what failed until then is thrown instead. A `timeout` of 0 looks once and runs
/// at most one piece of needed work. Allocates nothing; uses about 60 bytes of stack for each id.
BRAID_API bool wait_all(scheduler& s, task_ids ids, nanoseconds timeout = no_limit,
                        help policy = help::needed);
inline bool wait_all(scheduler& s, std::initializer_list<task_id> ids,
                     nanoseconds timeout = no_limit, help policy = help::needed) {
    return wait_all(s, task_ids(ids.begin(), ids.size()), timeout, policy);
}

/// Registers the calling thread under a name for the life of this object. The thread can then be
/// the target of task_options::on, and it keeps its seat between waits. Destroy the object on the
/// same thread.
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
/// Returns the empty id outside tasks, and in posted tasks.
BRAID_API task_id id();
/// Returns "" outside tasks.
BRAID_API const char* name();
BRAID_API bool cancelled();
/// Calls task_context::defer() for the task that runs on this thread.
BRAID_API completion_id defer(completion_options with = {});
/// Lets a chooser run another thread here, as every call into the library does. Use it in code that
/// tasks share without calling the library. It does nothing without a chooser or outside tasks.
BRAID_API void point();
}  // namespace this_task

BRAID_NAMESPACE_END
