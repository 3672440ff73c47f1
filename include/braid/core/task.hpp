#pragma once
// The id of a task, and the options that a task is spawned with.

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

/// Names one task for ever, by its generation and slot. Ids are never reused: the id of a task that
/// completed long ago still reads as done. An id is plain data: copy it anywhere, compare it, hash
/// `value`.
struct task_id {
    std::uint64_t value = 0;

    /// Returns false for the empty id, which a refused spawn returns.
    constexpr explicit operator bool() const { return value != 0; }
    friend constexpr auto operator<=>(task_id, task_id) = default;
};

/// Ids that live in an array: `{.after_all = ids}` takes any contiguous container of task_id. The
/// array is viewed during the call only.
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

/// One thread that takes part: a worker, or a registered main thread. Get it from
/// scheduler::worker_thread(i) or main_thread::ref().
struct thread_ref {
    std::uint16_t seat = UINT16_MAX;
    std::uint16_t visit = 0;  // how often the seat was reused after its main thread left
    std::uint32_t of = 0;     // the scheduler's number, unique among the 4,294,967,295 made last
    constexpr explicit operator bool() const { return seat != UINT16_MAX; }
    friend constexpr bool operator==(thread_ref, thread_ref) = default;
};

/// Which class of threads runs a task.
enum class task_class : std::uint8_t {
    frame,  // workers, main threads in a wait, reserves
    // Background threads only. Never delays frame work. If the system refuses such a thread, the
    // task is frame work of low priority.
    background,
};

/// All that a task can be given. Defaults cost nothing.
struct task_options {
    /// The name for messages, statistics and profiles: a string literal, or text that outlives the
    /// task.
    const char* name = nullptr;

    /// Start only when these tasks have succeeded. If one of them fails or is cancelled, this task
    /// is cancelled with the same cause. If that happened before this call and no future holds the
    /// predecessor, the cause is a `task_failed`, or a cancellation. See task_state for how long a
    /// failure is remembered. Ids of tasks that succeeded and empty ids are skipped.
    std::initializer_list<task_id> after = {};
    task_ids after_all = {};
    /// Start when these tasks are complete, however they ended ("finally").
    std::initializer_list<task_id> after_any = {};

    /// The parent is not complete before this task is. The parent must be open.
    task_id parent = {};

    priority_level priority = priority_level::normal;
    /// A category 1..255 takes its level from the scheduler's priority table instead of `priority`.
    std::uint8_t category = 0;

    task_class runs_as = task_class::frame;
    /// Run on this thread and nowhere else.
    thread_ref on = {};
    /// Run on one of these workers only (bit i = worker i, of the first 64). 0 means no
    /// restriction.
    std::uint64_t workers = 0;

    /// Hold these resources from start to end of the task's own work. At most 8.
    std::initializer_list<resource*> uses = {};

    /// The scope that counts and cancels this task. By default it is the scope of `environment` if
    /// that is given, else the parent's scope, else the scope of the task that spawns.
    scope* within = nullptr;
    /// Allocator, trace id and scope for this task and all that it spawns. The environment must
    /// outlive them. It is ignored if `within` is given.
    const task_environment* environment = nullptr;

    /// Promises that the task never waits, so any waiter may run it (help::any).
    bool never_waits = false;
    /// Suppresses the long-task warning.
    bool may_be_long = false;
    /// The module tag, by which a reloadable module counts its live tasks.
    std::uint8_t module = 0;

    /// The place in the source that observers get: where these options are written.
    std::source_location where = std::source_location::current();

    /// Returns true if nothing but a name and a scope is given. With literal options the compiler
    /// knows the result.
    constexpr bool plain() const {
        return after.size() == 0 && after_all.size == 0 && after_any.size() == 0 && !parent &&
               priority == priority_level::normal && category == 0 &&
               runs_as == task_class::frame && !on && workers == 0 && uses.size() == 0 &&
               environment == nullptr && !never_waits && !may_be_long && module == 0;
    }
};

/// What a task passes on to the tasks below it (C39 in docs/features.md). The user owns it, and it
/// must outlive the tasks that use it.
struct task_environment {
    scope* within = nullptr;
    void* allocator = nullptr;   // yours; Braid only passes it on
    std::uint64_t trace_id = 0;  // yours
};

/// What a waiter may run on top of its wait.
enum class help : std::uint8_t {
    needed,  // only work that the awaited task needs: cannot deadlock, latency stays bounded
    any,     // also tasks that promised `never_waits`
    none,    // nothing; park at once
};

/// What a scheduler knows of an id. The scheduler remembers that a task failed or was cancelled
/// while a future holds the task, and after that until 4,096 later tasks have failed or been
/// cancelled. It remembers fewer tasks if other tasks would have no memory, or would take more of a
/// budget. A node of a graph remembers it until the node's next run. After that the id reads as
/// `done`, and a task `after` it runs.
enum class task_state : std::uint8_t {
    open,       // not complete yet
    done,       // it succeeded
    unknown,    // never issued by this scheduler, or empty
    failed,     // it threw, or a task below it failed or was cancelled
    cancelled,  // it did not run
};

BRAID_NAMESPACE_END
