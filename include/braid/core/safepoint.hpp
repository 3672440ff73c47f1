#pragma once
// A point in time at which no code of a module runs and everything that could call it is known, so
// that the code can be replaced.
//
//   braid::safepoint rest(scheduler, braid::milliseconds(20));
//   if (rest.reached() && rest.holders(old_code) == 0) switch_over();

#include "braid/base/time.hpp"
#include "braid/core/code_holders.hpp"

BRAID_NAMESPACE_BEGIN

class scheduler;

/// While this object lives, everything rests as after scheduler::freeze(). A foreign thread that
/// makes a task waits in that call. A registered thread of the program that is in no wait is not
/// stopped, so it must not make work in the meantime.
///
/// One thread constructs, uses and destroys a safepoint. It may do so in a task or outside.
class safepoint {
public:
    /// Returns when everything rests, or when `within` (0 or more) has passed. If the time has
    /// passed, everything goes on, and reached() is false.
    BRAID_API safepoint(scheduler& s, nanoseconds within);
    /// Calls resume() if the safepoint was reached.
    BRAID_API ~safepoint();
    safepoint(const safepoint&) = delete;
    safepoint& operator=(const safepoint&) = delete;

    bool reached() const { return reached_; }
    /// Returns the name or a description of a thread that did not come to rest in time, or "" if
    /// all did. The text is valid as long as the scheduler and its parts.
    const char* awake() const { return awake_; }

    /// Reports everything that holds the code, and returns how many holders there are. The search
    /// covers tasks that have not run (by their callable and captures, or only by the code of a
    /// callable above 48 bytes), coroutines (by the code of the frames that wait for each other),
    /// values in futures, completions, graphs, job lists, queues, rate threads, frame stages,
    /// handlers, observers, every code_holder, and the stacks of the threads that rest, frame by
    /// frame. It looks at every task slot, and takes 5 to 50 µs for each thread that rests within a
    /// task. Call it only if reached() is true, and from this thread.
    BRAID_API std::size_t holders(const code_range& of, code_search::found_fn found = nullptr,
                                  void* user = nullptr);

    /// Call this after the code was replaced. Holders forget what they know by addresses in it,
    /// such as names of job functions. The call does nothing unless the safepoint was reached. It
    /// allocates nothing.
    BRAID_API void forget(const code_range& code);

    /// Destroys the callable of a reported task at once, on this thread. After the end of the
    /// safepoint, the task completes as cancelled when it would have run. Returns false if the task
    /// has begun (a coroutine that waits has begun), is a completion, or is part of a graph or
    /// batch. May also be called within `found`.
    BRAID_API bool cancel(const held_code& what);

    /// Runs whatever is ready for `time`, as a worker would, for a thread that waits until the
    /// holders are gone. In a task it only sleeps. Do not call it within a safepoint.
    BRAID_API static void let_run(scheduler& s, nanoseconds time);

private:
    detail::runtime& rt_;
    bool reached_ = false;
    const char* awake_ = "";
};

BRAID_NAMESPACE_END
