#pragma once
// What a running task receives: `[](braid::task_context& task) { … }`. Its functions are cheaper
// than those of the scheduler, which look the thread up first.

#include "braid/core/closure.hpp"
#include "braid/core/completion.hpp"

BRAID_NAMESPACE_BEGIN

class scheduler;

namespace detail {
/// The core's data of a task_context.
struct context_state {
    runtime& rt;
    whole_seat* seat;
    task_id id;
    bool id_taken = false;  // a task whose id nobody can know ends in a shorter way
};
}  // namespace detail

/// A task_context lives as long as the task's own work runs, on the thread that runs it. Never keep
/// a reference to it.
class task_context {
public:
    task_context(detail::runtime& rt, detail::whole_seat& w, task_id id) : state_{rt, &w, id} {}
    task_context(const task_context&) = delete;
    task_context& operator=(const task_context&) = delete;

    /// Returns the empty id for a posted task.
    task_id id() const {
        state_.id_taken = true;
        return state_.id;
    }
    BRAID_API const char* name() const;
    BRAID_API task_environment environment() const;
    /// Returns the seat of the running thread, which is below scheduler::seat_count(). Use it as an
    /// index for per-thread scratch. The seat may be another one after a wait.
    BRAID_API unsigned seat() const;

    /// Returns true if the scope was cancelled or a discarding shutdown began. The task should
    /// return soon then.
    BRAID_API bool cancelled() const;

    /// Returns false if the task is refused, as in scheduler::spawn().
    template <detail::task_callable F>
    bool post(F&& f, std::source_location where = std::source_location::current()) {
        return static_cast<bool>(detail::submit_plain(state_.rt, state_.seat, nullptr, nullptr,
                                                      detail::draft_kind::posted, where,
                                                      std::forward<F>(f)));
    }
    template <detail::task_callable F>
    task_id spawn(const task_options& options, F&& f) {
        return detail::submit(state_.rt, state_.seat, options, detail::draft_kind::spawned,
                              std::forward<F>(f));
    }
    template <detail::task_callable F>
    task_id spawn(F&& f, std::source_location where = std::source_location::current()) {
        return spawn(task_options{.where = where}, std::forward<F>(f));
    }
    /// Spawns a child of this task. This task is not complete before the child is.
    template <detail::task_callable F>
    task_id spawn_child(F&& f, std::source_location where = std::source_location::current()) {
        return spawn(task_options{.parent = id(), .where = where}, std::forward<F>(f));
    }

    BRAID_API void wait(task_id id, help policy = help::needed);

    /// Adds a completion to this task, as if the task had one more child: the task is not complete
    /// before somebody has settled the returned id, usually with scheduler::complete(). The body
    /// goes on and returns meanwhile. If the work outside fails, the task fails. A posted task
    /// cannot defer. Returns the empty id if there is no memory or the caller made a mistake. The
    /// handlers get the reason. Costs less than a child.
    BRAID_API completion_id defer(completion_options with = {});

    /// Runs one ready task of a higher level than this task, and returns false if none is ready.
    /// For long tasks.
    BRAID_API bool yield_to_higher();

    /// For the core.
    detail::context_state& internals() const { return state_; }

private:
    mutable detail::context_state state_;
};

BRAID_NAMESPACE_END
