#pragma once
// What a running task is handed: `[](braid::task_context& task) { … }`. Cheaper than the
// scheduler's own functions, which look the thread up first.

#include "braid/core/closure.hpp"
#include "braid/core/completion.hpp"

BRAID_NAMESPACE_BEGIN

class scheduler;

namespace detail {
/// What the core keeps of it.
struct context_state {
    runtime& rt;
    whole_seat* seat;
    task_id id;
    bool id_taken = false;  // a task whose id nobody can know ends in a shorter way
};
}  // namespace detail

/// Lives as long as the task's own work runs, on its thread; never keep it.
class task_context {
public:
    task_context(detail::runtime& rt, detail::whole_seat& w, task_id id) : state_{rt, &w, id} {}
    task_context(const task_context&) = delete;
    task_context& operator=(const task_context&) = delete;

    /// Empty for a posted task.
    task_id id() const {
        state_.id_taken = true;
        return state_.id;
    }
    BRAID_API const char* name() const;
    BRAID_API task_environment environment() const;
    /// The seat of the running thread, below scheduler::seat_count(): an index for per-thread
    /// scratch. May be another one after a wait.
    BRAID_API unsigned seat() const;

    /// The scope was cancelled, or a discarding shutdown began: return soon.
    BRAID_API bool cancelled() const;

    /// False: refused, as in scheduler::spawn().
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
    /// A child of this task: this task is not complete before it.
    template <detail::task_callable F>
    task_id spawn_child(F&& f, std::source_location where = std::source_location::current()) {
        return spawn(task_options{.parent = id(), .where = where}, std::forward<F>(f));
    }

    BRAID_API void wait(task_id id, help policy = help::needed);

    /// The task is not complete before somebody has called scheduler::complete() with this id, as
    /// if it had one more child; its body goes on and returns. A failure outside is the task's. Not
    /// in a posted task. Empty id: no memory, or a caller's mistake; the handlers know. Cost: less
    /// than a child's.
    BRAID_API completion_id defer(completion_options with = {});

    /// Runs one ready task of a higher level than this one, if there is any. For long tasks.
    BRAID_API bool yield_to_higher();

    /// For the core.
    detail::context_state& internals() const { return state_; }

private:
    mutable detail::context_state state_;
};

BRAID_NAMESPACE_END
