#pragma once
// A running task receives a task_context: `[](braid::task_context& task) { … }`. The functions of
// task_context are cheaper than the same functions of the scheduler, which must look up the calling
// thread first.

#include "braid/core/closure.hpp"
#include "braid/core/completion.hpp"

BRAID_NAMESPACE_BEGIN

class scheduler;

namespace detail {
/// The internal data of a task_context.
struct context_state {
    runtime& rt;
    whole_seat* seat;
    task_id id;
    bool id_taken = false;  // if false, nobody can know the id, and the task ends faster
};
}  // namespace detail

/// A task_context exists only while the task's own work runs, on the thread that runs it. Do not
/// keep a reference to a task_context after the own work has returned.
class task_context {
public:
    task_context(detail::runtime& rt, detail::whole_seat& w, task_id id) : state_{rt, &w, id} {}
    task_context(const task_context&) = delete;
    task_context& operator=(const task_context&) = delete;

    /// Returns the id of the task, or the empty id for a posted task.
    task_id id() const {
        state_.id_taken = true;
        return state_.id;
    }
    BRAID_API const char* name() const;
    BRAID_API task_environment environment() const;
    /// Returns the seat of the running thread, which is below scheduler::seat_count(). Use it as an
    /// index for per-thread scratch. The seat may change after a wait.
    BRAID_API unsigned seat() const;

    /// Returns true if the task's scope was cancelled or a discarding shutdown has begun. The task
    /// should return soon in this case.
    BRAID_API bool cancelled() const;

    /// Posts a task. Returns false if the task is refused, for the same reasons as in
    /// scheduler::spawn().
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
    /// Spawns a child of this task. This task does not complete before the child is complete.
    template <detail::task_callable F>
    task_id spawn_child(F&& f, std::source_location where = std::source_location::current()) {
        return spawn(task_options{.parent = id(), .where = where}, std::forward<F>(f));
    }

    BRAID_API void wait(task_id id, help policy = help::needed);

    /// Adds a completion to this task, as if the task had one more child. The task does not
    /// complete before the returned id is settled, usually with scheduler::complete(). The body
    /// continues and may return in the meantime. If the work outside fails, the task fails. A task
    /// that was made by post() cannot call defer(). Returns the empty id if there is no memory or
    /// the caller made a mistake. The reason is reported to the handlers. A completion costs less
    /// than a child.
    BRAID_API completion_id defer(completion_options with = {});

    /// Runs one ready task of a higher priority level than this task. Returns false if no such task
    /// is ready. Use it in long tasks.
    BRAID_API bool yield_to_higher();

    /// Internal access for the core.
    detail::context_state& internals() const { return state_; }

private:
    mutable detail::context_state state_;
};

BRAID_NAMESPACE_END
