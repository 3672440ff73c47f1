#pragma once
// A timer makes a task at a given time, once or periodically. No thread of the program waits for
// that time.
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
    /// The time from now to the first tick. A value below 0 means 0. `no_limit` means that the
    /// timer does not tick until restart() is called.
    nanoseconds in = {};
    /// The period from one tick to the next. The ticks are on a grid that starts with the first
    /// tick, so delays do not add up. 0 or less means that the timer ticks only once.
    nanoseconds every = {};
    /// A tick may be late by up to this time. Timers whose intervals overlap then tick together,
    /// and the timer thread wakes up once for all these timers. A value below 0 means 0.
    nanoseconds slack = {};
    source_task task = {};
    std::source_location where = std::source_location::current();
};

/// Times are in ns on the scheduler's clock. This clock is active_policy::now(), or, if the
/// scheduler has a chooser, the clock of the chooser, which starts at 0.
struct timer_tick {
    std::uint64_t number = 0;  // on the grid, from 0; missed ticks have numbers, too
    std::int64_t due = 0;
    std::uint64_t missed = 0;  // ticks missed or refused right before this one
};

struct timer_report {
    std::uint64_t ticks = 0;    // ticks whose task was made
    std::uint64_t missed = 0;   // ticks not served in time, or due while a task was open
    std::uint64_t refused = 0;  // ticks without memory for the task (see out_of_memory_handler)
};

/// Each tick makes a task that calls f() or f(const timer_tick&). In both forms, `f` may have a
/// task_context& as its first parameter. Two tasks of a timer never run at the same time. If the
/// previous task is still open, a tick of a periodic timer is missed, and the tick of a one-shot
/// timer waits for the task. Only one thread at a time may use a timer, unless the comment of a
/// function says otherwise. A task of the timer may call all functions except the destructor.
///
/// One thread of the scheduler, the timer thread, serves all timers. The timer thread is started
/// when the first timer is armed, and never runs `f`. If the operating system refuses the thread,
/// or if there is no memory, the scheduler's handlers are called and armed() returns false. With 0
/// workers, the task of a tick runs in the next wait that may run any task, or on a reserve thread.
/// When a shutdown begins, all timers are cancelled. Cancelling the scope in timer_options::task
/// cancels the tasks of the timer, but not the timer.
///
/// A timer must be destroyed before its scheduler. Cost: about 200 bytes and the size of the
/// callable for each timer, and the cost of a spawned task for each tick.
class timer {
public:
    template <class F>
        requires detail::source_callable<std::decay_t<F>, const timer_tick&>
    timer(scheduler& s, const timer_options& options, F&& f) : rt_(s.internals()) {
        detail::source_body<const timer_tick&> body;
        if (body.emplace(rt_, std::forward<F>(f))) start(options, body);
    }
    /// Calls cancel(), then waits until the last task of the timer is complete. The calling thread
    /// helps with this task. A task of the timer must not destroy the timer, because the task would
    /// wait for itself. If it does, the assertion handler is called, and the memory of the timer is
    /// not released.
    BRAID_API ~timer();
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    /// Cancels the timer, so that it does not tick again. A task that was made before cancel()
    /// continues. Returns false if no tick was pending, because the only tick has passed or the
    /// timer was cancelled before. Any thread may call cancel(), even while a task of the timer
    /// runs.
    BRAID_API bool cancel();
    /// Restarts the timer as if it were constructed now with timer_options::in = `in`. The numbers
    /// of the ticks continue. Returns false if the timer will not tick, because there is no thread
    /// or memory for it, a shutdown began, or `in` is `no_limit`.
    BRAID_API bool restart(nanoseconds in);
    /// Returns true if the timer will tick again.
    BRAID_API bool armed() const;
    /// Returns the task of the latest tick, or an empty id if no tick has made a task. Any thread
    /// may call task().
    BRAID_API task_id task() const;
    /// Returns the counts so far. Any thread may call report().
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
