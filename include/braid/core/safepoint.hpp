#pragma once
// A safepoint is a point in time at which no code of a module runs and everything that could call
// the module is known. At a safepoint, the code of the module can be replaced.
//
//   braid::safepoint rest(scheduler, braid::milliseconds(20));
//   if (rest.reached() && rest.holders(old_code) == 0) switch_over();

#include "braid/base/time.hpp"
#include "braid/core/code_holders.hpp"

BRAID_NAMESPACE_BEGIN

class scheduler;

/// Brings a scheduler to rest. After a safepoint was reached and until it is destroyed, everything
/// is at rest as after scheduler::freeze(). During this time, a foreign thread blocks if it calls a
/// function that makes a task (try_post() returns false instead). A registered thread of the
/// program is not stopped unless it is in a wait, so it must not make work during this time.
///
/// The same thread must construct, use and destroy a safepoint. It may do so inside or outside a
/// task.
class safepoint {
public:
    /// Returns when everything is at rest, or when the time `within` (0 or more) has passed. If the
    /// time passes first, all work continues, and reached() is false.
    BRAID_API safepoint(scheduler& s, nanoseconds within);
    /// Calls resume() if the safepoint was reached.
    BRAID_API ~safepoint();
    safepoint(const safepoint&) = delete;
    safepoint& operator=(const safepoint&) = delete;

    bool reached() const { return reached_; }
    /// Returns the name or a description of a thread that did not come to rest in time, or "" if
    /// all threads did. The text is valid as long as the scheduler and its parts exist.
    const char* awake() const { return awake_; }

    /// Reports everything that holds code in the range, and returns the number of holders. The
    /// search covers these holders: tasks that have not run, coroutines (by the code of the frames
    /// that wait for each other), values in futures, completions, graphs, job lists, queues, rate
    /// threads, frame stages, handlers, observers, every code_holder, and the stacks of the threads
    /// at rest, frame by frame. A task that has not run is found by its callable and captures. If
    /// the callable is above 48 bytes, the task is found by the code alone. The search reads every
    /// task slot, and takes 5 to 50 µs for each thread that rests within a task. Call holders()
    /// only if reached() is true, and only on the thread of the safepoint.
    BRAID_API std::size_t holders(const code_range& of, code_search::found_fn found = nullptr,
                                  void* user = nullptr);

    /// Call this after the code was replaced. Holders then forget all data that they keep by
    /// addresses in the old code, such as names of job functions. The call does nothing unless the
    /// safepoint was reached. It allocates nothing.
    BRAID_API void forget(const code_range& code);

    /// Destroys the callable of a reported task at once, on the calling thread. The task completes
    /// as cancelled after the end of the safepoint, at the time when it would have run. Returns
    /// false if the task has started (a suspended coroutine has started), is a completion, or is
    /// part of a graph or batch. The `found` function of holders() may call cancel(), too.
    BRAID_API bool cancel(const held_code& what);

    /// Runs ready work for `time`, as a worker would. A thread may call this to wait until no
    /// holders remain. In a task, the call runs no work and only sleeps. Do not call let_run()
    /// within a safepoint.
    BRAID_API static void let_run(scheduler& s, nanoseconds time);

private:
    detail::runtime& rt_;
    bool reached_ = false;
    const char* awake_ = "";
};

BRAID_NAMESPACE_END
