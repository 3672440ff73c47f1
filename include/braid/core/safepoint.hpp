#pragma once
// A point in time at which no code of a module runs, and all that could call it is known: for
// replacing that code.
//
//   braid::safepoint rest(scheduler, braid::milliseconds(20));
//   if (rest.reached() && rest.holders(old_code) == 0) switch_over();

#include "braid/base/time.hpp"
#include "braid/core/code_holders.hpp"

BRAID_NAMESPACE_BEGIN

class scheduler;

/// Everything rests while this lives, as after freeze(), and calls of threads outside that make
/// tasks wait. A registered thread of the program's that is in no wait is not stopped: it makes no
/// work meanwhile.
///
/// One thread, in a task or not. Destroyed on the same thread.
class safepoint {
public:
    /// Returns when everything rests, or after `within`, 0 or more; then everything goes on.
    BRAID_API safepoint(scheduler& s, nanoseconds within);
    /// resume().
    BRAID_API ~safepoint();
    safepoint(const safepoint&) = delete;
    safepoint& operator=(const safepoint&) = delete;

    bool reached() const { return reached_; }
    /// A thread, or what has one, that did not come to rest in time; "" if all did. Valid as long
    /// as the scheduler and its parts.
    const char* awake() const { return awake_; }

    /// Reports all that holds the code; returns how many that are. Asked are tasks that have not
    /// run (callable and captures; one above 48 bytes only by its code), coroutines by the code of
    /// the frames that wait for each other, values in futures, graphs,
    /// job lists, queues, rate threads, frame stages, handlers, observers, every code_holder, and
    /// the stacks of the threads that rest, frame by frame. Costs a look at every task slot, and
    /// 5 to 50 µs for a thread that rests within a task. Reached only; from this thread.
    BRAID_API std::size_t holders(const code_range& of, code_search::found_fn found = nullptr,
                                  void* user = nullptr);

    /// The code is replaced: holders forget what they know by its addresses, such as names of job
    /// functions. Reached only; no allocation.
    BRAID_API void forget(const code_range& code);

    /// The callable of a task that was reported is destroyed at once, by this thread; after the end
    /// of this the task completes as cancelled when it would have run. False: it has begun (a
    /// coroutine that waits has), or is part of a graph or batch. Also within `found`.
    BRAID_API bool cancel(const held_code& what);

    /// Runs whatever is ready for that time, as a worker would; for one that waits for holders to
    /// go. Not within a safepoint. In a task it only sleeps.
    BRAID_API static void let_run(scheduler& s, nanoseconds time);

private:
    detail::runtime& rt_;
    bool reached_ = false;
    const char* awake_ = "";
};

BRAID_NAMESPACE_END
