#pragma once
// How tasks fail: outcomes, counted references to them, and who wins where two meet. Cold: one
// lock for all.

#include "core/task/task_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class outcome_room : public task_room {
public:
    using task_room::task_room;

    /// Null: no memory. One reference, the caller's.
    outcome* new_outcome(std::exception_ptr error, const char* task);
    /// One more reference.
    outcome* share(outcome* result);
    /// The last reference to go hands an error that nobody has seen to the handler.
    void drop(outcome* result);
    /// Drops it for a waiter whose value's owner will hear of it.
    void forget(outcome* result);

    /// Null: it has none.
    outcome* outcome_of(const slot& s);
    /// The task has none from here on. Null: it had none.
    outcome* take_outcome(const slot& s);
    /// The body goes on: it has received what take_outcome() gives, and the task has not failed.
    outcome* take_failure(slot& s);
    /// The task is complete and nobody holds it: frees its detail_block, and gives its outcome to
    /// the caller. Null: it has none.
    outcome* end_outcome(task_seat& w, slot& s);
    /// One more reference. Null: it has none.
    outcome* share_outcome(const slot& s);
    /// The task failed as `result` says; takes over one reference. The failure of the earliest
    /// creation wins, an error before a mere cancellation; ordinal 0 is the task's own, or what a
    /// predecessor handed on.
    void adopt(task_seat& w, std::uint32_t index, outcome* result, std::uint32_t ordinal);
    /// The task failed, and there is no memory to say how. `flags` are those of its failure.
    static void mark_unrecorded(slot& s, std::uint16_t flags);

    /// For a task that comes after `predecessor`, or awaits it, which failed or was cancelled
    /// earlier: it is cancelled with the same outcome, as long as that is held. After that a
    /// task_failed stands for an exception.
    void cancel_with(task_seat& w, std::uint32_t index, task_id predecessor);

    /// Rethrows what a wait received, and drops it.
    void raise(outcome* result);
    /// Takes over one reference, and what is unobserved there is observed from here on. Null: a
    /// mere cancellation, or no outcome.
    std::exception_ptr take_error(outcome* result);
    /// A place for one error that somebody will take: filled if it is empty and nobody has seen
    /// the error.
    void offer(outcome& result, std::exception_ptr& place);
    std::exception_ptr take_offered(std::exception_ptr& place);

    void report_unobserved(const char* task, std::exception_ptr error);
    std::uint64_t unobserved() const { return unobserved_.load(relaxed); }

private:
    mutex mutex_;         // outcomes, and detail_block::result
    outcome unrecorded_;  // of all failures for which there was no memory
    atomic<std::uint64_t> unobserved_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
