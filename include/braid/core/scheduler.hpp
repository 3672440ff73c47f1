#pragma once
// The scheduler: threads, tasks, waiting. Everything else in core is named by it.

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

/// A sentence about a task; see scheduler::explain(). What is longer is cut off.
struct task_explanation {
    char text[1024] = "";
};

/// The version of the compiled library.
BRAID_API version_number library_version();

class scheduler {
public:
    /// Calls std::terminate when there is no memory for the scheduler itself, after the
    /// out-of-memory handler: nothing could be returned.
    BRAID_API explicit scheduler(const scheduler_options& options = {});
    /// Shuts down (drain) unless that was done. No other thread may be inside a call. From a task
    /// of its own: allowed, also on top of a wait of the owner's; the rest of the teardown then
    /// happens on a thread of its own after the task has ended. Only waits may be in progress, not
    /// the post() that made this task: it looks for a thread to wake when the task is already
    /// running. Such a task first waits for an event that is set after post() has returned.
    BRAID_API ~scheduler();
    scheduler(const scheduler&) = delete;
    scheduler& operator=(const scheduler&) = delete;

    // ---- making work: any thread ----------------------------------------------------------

    /// Runs `f` once, nobody waits for it. The cheapest way in. False: refused, as in spawn(), and
    /// `f` is destroyed.
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
    /// A post() for audio callbacks and the like: bounded, no allocation, no help. Waking a thread
    /// that sleeps is up to two system calls, under a lock that this thread holds only on its way
    /// to sleep. Not for signal handlers that interrupt a thread of the scheduler, and, as it takes
    /// a lock with a chooser, then for none. False: no room, or a safepoint, try again later; or
    /// shut down. A task may post while the scheduler drains, as with post(). `data` must live
    /// until the call.
    BRAID_API bool try_post(void (*function)(void* data), void* data) noexcept;

    /// Empty id: refused (shut down, out of memory, or a caller's mistake; the handlers know).
    template <detail::task_callable F>
    task_id spawn(const task_options& options, F&& f) {
        return detail::submit(*rt_, nullptr, options, detail::draft_kind::spawned,
                              std::forward<F>(f));
    }
    template <detail::task_callable F>
    task_id spawn(F&& f, std::source_location where = std::source_location::current()) {
        return spawn(task_options{.where = where}, std::forward<F>(f));
    }
    /// A join: complete when its predecessors and children are.
    BRAID_API task_id spawn(const task_options& options, empty_task);
    /// One task whose children are f(0) … f(count − 1); one wake decision for all of them.
    /// `f` is copied once and shared; it is destroyed when the last has run. `count`:
    /// 0..most_bodies; more is refused and reported.
    template <class F>
        requires std::is_invocable_v<const std::decay_t<F>&, std::size_t>
    task_id spawn_batch(const task_options& options, std::size_t count, F&& f);

    static constexpr std::size_t most_bodies = std::size_t{1} << 40;

    /// Two-phase building: the task does not complete before finish(), however fast it runs.
    template <detail::task_callable F>
    task_builder begin(const task_options& options, F&& f);
    BRAID_API task_builder begin(const task_options& options, empty_task);

    /// A spawn() whose future has the value that `f` returns.
    template <detail::task_callable F>
    auto async(const task_options& options, F&& f);
    template <detail::task_callable F>
    auto async(F&& f, std::source_location where = std::source_location::current()) {
        return async(task_options{.where = where}, std::forward<F>(f));
    }

    // ---- waiting: any thread; hold no lock that a task may want ------------------------------

    /// Returns when the task is complete, running what it needs meanwhile. Rethrows the task's
    /// failure when the task completed during the wait; a task that completed earlier only ends the
    /// wait, and `state(id)` says how it ended. A cancelled task throws task_cancelled.
    BRAID_API void wait(task_id id, help policy = help::needed);
    /// False: the time is up; or the wait could never end, which was reported. Any `timeout`: see
    /// nanoseconds; 0 looks once and runs at most one piece of needed work. Without workers, and
    /// where everybody else rests, it runs one of any work before it is out of time, as nobody else
    /// would.
    BRAID_API bool wait_for(task_id id, nanoseconds timeout, help policy = help::needed);
    BRAID_API task_state state(task_id id) const;
    /// True for a task that is complete, however it ended.
    BRAID_API bool done(task_id id) const;

    /// Works until the event is set (and takes it). False: the time is up.
    BRAID_API bool do_work_while_waiting_for(event& e, nanoseconds timeout = no_limit);
    /// Runs tasks on this thread, as a worker would, until `stop` is set. False, at once and
    /// reported: the event is another scheduler's.
    BRAID_API bool work_until(event& stop);
    /// Runs `f` while another thread stands in for this one. For calls that block.
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

