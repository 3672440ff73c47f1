#pragma once
// A seat: what one participating thread owns. The name `worker` covers all kinds of seats; each
// is used by one thread at a time and is never freed before the scheduler.

#include "base/parker.hpp"
#include "base/platform/platform.hpp"
#include "braid/core/fork_stack.hpp"
#include "braid/core/observer.hpp"
#include "braid/core/statistics.hpp"
#include "braid/core/task_context.hpp"
#include "core/index_pool.hpp"
#include "core/ready_queue.hpp"
#include "core/sleepers.hpp"
#include "core/slot.hpp"

#include <cstdint>
#include <exception>
#include <mutex>

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr unsigned level_count = 3;
inline constexpr std::uint16_t no_seat = UINT16_MAX;  // of a thread that waits without one

/// A task on the stack of the thread that runs it.
struct running_task {
    std::uint32_t slot;
    running_task* below;
    std::exception_ptr error;
    task_context context;
    const fork_slot* joins_from = nullptr;  // top of the thread's joins when it began
};

/// What a seat shows to searchers: its tasks from the outermost to the innermost, and what each
/// waits for. Deeper frames than these are not shown (their work goes to a reserve).
struct shown_frame {
    atomic<std::uint64_t> task{0}, awaited{0};
};

/// Tasks for this seat alone (`on`), or for any of a mask of workers; under a lock, in order.
struct inbox {
    std::mutex mutex;
    atomic<std::uint32_t> size{0};
    std::uint32_t first = no_index, last = no_index;
};

/// Single writer: the seat's thread. Written with release, summed with acquire: a sum that has
/// counted the end of a task has counted what that task created (see everything_ended()).
struct seat_counters {
    using count = atomic<std::uint64_t>;
    count created{0}, executed{0}, failed{0}, cancelled{0}, stolen{0}, jobs_stolen{0}, helped{0},
        parks{0}, spilled{0}, long_tasks{0}, busy_ns{0};
    static void add(count& c, std::uint64_t n = 1) { c.store(c.load(relaxed) + n, release); }
};

struct type_row {
    const char* name = nullptr;
    std::uint64_t count = 0, total_ns = 0, longest_ns = 0;
};

inline constexpr unsigned type_rows = 256;
/// The stack, and its slots behind it.
inline constexpr std::size_t fork_stack_bytes =
    sizeof(fork_stack) + sizeof(fork_slot) * (fork_stack::depth + fork_stack::spare);

struct alignas(64) worker {
    worker(runtime& owner, std::uint16_t seat, seat_kind k) : rt(owner), index(seat), kind(k) {}

    static constexpr unsigned shown_depth = 64;

    runtime& rt;
    const std::uint16_t index;
    const seat_kind kind;
    std::uint16_t number = 0;  // among its kind
    std::uint64_t mask = 0;    // its bit in task_options::workers
    bool leased = false;       // guest seats; guarded by the runtime's guest lock,
    bool waits = false;        // and this one too
    // Its main thread has left, or the system refused its thread; guarded by the runtime's seat
    // lock.
    bool vacant = false;
    bool was_refused = false;  // said once
    char name[32] = {};
    platform::thread_request request{};
    platform::thread_handle thread = 0;
    std::uintptr_t stack_low = 0;
    ready_queue::cell* cells = nullptr;
    std::uint32_t cell_count = 0;  // of all levels

    // ---- the seat's thread only ----
    ready_queue ready[level_count];
    pool_cache slots, edges, details;
    running_task* top = nullptr;
    unsigned depth = 0;
    // The depth of the innermost loop that runs tasks (a thread's or a wait's): between two of
    // them `depth` is equal, in a task's body it is greater.
    unsigned loop_depth = UINT32_MAX;
    task_id kept;  // made ready by the task that has just ended; nobody else sees it. run_kept()
    std::uint32_t victim = 0;
    std::uint32_t fork_victim = 0;
    unsigned stole = 0;  // tasks at the last steal, until it is known whether that paid
    std::int64_t stole_at = 0, steal_pause = 0, steal_again = 0;
    std::uint64_t unclaimed = 0;  // the oldest task of somebody, while this thread does not steal
    std::int64_t unclaimed_again = 0;
    fork_stack* joins = nullptr;    // its own; for others:
    std::int64_t stamp = 0;         // clock at the end of the last task or sleep
    unsigned time_each = 1;         // plain tasks; see note_durations()
    std::int64_t woke = INT64_MAX;  // INT64_MAX: long ago, or on any core; see go_anywhere()
    // When a poll of a job list that helps has done enough; INT64_MAX: none does. See try_wait().
    std::int64_t leave_list_at = INT64_MAX;
    // Of the running task's time: what went by in waits, in tasks on top and in blocking().
    std::int64_t elsewhere = 0;
    std::int64_t blocking_since = 0, elsewhere_before = 0;
    searcher search = searcher::none;
    bool handed_over = false;
    bool completing = false;
    bool without_turn = false;             // in a blocking region, with a chooser
    std::uint32_t to_complete = no_index;  // slots whose open work is over, newest first
    task_id needed_for;                    // whose needs `needed` lists; see needed_work
    task_id needed[32];
    unsigned needed_count = 0;
    scope* scope_ended_in = nullptr;          // tasks that ended there,
    std::uint64_t scope_ends = 0;             // how many of them are not counted there yet
    const atomic<bool>* wait_over = nullptr;  // of the innermost wait that runs tasks
    // How many frames lie below the task that a wait runs although it does not need it, because
    // nobody else can; 0: there is none.
    unsigned unneeded_from = 0;
    std::mutex types_mutex;  // its thread writes, statistics() reads
    type_row* types = nullptr;
    seat_counters counters;

    // ---- anybody ----
    alignas(64) basic_parker<active_policy> park;
    std::mutex cores_mutex;
    std::uint32_t thread_number = 0;         // the system's; these three guarded by cores_mutex
    platform::core_set cores;                // that the thread may run on, when it last fell asleep
    std::uint32_t kept_off = UINT32_MAX;     // one of them, by whoever woke it; see keep_apart()
    atomic<std::uint32_t> core{UINT32_MAX};  // where it ran lately; a hint for thieves
    inbox box;
    atomic<fork_stack*> shown_joins{nullptr};
    atomic<bool> at_rest{true};
    atomic<std::int64_t> expected_at{0};  // what it knew of expect_work() when it fell asleep
    atomic<std::uint16_t> visit{0};       // tells threads apart that register at one seat in turn
    atomic<std::uint64_t> bound_to{0};    // which thread has the seat; see bind_seat()
    atomic<bool> gone{false};             // a main thread that has left
    atomic<bool> inside{false};           // a main thread in a call that runs tasks
    atomic<bool> blocks{false};           // in blocking(); see wait_loop::nobody_else_runs()
    atomic<std::uint32_t> shown{0};
    shown_frame frames[shown_depth + 1];  // the last one takes what is not shown
};

}  // namespace detail
BRAID_NAMESPACE_END
