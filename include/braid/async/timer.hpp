#pragma once
// A timer starts tasks at a moment, once or again and again. No thread of the program waits for
// that moment.
//
//   braid::timer autosave(scheduler, {.name = "autosave", .in = 60s, .every = 60s, .slack = 1s},
//                         [&] { save(world); });

#include "braid/async/source_task.hpp"
#include "braid/base/export.hpp"
#include "braid/base/time.hpp"
#include "braid/core/scheduler.hpp"

#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN

struct timer_options {
    const char* name = "timer";  // also the name of the tasks; must outlive the timer
    /// The time from now to the first tick. Below 0 counts as 0. `no_limit` means that no tick
    /// comes before restart().
    nanoseconds in = {};
    /// The time from one tick to the next, on a grid that begins with the first tick, so that no
    /// delay adds up. 0 or less means that there is one tick only.
    nanoseconds every = {};
    /// A tick may come this much later. Timers whose times overlap then come together, at the cost
    /// of one wake-up for all. Below 0 counts as 0.
    nanoseconds slack = {};
    source_task task = {};
    std::source_location where = std::source_location::current();
};

/// Times are in ns on the scheduler's clock. This is active_policy::now(), or the clock of the
/// chooser, which begins at 0.
struct timer_tick {
    std::uint64_t number = 0;  // on the grid, from 0; missed ticks have a number, too
    std::int64_t due = 0;
    std::uint64_t missed = 0;  // ticks missed or refused right before this one
};

struct timer_report {
    std::uint64_t ticks = 0;    // ticks whose task was made
    std::uint64_t missed = 0;   // ticks that passed unserved, or while the task before was open
    std::uint64_t refused = 0;  // ticks without memory for the task; the handler was called
};

/// Each tick makes a task that calls `f`: f(), f(const timer_tick&), or either with a task_context&
/// first. There are never two of these tasks at a time: a periodic tick is missed while the task
/// before it is open, and the only tick of another timer waits for that task. A timer may be used
/// by one thread at a time, unless a function says otherwise. A task of the timer may call
/// everything except the destructor.
///
/// Ticks of all timers come from one thread of the scheduler. This thread is made when the first
/// timer is armed, and runs no `f`. If the system refuses the thread, or there is no memory,
/// armed() returns false and the scheduler's handlers are called. With 0 workers a tick's task runs
/// in the next wait that runs everything, or on a reserve thread. When a shutdown begins, all
/// timers are cancelled. If a scope in `task` is cancelled, this cancels tasks but not the timer.
///
/// A timer must be destroyed before its scheduler. Cost: about 200 bytes and the callable; each
/// tick costs as much as a spawned task.
class timer {
public:
    template <class F>
        requires detail::source_callable<std::decay_t<F>, const timer_tick&>
    timer(scheduler& s, const timer_options& options, F&& f) : rt_(s.internals()) {
        detail::source_body<const timer_tick&> body;
        if (body.emplace(rt_, std::forward<F>(f))) start(options, body);
    }
    /// Calls cancel(), then returns when the tick's task that may be open is complete, and helps
    /// with it. A task of the timer must not destroy the timer, because it would wait for itself:
    /// this is reported, and the memory is not released.
    BRAID_API ~timer();
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    /// Cancels the timer: no further tick comes. A task that was made before goes on. Returns false
    /// if no tick would have come, because the timer has ticked or was cancelled before. Any thread
    /// may call, even while a task of the timer runs.
    BRAID_API bool cancel();
    /// Starts the timer again as if it were made now, with another `in`. The numbers of the ticks
    /// go on. Returns false if no tick will come: there is no thread or memory for it, a shutdown
    /// began, or `in` is `no_limit`.
    BRAID_API bool restart(nanoseconds in);
    /// Returns true if a tick will come.
    BRAID_API bool armed() const;
    /// Returns the task of the latest tick, or an empty id if there was none. Any thread may call.
    BRAID_API task_id task() const;
    /// Returns the counts so far. Any thread may call.
    BRAID_API timer_report report() const;

private:
    struct state;
    BRAID_API void start(const timer_options& options,
                         detail::source_body<const timer_tick&>& body);
    void end();

    detail::runtime& rt_;
    state* state_ = nullptr;  // null if there was no memory, or the scheduler has ended
};

BRAID_NAMESPACE_END