    /// The work of that completion has ended. False: somebody was first (another call, its
    /// deadline, a cancellation), and nothing has changed. What it made ready runs on threads of
    /// the scheduler; without workers in the next wait. A thread that does not take part leases a
    /// guest's seat for it: that may block, as all calls of such threads do, while many are inside
    /// or the scheduler is frozen. The scheduler's destructor waits for calls that settle.
    BRAID_API bool complete(completion_id id, const completion_result& result = {});
    /// Bounded, no lock, no allocation: for threads like those that try_post(). `code`: as of
    /// completion_result. False also: not now, try again; `completed(id)` tells the two apart.
    BRAID_API bool try_complete(completion_id id, int code = 0) noexcept;
    /// Somebody has settled it.
    BRAID_API bool completed(completion_id id) const;
    /// Writes those that are open, `capacity` at most, and returns how many there are. Looks at
    /// every task: for pages and messages, not for each frame.
    BRAID_API std::size_t open_completions(completion_info* rows, std::size_t capacity) const;

    // ---- threads ---------------------------------------------------------------------------

    BRAID_API unsigned worker_count() const;
    /// 0..max_workers, while running, from any thread; more counts as max_workers. Nothing is lost.
    BRAID_API void set_worker_count(unsigned count);
    BRAID_API thread_ref worker_thread(unsigned index) const;
    /// The calling thread, if it takes part.
    BRAID_API thread_ref this_thread() const;
    /// One more than the highest seat: the size of an array of per-thread scratch.
    BRAID_API unsigned seat_count() const;

    /// Work will come in that time: workers sleep until shortly before (60 µs) and then poll, 0.2
    /// ms beyond it at most, so that the work finds them awake. For frame loops: call it after the
    /// last wait of a frame, while the workers are still awake; it costs a wake otherwise. The
    /// latest call counts, and counts once; `no_limit` cancels it. Any thread.
    BRAID_API void expect_work(nanoseconds in);

    /// Returns when every thread of the scheduler, of its queues and with a rate is at rest between
    /// two bodies. Threads of the program run on; in their waits they begin with nothing, also in a
    /// queue's drain() or a push() that helps. While one thread has frozen the scheduler, the next
    /// one that wants to waits here until it has resumed; on one thread they nest, and each wants
    /// its resume(). Any thread; from a task its own thread runs on.
    BRAID_API void freeze();
    /// Any thread. Without a freeze() it does nothing.
    BRAID_API void resume();

    /// Levels for categories 1..255 (index = category). Tasks that are already queued move.
    /// `count`: 0..256. Refused and reported as a whole: more of them, or a level that is none.
    BRAID_API void set_priority_table(const priority_level* levels, std::size_t count);

    // ---- the end ---------------------------------------------------------------------------

    /// From any thread; from a task of its own it only begins, the destructor ends it.
    BRAID_API void shut_down(shutdown how = shutdown::drain);

    // ---- seeing ----------------------------------------------------------------------------

    BRAID_API scheduler_statistics statistics() const;
    BRAID_API seat_statistics statistics(unsigned seat) const;
    /// Up to `capacity` rows; returns how many types there are.
    BRAID_API std::size_t statistics(task_type_statistics* rows, std::size_t capacity) const;
    BRAID_API std::size_t bytes(memory_tag tag) const;
    BRAID_API std::uint64_t allocations() const;

    /// What that task does or waits for, and what that one waits for in turn, in one sentence for
    /// people: "'load a' waits for 'load b', which is ready, and no thread has begun with it.". Any
    /// id, any thread, also in a task; what it says was so while it looked. It does not wait: while
    /// all seats of guests are taken it names tasks by their numbers. A task that ends while it is
    /// named ends on the calling thread, and destroys there what it holds; apart from that nothing
    /// is allocated. Looks at every task and every wait in the worst case.
    BRAID_API task_explanation explain(task_id id) const;

    detail::runtime& internals() { return *rt_; }

private:
    BRAID_API static bool begin_blocking(detail::runtime& rt);
    BRAID_API static void end_blocking(detail::runtime& rt, bool gave);

    detail::runtime* rt_;
};

/// Calls `say(user, id, text)` for each open task, with what scheduler::explain() says of it, and
/// returns how many there were: for a console, or a thread that a signal handler wakes. Any thread;
/// `text` is valid during the call. Looks at every task for each; not for each frame.
BRAID_API std::size_t explain_all(scheduler& s,
                                  void (*say)(void* user, task_id id, const char* text),
                                  void* user);

/// Registers the calling thread under a name for the life of this object: it can be the target of
/// task_options::on and keeps its seat between waits. Destroy it on the same thread.
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
/// Empty outside tasks, and in posted ones.
BRAID_API task_id id();
/// "" outside tasks.
BRAID_API const char* name();
BRAID_API bool cancelled();
/// task_context::defer() of the task that runs on this thread.
BRAID_API completion_id defer(completion_options with = {});
/// Says to a chooser that another thread may go on here, as every call into the library does: for
/// code that tasks share without the library. Nothing without a chooser, and outside tasks.
BRAID_API void point();
}  // namespace this_task

BRAID_NAMESPACE_END
