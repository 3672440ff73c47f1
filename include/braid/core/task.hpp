#pragma once
// What a task gets at its birth: its id, and the options it is spawned with.

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

/// Names one task for ever: generation and slot. Ids are never reused; an id of a task that is
/// long complete still reads as done. Plain data, copy it anywhere, compare it, hash `value`.
struct task_id {
    std::uint64_t value = 0;

    /// False for the empty id, which a refused spawn returns.
    constexpr explicit operator bool() const { return value != 0; }
    friend constexpr auto operator<=>(task_id, task_id) = default;
};

/// Ids that live in an array: `{.after_all = ids}` for any contiguous container of task_id.
/// Viewed during the call only.
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

/// One thread that takes part: a worker, or a registered main thread. From
/// scheduler::worker_thread(i) or main_thread::ref().
struct thread_ref {
    std::uint16_t seat = UINT16_MAX;
    std::uint16_t visit = 0;  // seats of main threads that have left serve others
    std::uint32_t of = 0;     // its scheduler; no two of the 4,294,967,295 made last have one
    constexpr explicit operator bool() const { return seat != UINT16_MAX; }
    friend constexpr bool operator==(thread_ref, thread_ref) = default;
};

/// Which class of threads runs a task.
enum class task_class : std::uint8_t {
    frame,  // workers, main threads in a wait, reserves
    // The background threads only; never delays frame work. Without such a thread, because the
    // system refuses it: frame work of low priority.
    background,
};

/// Everything a task can be given. Defaults cost nothing.
struct task_options {
    /// For messages, statistics and profiles. A string literal, or text that outlives the task.
    const char* name = nullptr;

    /// Start only when these have succeeded; if one fails or is cancelled, this task is cancelled
    /// with the same cause. If that happened before this call the cause is a `task_failed`, or a
    /// cancellation; see task_state for how long it is remembered. Ids of tasks that succeeded and
    /// empty ids are skipped.
    std::initializer_list<task_id> after = {};
    task_ids after_all = {};
    /// Start when these are complete, however they ended ("finally").
    std::initializer_list<task_id> after_any = {};

    /// This task's completion is part of the parent's. The parent must be open.
    task_id parent = {};

    priority_level priority = priority_level::normal;
    /// 1..255: the level is looked up in the scheduler's priority table instead of `priority`.
    std::uint8_t category = 0;

    task_class runs_as = task_class::frame;
    /// Run on this thread and nowhere else.
    thread_ref on = {};
    /// Run on one of these workers only (bit i = worker i, of the first 64). 0: any.
    std::uint64_t workers = 0;

    /// Hold these from start to end of the task's own work. At most 8.
    std::initializer_list<resource*> uses = {};

    /// Count and cancel with this scope. Default: the scope of the task that spawns.
    scope* within = nullptr;
    /// Allocator, trace id and scope for this task and all it spawns. Must outlive them.
    const task_environment* environment = nullptr;

    /// A promise that the task never waits: any waiter may run it (help::any).
    bool never_waits = false;
    /// No long-task warning.
    bool may_be_long = false;
    /// Module tag: a reloadable module counts its live tasks by it.
    std::uint8_t module = 0;

    /// The place in the source that observers get: where these options are written down.
    std::source_location where = std::source_location::current();

    /// Nothing but a name and a scope is given. With literal options the compiler knows.
    constexpr bool plain() const {
        return after.size() == 0 && after_all.size == 0 && after_any.size() == 0 && !parent &&
               priority == priority_level::normal && category == 0 &&
               runs_as == task_class::frame && !on && workers == 0 && uses.size() == 0 &&
               environment == nullptr && !never_waits && !may_be_long && module == 0;
    }
};

/// What the tasks below a task share (C39). User-owned; must outlive the tasks that use it.
struct task_environment {
    scope* within = nullptr;
    void* allocator = nullptr;   // yours; Braid only hands it down
    std::uint64_t trace_id = 0;  // yours
};

/// What a waiter may run on top of its wait.
enum class help : std::uint8_t {
    needed,  // only work that the awaited task needs: cannot deadlock, latency stays bounded
    any,     // also tasks that promised `never_waits`
    none,    // nothing; park at once
};

/// What a scheduler knows of an id. It remembers that a task failed or was cancelled while a future
/// holds the task, and after that until 4,096 later tasks have failed or been cancelled; fewer
/// where other tasks would have no memory, or take more of a budget. A node of a graph remembers it
/// until its next run. Then the id reads as `done`, and a task `after` it runs.
enum class task_state : std::uint8_t {
    open,       // not complete yet
    done,       // it succeeded
    unknown,    // never issued by this scheduler, or empty
    failed,     // it threw, or a task below it failed or was cancelled
    cancelled,  // it did not run
};

BRAID_NAMESPACE_END
