#pragma once
// The failures of tasks: outcomes, counted references to them, and which of two outcomes wins. This
// code is cold, so one lock guards all outcomes.

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
    /// Drops the reference of a waiter for a value. The owner of the value receives the failure.
    void forget(outcome* result);

    /// Returns the task's outcome, or null if it has none. Adds no reference.
    outcome* outcome_of(const slot& s);
    /// Takes the outcome off the task, which has none from here on. Returns null if it had none.
    outcome* take_outcome(const slot& s);
    /// Takes the outcome off a task whose body goes on. The body receives the failure, so the task
    /// itself has not failed. Returns null if the task had no outcome.
    outcome* take_failure(slot& s);
    /// Frees the detail_block of a task that is complete and that nobody holds, and gives the
    /// task's outcome to the caller. Returns null if it has none.
    outcome* end_outcome(task_seat& w, slot& s);
    /// Returns the task's outcome with one more reference, or null if it has none.
    outcome* share_outcome(const slot& s);
    /// Records that the task failed as `result` says, and takes over one reference. An error wins
    /// over a mere cancellation; otherwise the failure of the earliest creation wins. Ordinal 0 is
    /// the task's own failure, or one that a predecessor passed on.
    void adopt(task_seat& w, std::uint32_t index, outcome* result, std::uint32_t ordinal);
    /// Records that the task failed if there is no memory for an outcome. `flags` are the flags of
    /// the failure.
    static void mark_unrecorded(slot& s, std::uint16_t flags);

    /// Cancels a task that comes after `predecessor`, or awaits it. The predecessor failed or was
    /// cancelled earlier. The task gets the same outcome as long as that is held. After that, a
    /// task_failed stands for an exception.
    void cancel_with(task_seat& w, std::uint32_t index, task_id predecessor);

    /// Rethrows the failure that a wait received, and drops the reference.
    void raise(outcome* result);
    /// Returns the error, and takes over one reference. The outcome counts as observed from here
    /// on. Returns null if `result` is a mere cancellation or null.
    std::exception_ptr take_error(outcome* result);
    /// Puts the error of `result` into `place`, if `place` is empty and nobody has seen the error.
    /// The error of an outcome that stands in counts as unseen. take_offered() takes it from there.
    void offer(outcome& result, std::exception_ptr& place);
    std::exception_ptr take_offered(std::exception_ptr& place);

    void report_unobserved(const char* task, std::exception_ptr error);
    std::uint64_t unobserved() const { return unobserved_.load(relaxed); }

private:
    mutex mutex_;         // guards outcomes, and detail_block::result
    outcome unrecorded_;  // stands for all failures for which there was no memory
    atomic<std::uint64_t> unobserved_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
