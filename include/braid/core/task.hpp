#pragma once
// This header defines the id of a task and the options for spawning a task.

#include "braid/base/version.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <source_location>

BRAID_NAMESPACE_BEGIN

class scope;
class resource;
struct task_environment;

/// Identifies one task forever, by its generation and slot. Ids are never reused: for a task that
/// completed long ago, scheduler::done() still returns true. An id is plain data. It can be copied
/// anywhere and compared, and `value` can be hashed.
struct task_id {
    std::uint64_t value = 0;

    /// Returns false for the empty id, which a refused spawn returns.
    constexpr explicit operator bool() const { return value != 0; }
    friend constexpr auto operator<=>(task_id, task_id) = default;
};

/// A view of task ids in an array. `{.after_all = ids}` accepts any contiguous container of
/// task_id. The array must live only until the call returns.
struct task_ids {
    const task_id* data = nullptr;
    std::size_t size = 0;

    constexpr task_ids() = default;
    constexpr task_ids(const task_id* first, std::size_t count) : data(first), size(count) {}
    template <std::size_t count>
    constexpr task_ids(const task_id (&ids)[count]) : data(ids), size(count) {}
    template <class Container>
        requires requires(const Container& c) {
            static_cast<const task_id*>(c.data());
            c.size();
        }
    constexpr task_ids(const Container& c) : data(c.data()), size(c.size()) {}
};

enum class priority_level : std::uint8_t { low, normal, high };

/// Refers to one thread that takes part: a worker, or a registered main thread.
/// scheduler::worker_thread(i) and main_thread::ref() return it.
struct thread_ref {
    std::uint16_t seat = UINT16_MAX;
    std::uint16_t visit = 0;  // how often the seat was reused after a main thread left
    std::uint32_t of = 0;     // scheduler number, unique among the last 4,294,967,295 schedulers
    constexpr explicit operator bool() const { return seat != UINT16_MAX; }
    friend constexpr bool operator==(thread_ref, thread_ref) = default;
};

/// Which class of threads runs a task.
enum class task_class : std::uint8_t {
    frame,  // runs on workers, on main threads during their waits, and on reserve threads
    // Runs on background threads only, and never delays frame work. If the operating system refuses
    // to start a background thread, the task becomes frame work of low priority.
    background,
};

/// The options of a task. Options that keep their defaults cost nothing.
struct task_options {
    /// The name of the task in messages, statistics and profiles. It must be a string literal, or
    /// text that outlives the task.
    const char* name = nullptr;

    /// The task starts only when all of these tasks have succeeded. If one of them fails or is
    /// cancelled, this task is cancelled with the same cause. If that predecessor failed or was
    /// cancelled before this call and no future holds it, the cause is a `task_failed` or a
    /// cancellation. See task_state for how long a failure is remembered. Empty ids and ids of
    /// tasks that have succeeded are skipped.
    std::initializer_list<task_id> after = {};
    task_ids after_all = {};
    /// The task starts when all of these tasks are complete, however they ended ("finally").
    std::initializer_list<task_id> after_any = {};

    /// The parent does not complete before this task is complete. The parent must be open.
    task_id parent = {};

    priority_level priority = priority_level::normal;
    /// For a category 1..255 the scheduler's priority table determines the level, and `priority` is
    /// ignored. 0 means no category.
    std::uint8_t category = 0;

    task_class runs_as = task_class::frame;
    /// The task runs on this thread only. An empty reference means no restriction.
    thread_ref on = {};
    /// The task runs on one of these workers only. Bit i is worker i, of the first 64 workers. 0
    /// means no restriction.
    std::uint64_t workers = 0;

    /// The task holds these resources from the start to the end of its own work. A task may use at
    /// most 8 resources.
    std::initializer_list<resource*> uses = {};

    /// The scope that counts and cancels this task. The default is the scope of `environment` if
    /// `environment` is given, and otherwise the scope of the parent. Without a parent, the default
    /// is the scope of the spawning task.
    scope* within = nullptr;
    /// The allocator, trace id and scope for this task and for all tasks that it spawns. The
    /// environment must outlive all of these tasks. It is ignored if `within` is given.
    const task_environment* environment = nullptr;

    /// Set this to promise that the task never waits. Any waiter with help::any may then run the
    /// task.
    bool never_waits = false;
    /// Suppresses the warning of scheduler_options::long_task for this task.
    bool may_be_long = false;
    /// The module tag. A reloadable module counts its live tasks by this tag.
    std::uint8_t module = 0;

    /// The source location that observers receive. The default is the place where these options are
    /// written.
    std::source_location where = std::source_location::current();

    /// Returns true if all options except `name`, `within` and `where` have their defaults. With
    /// literal options the compiler can compute the result.
    constexpr bool plain() const {
        return after.size() == 0 && after_all.size == 0 && after_any.size() == 0 && !parent &&
               priority == priority_level::normal && category == 0 &&
               runs_as == task_class::frame && !on && workers == 0 && uses.size() == 0 &&
               environment == nullptr && !never_waits && !may_be_long && module == 0;
    }
};

/// The settings that a task passes on to its children and to the tasks that it spawns. The user
/// owns the environment, and it must outlive the tasks that use it.
struct task_environment {
    scope* within = nullptr;
    void* allocator = nullptr;   // owned by the user; Braid only passes it on
    std::uint64_t trace_id = 0;  // chosen by the user; Braid only passes it on
};

/// Which tasks a waiter may run on top of its wait.
enum class help : std::uint8_t {
    needed,  // only work that the awaited task needs: no deadlocks, bounded latency
    any,     // needed work, and also tasks that promise `never_waits`
    none,    // no tasks; the waiter parks at once
};

/// The state of a task by its id. The scheduler remembers that a task failed or was cancelled while
/// a future holds the task, and then until 4,096 later tasks have failed or been cancelled. It
/// forgets earlier if it would otherwise have no memory for a new task. With a memory budget, it
/// forgets before it allocates more memory for tasks. For a node of a graph, the scheduler
/// remembers the failure until the next run of the node. When a failure is no longer remembered,
/// the state of the failed task is `done`, and tasks that list it in `after` run.
enum class task_state : std::uint8_t {
    open,       // not complete yet
    done,       // the task succeeded
    unknown,    // the id was never issued by this scheduler, or is empty
    failed,     // the task threw, or a child or completion of it failed or was cancelled
    cancelled,  // the task did not run
};

BRAID_NAMESPACE_END
