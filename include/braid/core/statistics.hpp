#pragma once
// These statistics count from the construction of the scheduler. Reading the counts disturbs no
// thread. The counts are exact while the scheduler is at rest.

#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

struct scheduler_statistics {
    std::uint64_t created = 0;   // tasks that were created
    std::uint64_t executed = 0;  // tasks that ran and returned
    std::uint64_t failed = 0;    // tasks that ran and threw
    /// Tasks that never ran, because a predecessor failed, the scope was cancelled, or a shutdown
    /// discarded them.
    std::uint64_t cancelled = 0;
    std::uint64_t refused = 0;  // tasks refused because of a shutdown
    std::uint64_t stolen = 0;
    std::uint64_t jobs_stolen = 0;  // stolen second branches of joins
    std::uint64_t helped = 0;       // tasks that ran on top of a wait
    std::uint64_t parks = 0;
    std::uint64_t wakes = 0;
    std::uint64_t spilled = 0;  // ready tasks that went to the overflow list
    std::uint64_t reserves_started = 0;
    std::uint64_t reserves_refused = 0;  // if not 0, raise scheduler_options::max_reserves
    std::uint64_t long_tasks = 0;
    std::uint64_t unobserved_exceptions = 0;
    std::uint64_t deferred = 0;     // completions that were armed
    std::uint64_t settled = 0;      // completions that no longer keep their task open
    std::uint64_t suspensions = 0;  // how often a body released its thread
    std::uint64_t resumptions = 0;  // how often a suspended body resumed
    // The next four members count timers, and wakes of the thread that serves events from outside.
    std::uint64_t timers_armed = 0;  // each tick of a periodic timer counts
    std::uint64_t timers_fired = 0, timers_cancelled = 0;
    std::uint64_t source_wakes = 0;  // how often the thread that serves timers woke up
    /// With a chooser, this counts how often a thread did something that the chooser does not
    /// decide, so that the same choices can lead to a different run. The counted actions are a call
    /// from a foreign thread (including a thread of another scheduler), the registration of a
    /// main_thread, the end of blocking(), and each call within blocking().
    std::uint64_t unchosen = 0;

    std::uint64_t ended() const { return executed + failed + cancelled; }
    /// Returns how many tasks are suspended: their bodies have released their threads and have not
    /// resumed yet.
    std::uint64_t suspended() const { return suspensions - resumptions; }
    /// Returns how many completions are open, which means that the work outside the scheduler has
    /// not settled them yet.
    std::uint64_t outside() const { return deferred - settled; }
};

struct seat_statistics {
    const char* name = "";
    std::uint64_t executed = 0, stolen = 0, helped = 0, parks = 0;
    std::uint64_t busy_ns = 0;  // counted only with scheduler_options::statistics
};

/// One row for each task name. Rows are filled only if scheduler_options::statistics is on.
struct task_type_statistics {
    const char* name = "";
    std::uint64_t count = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t longest_ns = 0;
};

BRAID_NAMESPACE_END
