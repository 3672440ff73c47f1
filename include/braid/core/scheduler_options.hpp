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

/// How long a thread that finds no work polls before it sleeps. With fewer workers than cores, and
/// except for `power`, the thread polls for longer while it has found work after short gaps: twice
/// the mean of the last gaps, 400 µs at most. Before a wait sleeps, it watches what other threads
/// still run for it: for 50 µs with fewer workers than cores, else for 12 µs, and not at all with
/// `power`.
enum class parking : std::uint8_t {
    latency,   // polls for 50 µs
    balanced,  // polls for 25 µs
    power,     // sleeps at once
};

/// How a thread of the scheduler appears to the operating system. scheduler_options says what
/// becomes of a number outside its range.
struct thread_options {
    static constexpr std::size_t least_stack = std::size_t{64} << 10;
    static constexpr std::size_t most_stack = std::size_t{1} << 50;
    static constexpr int most_cpu = 1023;

    const char* name = nullptr;   // "<name> <i>"; at most 15 characters are visible
    std::size_t stack_bytes = 0;  // least_stack..most_stack; 0 means the system's default
    int nice = 0;                 // -20..19; negative values need a privilege
    /// Worker i stays on core first_cpu + i. With automatic (-1) hwloc gives the order of cores:
    /// fast cores first, and one hardware thread of each core before its siblings. The workers skip
    /// as many of them as there are main threads. Reading the topology takes some ms, once in a
    /// process. The affinity of your own threads never changes.
    bool pin = false;
    int first_cpu = -1;  // -1..most_cpu
};

struct thread_callbacks {
    /// Called on each thread that the scheduler starts: `started` before all else, `stopping` after
    /// all else.
    void (*started)(void* user, const char* thread) = nullptr;
    void (*stopping)(void* user, const char* thread) = nullptr;
    void* user = nullptr;
};

/// Receives each deadlock that is found: tasks that can never go on, because each needs another one
/// of them. `message` is a text of a few lines, valid during the call. The function is called on a
/// thread of the scheduler or on one that waits, without a lock. It must neither wait nor call back
/// into the scheduler. If it throws, that is logged. Without a function the message goes to the log
/// at level error.
struct deadlock_handler {
    void (*function)(void* user, const char* message) = nullptr;
    void* user = nullptr;
};

/// A thread that sleeps checks whether tasks wait for each other in a circle, and whether anything
/// can go on at all; see docs/manual/hangs.md. Each deadlock is reported once.
struct deadlock_options {
    /// How long a thread has slept when it looks for deadlocks: 1 ms..1 hour. While nothing goes
    /// on, the next looks come after 2, 4, … 64 times as long. With `no_limit` no thread looks.
    /// With a chooser and any other value every thread looks before it sleeps.
    nanoseconds after = seconds(1);
    /// The log gets one warning, with the tasks, if nothing has gone on for this long and only
    /// somebody outside can end that (a completion, a timer, a thread in blocking() or outside its
    /// waits). The range is 1 ms..1 day. A look for deadlocks finds it. `no_limit` means never.
    nanoseconds outside = no_limit;
    deadlock_handler handler = {};
    /// Messages also say where in the source a task was made: "'load' (assets.cpp:41)". This costs
    /// 16 bytes for each task that is open at once, and some ns for each task that is made.
    bool lines = false;
};

/// A number outside its range counts as the nearest number inside, which is reported to the log. If
/// no range is given, every value of the type is allowed.
struct scheduler_options {
    static constexpr int automatic = -1;
    static constexpr int most_workers = 128;
    static constexpr int most_main_threads = 4096;
    static constexpr int most_background_threads = 64;
    /// The limit for seats of all kinds together. A thread that would need one more is not started,
    /// which is reported to the log.
    static constexpr int most_seats = 256;
    static constexpr std::uint32_t least_ring = 2, most_ring = std::uint32_t{1} << 20;

    /// Names the scheduler in messages, where a program has several. The text must outlive the
    /// scheduler.
    const char* name = "braid";

    /// Threads that run tasks, besides the program's own: 0..most_workers. automatic means the
    /// usable cores (affinity mask and cgroup quota) minus `main_threads`. 0 is a working
    /// configuration: tasks run inside waits, and on a reserve thread when a wait cannot run them
    /// itself.
    int workers = automatic;
    /// The most workers that set_worker_count() allows: `workers`..most_workers. automatic means
    /// max(workers, usable cores). The cgroup quota is not read if `workers` is given.
    int max_workers = automatic;
    /// Threads of the program that take part: 0..most_main_threads. The constructing thread is the
    /// first of them.
    int main_threads = 1;
    /// Registers the constructing thread under this name. If it is null, the thread stays a foreign
    /// thread.
    const char* main_thread = "main";
    /// Threads that stand in for waiting ones: 0..most_seats. They are created when first needed.
    /// When they are used up, a wait polls. It then runs work that it does not need only while no
    /// other thread runs any.
    int max_reserves = 64;
    /// Threads of the background class: 0..most_background_threads, where 0 counts as 1. They are
    /// created when first needed. If the system refuses the thread that a task would need, the task
    /// is frame work of low priority.
    int background_threads = 1;
    /// Foreign threads that may be inside a call at the same moment: 0..most_seats, where 0 counts
    /// as 1. Threads that only wait there do not count. Further calls that do not wait share one
    /// more seat, one at a time. A further wait runs nothing until a seat is free. A call that runs
    /// bodies on the calling thread (fork_join(), a loop, a pipeline, a job list run inline,
    /// shut_down()) is never held up, because the bodies may wait for what another thread makes. It
    /// gets a seat of its own. Only if all seats are taken, or there is no memory, a loop runs
    /// serially and an inline job list is refused.
    int guests = 16;

    parking idle = parking::balanced;
    /// Ready tasks of normal priority that a thread holds in its own ring: least_ring..most_ring,
    /// rounded up to a power of two, 8 bytes each for every thread. A ring of another level holds
    /// 256 at most, and so does every ring of a guest. Further tasks go to a shared overflow list.
    std::uint32_t ring = 4096;
    /// A wait with less than this much stack left stops running tasks on top of itself.
    std::size_t stack_reserve_bytes = 96 * 1024;

    thread_options worker_threads = {.name = "worker"};
    thread_callbacks threads = {};

    /// Tasks that take longer than this are logged with name, thread and duration. 0 and below mean
    /// never.
    nanoseconds long_task = milliseconds(10);
    /// Logs the first wait that parks a worker.
    bool warn_when_wait_parks = false;
    /// A shutdown waits for open completions, however long that takes, because somebody may still
    /// write into what they keep. After this time the log names up to 16 of them and says how many
    /// more are open, once. `no_limit` means never.
    nanoseconds external_patience = seconds(10);
    deadlock_options deadlock = {};
    /// Counts and times tasks by name. Costs two clock reads per task.
    bool statistics = false;

    memory_hooks memory = {};
    std::size_t memory_budget_bytes = 0;  // 0 means no budget

    log_handler log = {};
    assertion_handler assertion = {};
    out_of_memory_handler out_of_memory = {};
    exception_handler unobserved_exception = {};

    /// Instruments. Each must outlive the scheduler.
    class observer* observer = nullptr;
    class chooser* chooser = nullptr;

    /// A prefix for the paths below /proc and /sys that are read when the cores are counted. For
    /// tests.
    const char* system_root = "";
};

BRAID_NAMESPACE_END
