#pragma once
// Tasks that start at a moment, once or again and again. No thread of the program waits for it.
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
    const char* name = "timer";  // of its tasks, too; outlives the timer
    /// From now to the first tick; below 0 counts as 0. `no_limit`: not before restart().
    nanoseconds in = {};
    /// From one tick to the next, on a grid that begins with the first: no delay adds up. 0 and
    /// below: there is one tick only.
    nanoseconds every = {};
    /// A tick may come so much later. Timers whose times overlap then come together, at the cost
    /// of one wake-up for all; below 0 counts as 0.
    nanoseconds slack = {};
    source_task task = {};
    std::source_location where = std::source_location::current();
};

/// Times are ns on the scheduler's clock: active_policy::now(), or the chooser's, which begins at
/// 0.
struct timer_tick {
    std::uint64_t number = 0;  // on the grid, from 0; those missed have one, too
    std::int64_t due = 0;
    std::uint64_t missed = 0;  // right before this one
};

struct timer_report {
    std::uint64_t ticks = 0;    // whose task was made
    std::uint64_t missed = 0;   // went by as a whole, or while the task before was open
    std::uint64_t refused = 0;  // no memory for the task; the handler knows
};

/// Each tick makes a task that calls `f`: f(), f(const timer_tick&), or either with a task_context&
/// first. Never two of them at a time: a tick whose predecessor's task is still open is missed. One
/// timer is one thread's at a time; a task of its own may call all but the destructor.
///
/// Ticks come from one thread of the scheduler for all timers, made with the first one that is
/// armed; it runs no `f`. Where the system refuses it, or there is no memory, armed() is false, and
/// the handlers know. With 0 workers a tick's task runs in the next wait that runs everything, or
/// on a reserve thread. When a shutdown begins all timers are cancelled. A scope in `task` that is
/// cancelled cancels tasks, not the timer.
///
/// A timer must be destroyed before its scheduler. Cost: about 200 bytes and the callable; a tick
/// as much as a spawned task.
class timer {
public:
    template <class F>
        requires detail::source_callable<std::decay_t<F>, const timer_tick&>
    timer(scheduler& s, const timer_options& options, F&& f) : rt_(s.internals()) {
        detail::source_body<const timer_tick&> body;
        if (body.emplace(rt_, std::forward<F>(f))) start(options, body);
    }
    /// cancel(); returns when the tick's task that may be open is complete, and helps with it. Not
    /// from that task, which would wait for itself: that is reported, and memory stays.
    BRAID_API ~timer();
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    /// No further tick comes; a task that was made goes on. False: none would have come, as it
    /// has ticked, or was cancelled before. Any thread, also beside its tasks.
    BRAID_API bool cancel();
    /// Goes on as if it were made now, with another `in`; the ticks' numbers go on. False: as
    /// armed().
    BRAID_API bool restart(nanoseconds in);
    /// A tick will come.
    BRAID_API bool armed() const;
    /// The task of the latest tick; empty: there was none. Any thread.
    BRAID_API task_id task() const;
    /// Any thread.
    BRAID_API timer_report report() const;

private:
    struct state;
    BRAID_API void start(const timer_options& options,
                         detail::source_body<const timer_tick&>& body);
    void end();

    detail::runtime& rt_;
    state* state_ = nullptr;  // null: no memory, or the scheduler has ended
};

BRAID_NAMESPACE_END
