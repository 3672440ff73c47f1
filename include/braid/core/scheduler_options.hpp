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

/// Determines how long a thread that finds no work polls before it sleeps. If there are fewer
/// workers than cores, and the last gaps in which the thread had no work were short, it polls
/// longer: for twice the mean of these gaps, 400 µs at most. This extension does not apply to
/// `power`. Before a thread in a wait sleeps, it polls for other threads to finish the work that
/// the wait needs. It polls for 50 µs with fewer workers than cores, otherwise for 12 µs, and not
/// at all with `power`.
enum class parking : std::uint8_t {
    latency,   // polls for 50 µs
    balanced,  // polls for 25 µs
    power,     // sleeps at once
};

/// Determines how a thread of the scheduler appears to the operating system. A number outside its
/// range is clamped to the range; see scheduler_options.
struct thread_options {
    static constexpr std::size_t least_stack = std::size_t{64} << 10;
    static constexpr std::size_t most_stack = std::size_t{1} << 50;
    static constexpr int most_cpu = 1023;

    const char* name = nullptr;   // "<name> <i>"; the operating system shows 15 characters
    std::size_t stack_bytes = 0;  // least_stack..most_stack; 0: the operating system's default
    int nice = 0;                 // -20..19; negative values need a privilege
    /// Pins worker i to core first_cpu + i. If first_cpu is automatic (-1), hwloc determines the
    /// order of the hardware threads: fast cores come first, and one hardware thread of each core
    /// comes before its siblings. Workers then skip as many entries of that order as there are main
    /// threads. Reading the topology takes some ms, once in a process. The affinity of the
    /// program's own threads never changes.
    bool pin = false;
    int first_cpu = -1;  // -1..most_cpu
};

struct thread_callbacks {
    /// The scheduler calls both functions on each thread that it starts: `started` before anything
    /// else, and `stopping` after everything else.
    void (*started)(void* user, const char* thread) = nullptr;
    void (*stopping)(void* user, const char* thread) = nullptr;
    void* user = nullptr;
};

/// Receives each deadlock that is found. A deadlock is a set of tasks that can never continue,
/// because each of them needs another task of the set. `message` is a text of a few lines, valid
/// during the call. The function is called without a lock, on a thread of the scheduler or on a
/// thread that waits. It must neither wait nor call back into the scheduler. If it throws, the
/// exception is logged. Without a function the message goes to the log at level error.
struct deadlock_handler {
    void (*function)(void* user, const char* message) = nullptr;
    void* user = nullptr;
};

/// Options for finding deadlocks. A sleeping thread checks whether tasks wait for each other in a
/// circle, and whether any work can continue at all; see docs/manual/hangs.md. Each deadlock is
/// reported once.
struct deadlock_options {
    /// How long a thread sleeps before it checks for deadlocks: 1 ms..1 hour. While nothing
    /// progresses, the next checks follow after 2, 4, … 64 times this duration. With `no_limit` no
    /// thread checks. With a chooser and any other value, every thread checks before it sleeps.
    nanoseconds after = seconds(1);
    /// How long nothing may progress before the log gets one warning that lists the tasks: 1 ms..1
    /// day. It applies only while the standstill can end only through a completion, a timer, or a
    /// thread that is in blocking() or outside its waits. A check for deadlocks produces the
    /// warning. `no_limit` means never.
    nanoseconds outside = no_limit;
    deadlock_handler handler = {};
    /// Adds to messages where in the source a task was made: "'load' (assets.cpp:41)". This costs
    /// 16 bytes for each task that is open at the same time, and some ns for each task that is
    /// made.
    bool lines = false;
};

/// The options of a scheduler. A number outside its range is clamped to the range, and the log gets
/// a warning. If no range is given, every value of the type is allowed.
struct scheduler_options {
    static constexpr int automatic = -1;
    static constexpr int most_workers = 128;
    static constexpr int most_main_threads = 4096;
    static constexpr int most_background_threads = 64;
    /// The maximum number of seats of all kinds together. If no seat is left for a thread, the
    /// thread is not started, and the log reports this.
    static constexpr int most_seats = 256;
    static constexpr std::uint32_t least_ring = 2, most_ring = std::uint32_t{1} << 20;

