#pragma once

#include "braid/core/scheduler.hpp"

BRAID_NAMESPACE_BEGIN

/// A task that is being built. The task's own work is queued at once, unless the task waits for
/// other tasks. The task does not complete before finish(). Only one thread may build a task.
class task_builder {
public:
    task_builder(detail::runtime& rt, task_id id) : rt_(&rt), id_(id) {}
    task_builder(task_builder&& other) noexcept
        : rt_(other.rt_), id_(std::exchange(other.id_, {})) {}
    task_builder& operator=(task_builder&&) = delete;
    /// If finish() was not called, the destructor finishes the task. It cancels the task if the
    /// task has not started.
    BRAID_API ~task_builder();

    task_id id() const { return id_; }

    template <detail::task_callable F>
    task_id add_child(task_options options, F&& f) {
        options.parent = id_;
        return detail::submit(*rt_, nullptr, options, detail::draft_kind::spawned,
                              std::forward<F>(f));
    }
    template <detail::task_callable F>
    task_id add_child(F&& f, std::source_location where = std::source_location::current()) {
        return add_child(task_options{.where = where}, std::forward<F>(f));
    }
    /// Adds a predecessor. The task must have been made by begin() with `empty`, and finish() must
    /// not have been called yet. Returns false, and changes nothing, if finish() was called, if the
    /// caller made a mistake (another kind of task, an unknown id, a cycle), or if there is no
    /// memory. A mistake and a lack of memory are reported to the handlers.
    BRAID_API bool add_dependency(task_id predecessor);

    BRAID_API task_id finish();

private:
    detail::runtime* rt_;
    task_id id_;
};

template <detail::task_callable F>
task_builder scheduler::begin(const task_options& options, F&& f) {
    return {*rt_,
            detail::submit(*rt_, nullptr, options, detail::draft_kind::built, std::forward<F>(f))};
}

BRAID_NAMESPACE_END
