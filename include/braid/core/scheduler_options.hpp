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

/// How long a thread that finds nothing polls before it sleeps. With fewer workers than cores, and
/// except for `power`, it polls for longer while it has found work after short gaps: twice the
/// mean of the last ones, 400 µs at most; and a wait watches what other threads still run for it
/// for 50 µs before it sleeps.
enum class parking : std::uint8_t {
    latency,   // 50 µs of looking
    balanced,  // 25 µs
    power,     // sleeps at once
};

/// How a thread of the scheduler appears to the operating system. Numbers: see scheduler_options.
struct thread_options {
    static constexpr std::size_t least_stack = std::size_t{64} << 10;
    static constexpr std::size_t most_stack = std::size_t{1} << 50;
    static constexpr int most_cpu = 1023;

    const char* name = nullptr;   // "<name> <i>"; at most 15 characters are visible
    std::size_t stack_bytes = 0;  // 0: the system's default; else least_stack..most_stack
    int nice = 0;                 // -20..19; needs the privilege for negative values
    /// Thread i stays on core first_cpu + i. automatic (-1): by hwloc, on fast cores first, on one
    /// hardware thread of each core before its siblings, behind as many as there are main threads;
    /// reading the topology takes some ms, once in a process. Your own threads are never touched.
    bool pin = false;
    int first_cpu = -1;  // -1..most_cpu
};

struct thread_callbacks {
    /// Called on each thread that the scheduler starts, first and last thing.
    void (*started)(void* user, const char* thread) = nullptr;
    void (*stopping)(void* user, const char* thread) = nullptr;
    void* user = nullptr;
};

/// A deadlock that was found: tasks that can never go on, because each needs another one of them.
/// `message`: a text of a few lines, valid during the call. Called on a thread of the scheduler or
/// on one that waits, without a lock; must neither wait nor call back into the scheduler, and what
/// it throws is logged. Without a function the log has it at level error.
struct deadlock_handler {
    void (*function)(void* user, const char* message) = nullptr;
    void* user = nullptr;
};

/// A thread that sleeps looks whether tasks wait for each other in a circle, and whether anything
/// can go on at all; see docs/manual/hangs.md. Each deadlock is reported once.
struct deadlock_options {
    /// How long such a thread has slept when it looks: 1 ms..1 hour. As long as nothing goes on the
    /// next looks come after 2, 4, … 64 times as long. `no_limit`: nobody looks. With a chooser
    /// every thread looks before it sleeps.
    nanoseconds after = seconds(1);
    /// Where nothing has gone on for so long, and only somebody outside can end that (a completion,
    /// a timer, a thread in blocking() or outside its waits), the log has that once, as a warning,
    /// with the tasks: 1 ms..1 day, found by a look. `no_limit`: never.
    nanoseconds outside = no_limit;
    deadlock_handler handler = {};
    /// Sentences say where in the source a task was made, "'load' (assets.cpp:41)". Costs 16 bytes
    /// for each task that is open at once, and some ns for each that is made.
    bool lines = false;
};

/// A number outside its range counts as the nearest inside, and is reported to the log. Where no
/// range is named, every value of the type is one.
struct scheduler_options {
    static constexpr int automatic = -1;
    static constexpr int most_workers = 128;
    static constexpr int most_main_threads = 4096;
    static constexpr int most_background_threads = 64;
    /// All kinds together; a thread that would need one more is not started, which is reported to
    /// the log.
    static constexpr int most_seats = 256;
    static constexpr std::uint32_t least_ring = 2, most_ring = std::uint32_t{1} << 20;

    /// For messages: which of several schedulers speaks. Outlives the scheduler.
    const char* name = "braid";

    /// Threads that run tasks, besides the program's own: 0..most_workers. automatic: usable cores
    /// (affinity mask and cgroup quota) minus `main_threads`. 0 is a working configuration: tasks
    /// run inside waits, and on a reserve thread when a wait cannot run them itself.
    int workers = automatic;
    /// Up to how many workers set_worker_count() may go: `workers`..most_workers. automatic:
    /// max(workers, usable cores); the quota is not looked at when `workers` is given.
    int max_workers = automatic;
    /// Threads of the program that take part, 0..most_main_threads; the constructing thread is the
    /// first of them.
    int main_threads = 1;
    /// Register the constructing thread under this name. Null: it stays a foreign thread.
    const char* main_thread = "main";
    /// Threads that stand in for waiting ones, created when first needed: 0..most_seats. When they
    /// are used up a wait polls, and runs work that it does not need only while nobody else runs
    /// any.
    int max_reserves = 64;
    /// Threads of the background class, created when first needed: 0..most_background_threads; 0
    /// counts as 1. Where the system refuses the thread that a task would need, the task is frame
    /// work of low priority.
    int background_threads = 1;
    /// Foreign threads that may be inside a call at the same moment, those not counted that only
    /// wait there: 0..most_seats; 0 counts as 1. Further calls that do not wait share one more
    /// seat, one at a time; a further wait runs nothing until a seat is free. What runs bodies on
    /// the calling thread (fork_join(), a loop, a pipeline, a job list run inline, shut_down()) is
    /// not held up, as they may wait for what another thread makes: it gets a seat of its own. Only
    /// where all seats are taken, or there is no memory, a loop runs serially and such a list is
    /// refused.
    int guests = 16;

    parking idle = parking::balanced;
    /// Ready tasks of normal priority that a thread holds in its own ring, least_ring..most_ring
    /// (rounded up to a power of two, 8 bytes each, of every thread); of the other levels 256 at
    /// most. More go to a shared list.
    std::uint32_t ring = 4096;
    /// A wait with less than this much stack left stops running tasks on top of itself.
    std::size_t stack_reserve_bytes = 96 * 1024;

    thread_options worker_threads = {.name = "worker"};
    thread_callbacks threads = {};

    /// Tasks longer than this are logged with name, thread and duration. 0 and below: never.
    nanoseconds long_task = milliseconds(10);
    /// Log the first time a wait parks a worker.
    bool warn_when_wait_parks = false;
    /// A shutdown waits for open completions, however long: somebody may still write into what they
    /// keep. After so long each of them is logged, once. `no_limit`: never.
    nanoseconds external_patience = seconds(10);
    deadlock_options deadlock = {};
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