    /// The name of the scheduler in messages, for programs with several schedulers. The text must
    /// outlive the scheduler.
    const char* name = "braid";

    /// The number of threads that run tasks, in addition to the program's own threads:
    /// 0..most_workers. `automatic` means the usable cores (affinity mask and cgroup quota) minus
    /// `main_threads`. With 0 workers, tasks run inside waits, or on a reserve thread if a wait
    /// cannot run them itself.
    int workers = automatic;
    /// The maximum that set_worker_count() allows: `workers`..most_workers. `automatic` means
    /// max(workers, usable cores). The cgroup quota is not read if `workers` is given.
    int max_workers = automatic;
    /// The number of threads of the program that take part: 0..most_main_threads. The constructing
    /// thread is the first of them.
    int main_threads = 1;
    /// The name under which the constructing thread is registered. If it is null, the constructing
    /// thread stays a foreign thread.
    const char* main_thread = "main";
    /// The maximum number of threads that stand in for waiting threads: 0..most_seats. They are
    /// created when first needed. If all of them are in use, a waiting thread polls. While it
    /// polls, it runs work that its wait does not need only if no other thread runs any work.
    int max_reserves = 64;
    /// The maximum number of threads of the background class: 0..most_background_threads, where 0
    /// means 1. They are created when first needed. If the operating system refuses to start the
    /// thread that a task needs, the task becomes frame work of low priority.
    int background_threads = 1;
    /// The maximum number of foreign threads that may be inside calls of the scheduler at the same
    /// moment: 0..most_seats, where 0 means 1. Threads that are only waiting inside a call do not
    /// count.
    ///
    /// Beyond the limit, calls that do not wait share one more seat, one call at a time. A wait
    /// beyond the limit runs nothing until a seat is free. The limit never delays a call that runs
    /// bodies on the calling thread (fork_join(), a loop, a pipeline, a job list run inline,
    /// shut_down()), because the bodies may wait for results of another thread. Such a call gets a
    /// seat of its own. If all seats are taken or there is no memory, a loop runs serially and an
    /// inline job list is refused.
    int guests = 16;

    parking idle = parking::balanced;
    /// The capacity of a thread's own ring for ready tasks of normal priority:
    /// least_ring..most_ring, rounded up to a power of two. Each entry costs 8 bytes in every
    /// thread. The rings for the other levels, and all rings of guests, hold 256 tasks at most.
    /// Tasks that do not fit go to a shared overflow list.
    std::uint32_t ring = 4096;
    /// If a waiting thread has less than this much stack left, it stops running tasks on top of its
    /// wait.
    std::size_t stack_reserve_bytes = 96 * 1024;

    thread_options worker_threads = {.name = "worker"};
    thread_callbacks threads = {};

    /// Tasks that take longer than this are logged with name, thread and duration. A value of 0 or
    /// less means never.
    nanoseconds long_task = milliseconds(10);
    /// Logs the first wait that parks a worker.
    bool warn_when_wait_parks = false;
    /// A shutdown waits for open completions without a limit, because the work outside the
    /// scheduler may still write into objects that they keep. After this time the log reports the
    /// open completions once: up to 16 of them by name, and how many more are open. `no_limit`
    /// means never.
    nanoseconds external_patience = seconds(10);
    deadlock_options deadlock = {};
    /// Counts and times tasks by name. This costs two clock reads per task.
    bool statistics = false;

    memory_hooks memory = {};
    std::size_t memory_budget_bytes = 0;  // 0 means no budget

    log_handler log = {};
    assertion_handler assertion = {};
    out_of_memory_handler out_of_memory = {};
    exception_handler unobserved_exception = {};

    /// Instruments for observing or controlling the scheduler. Each must outlive the scheduler.
    class observer* observer = nullptr;
    class chooser* chooser = nullptr;

    /// A prefix for the paths below /proc and /sys that are read to count the cores. Only tests
    /// need it.
    const char* system_root = "";
};

BRAID_NAMESPACE_END
