#pragma once
// Counts since the scheduler was made. Reading them disturbs nobody and is exact at rest.

#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

struct scheduler_statistics {
    std::uint64_t created = 0;    // tasks given to the scheduler
    std::uint64_t executed = 0;   // ran and returned
    std::uint64_t failed = 0;     // ran and threw
    std::uint64_t cancelled = 0;  // never ran: cause failed, scope cancelled, or discarded
    std::uint64_t refused = 0;    // spawned after shutdown
    std::uint64_t stolen = 0;
    std::uint64_t jobs_stolen = 0;  // second parts of joins
    std::uint64_t helped = 0;       // run on top of a wait
    std::uint64_t parks = 0;
    std::uint64_t wakes = 0;
    std::uint64_t spilled = 0;  // ready tasks that found the ring full
    std::uint64_t reserves_started = 0;
    std::uint64_t reserves_refused = 0;  // raise scheduler_options::max_reserves
    std::uint64_t long_tasks = 0;
    std::uint64_t unobserved_exceptions = 0;
    std::uint64_t deferred = 0;     // completions that were armed
    std::uint64_t settled = 0;      // of which the task that deferred waits no more
    std::uint64_t suspensions = 0;  // how often a body gave its thread back, and
    std::uint64_t resumptions = 0;  // went on
    // What comes from outside: timers, and the thread that serves them.
    std::uint64_t timers_armed = 0;  // each tick of a periodic one counts
    std::uint64_t timers_fired = 0, timers_cancelled = 0;
    std::uint64_t source_wakes = 0;  // how often that thread woke up
    /// With a chooser: how often a thread came at a moment that it does not decide, so that the
    /// same answers may give another run: a foreign thread's call (one of another scheduler's,
    /// too), a main_thread, the end of blocking() and each call within it.
    std::uint64_t unchosen = 0;

    std::uint64_t ended() const { return executed + failed + cancelled; }
    /// Tasks whose body has given its thread back and does not run again yet.
    std::uint64_t suspended() const { return suspensions - resumptions; }
    /// Completions that somebody outside has not ended.
    std::uint64_t outside() const { return deferred - settled; }
};

struct seat_statistics {
    const char* name = "";
    std::uint64_t executed = 0, stolen = 0, helped = 0, parks = 0;
    std::uint64_t busy_ns = 0;  // with scheduler_options::statistics
};

/// One row per task name; filled when scheduler_options::statistics is on.
struct task_type_statistics {
    const char* name = "";
    std::uint64_t count = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t longest_ns = 0;
};

BRAID_NAMESPACE_END
