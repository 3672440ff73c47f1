#pragma once
// Stores the failures of tasks: their outcomes, the counted references to these, and which of two
// outcomes a task gets. This code rarely runs, so one lock guards all outcomes.

#include "core/task/task_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class outcome_room : public task_room {
public:
    using task_room::task_room;

    /// Makes an outcome with one reference, which is the caller's. Returns null if there is no
    /// memory.
    outcome* new_outcome(std::exception_ptr error, const char* task);
    /// Adds a reference.
    outcome* share(outcome* result);
    /// Drops a reference. When the last one is dropped, an error that nobody has seen goes to the
    /// handler.
    void drop(outcome* result);
    /// Drops the reference of a waiter that does not raise the failure, because the owner of the
    /// awaited value receives it.
    void forget(outcome* result);

    /// Returns the task's outcome, or null if it has none. Adds no reference.
    outcome* outcome_of(const slot& s);
    /// Removes the outcome from the task, and gives it with its reference to the caller. Returns
    /// null if the task had none.
    outcome* take_outcome(const slot& s);
    /// Removes the failure from a task that resumes. The task's body receives it as the failure of
    /// what it awaited, so the task itself has not failed. Returns null if the task had no outcome.
    outcome* take_failure(slot& s);
    /// Frees the detail_block of a complete task that nobody holds any more. Gives the task's
    /// outcome with its reference to the caller. Returns null if the task had none.
    outcome* end_outcome(task_seat& w, slot& s);
    /// Returns the task's outcome with one more reference, or null if it has none.
    outcome* share_outcome(const slot& s);
    /// Records `result` as the failure of the task, and takes over one reference. If the task has
    /// an outcome already, an error wins over a mere cancellation, and otherwise the lower ordinal
    /// wins. A child's failure has the ordinal of the child, so the oldest child wins. Ordinal 0 is
    /// the task's own failure, or one that a predecessor passed on.
    void adopt(task_seat& w, std::uint32_t index, outcome* result, std::uint32_t ordinal);
    /// Records that the task failed, when there is no memory for an outcome. `flags` are the flags
    /// of the failure.
    static void mark_unrecorded(slot& s, std::uint16_t flags);

    /// Cancels a task that is linked behind, or awaits, a `predecessor` that has already failed or
    /// was cancelled. The task gets the predecessor's outcome if that still exists. Otherwise it
    /// gets a new outcome, in which a task_failed replaces the predecessor's exception.
    void cancel_with(task_seat& w, std::uint32_t index, task_id predecessor);

    /// Throws the failure that a wait received, and drops the reference. Throws task_cancelled for
    /// a mere cancellation.
    void raise(outcome* result);
    /// Returns the error, and takes over one reference. The outcome counts as observed from here
    /// on. Returns null if `result` is a mere cancellation or null.
    std::exception_ptr take_error(outcome* result);
    /// Puts the error of `result` into `place`, if `place` is empty and nobody has received the
    /// error. An error with outcome::stands_in counts as not received. take_offered() removes the
    /// error from `place`.
    void offer(outcome& result, std::exception_ptr& place);
    std::exception_ptr take_offered(std::exception_ptr& place);

    void report_unobserved(const char* task, std::exception_ptr error);
    std::uint64_t unobserved() const { return unobserved_.load(relaxed); }

private:
    mutex mutex_;         // guards outcomes, and detail_block::result
    outcome unrecorded_;  // the outcome of all failures that found no memory
    atomic<std::uint64_t> unobserved_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
