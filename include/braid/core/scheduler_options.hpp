#pragma once

#include "braid/base/handlers.hpp"
#include "braid/base/memory.hpp"
#include "braid/base/time.hpp"
#include "braid/core/task.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

class observer;
class chooser;

/// How long a thread that finds nothing looks on before it sleeps. With fewer workers than cores,
/// and except for `power`, a wait watches what other threads still run for it for 50 µs before
/// that.
enum class parking : std::uint8_t {
    latency,   // 50 µs of looking
    balanced,  // 25 µs
    power,     // sleeps at once
};

/// How a thread of the scheduler appears to the operating system.
struct thread_options {
    const char* name = nullptr;   // "<name> <i>"; at most 15 characters are visible
    std::size_t stack_bytes = 0;  // 0: the system's default
    int nice = 0;                 // -20..19; needs the privilege for negative values
    /// Thread i stays on core first_cpu + i. automatic (-1): by hwloc, on fast cores first, on one
    /// hardware thread of each core before its siblings, behind as many as there are main threads;
    /// reading the topology takes some ms, once in a process. Your own threads are never touched.
    bool pin = false;
    int first_cpu = -1;
};

struct thread_callbacks {
    /// Called on each thread that the scheduler starts, first and last thing.
    void (*started)(void* user, const char* thread) = nullptr;
    void (*stopping)(void* user, const char* thread) = nullptr;
    void* user = nullptr;
};

struct scheduler_options {
    static constexpr int automatic = -1;

    /// For messages: which of several schedulers speaks. Outlives the scheduler.
    const char* name = "braid";

    /// Threads that run tasks, besides the program's own. automatic: usable cores (affinity mask
    /// and cgroup quota) minus `main_threads`. 0 is a working configuration: tasks run inside
    /// waits, and on a reserve thread when a wait cannot run them itself.
    int workers = automatic;
    /// Up to how many workers set_worker_count() may go. automatic: max(workers, usable cores); the
    /// quota is not looked at when `workers` is given.
    int max_workers = automatic;
    /// Threads of the program that take part; the constructing thread is the first of them.
    int main_threads = 1;
    /// Register the constructing thread under this name. Null: it stays a foreign thread.
    const char* main_thread = "main";
    /// Threads that stand in for waiting ones, created when first needed.
    int max_reserves = 64;
    /// Threads of the background class, created when first needed.
    int background_threads = 1;
    /// Foreign threads that may be inside a call at the same moment, those not counted that only
    /// wait there; a further one blocks until one returns.
    int guests = 16;

    parking idle = parking::balanced;
    /// Ready tasks of normal priority that a thread holds in its own ring (rounded up to a power of
    /// two); of the other levels 256 at most. More go to a shared list.
    std::uint32_t ring = 4096;
    /// A wait with less than this much stack left stops running tasks on top of itself.
    std::size_t stack_reserve_bytes = 96 * 1024;

    thread_options worker_threads = {.name = "worker"};
    thread_callbacks threads = {};

    /// Tasks longer than this are logged with name, thread and duration. 0: never.
    nanoseconds long_task = milliseconds(10);
    /// Log the first time a wait parks a worker.
    bool warn_when_wait_parks = false;
    /// Count and time tasks by name. Costs two clock reads per task.
    bool statistics = false;

    memory_hooks memory = {};
    std::size_t memory_budget_bytes = 0;  // 0: none

    log_handler log = {};
    assertion_handler assertion = {};
    out_of_memory_handler out_of_memory = {};
    exception_handler unobserved_exception = {};

    /// Instruments; each must outlive the scheduler.
    class observer* observer = nullptr;
    class chooser* chooser = nullptr;

    /// Stands before /proc and /sys when the cores are counted; for tests.
    const char* system_root = "";
};

BRAID_NAMESPACE_END
