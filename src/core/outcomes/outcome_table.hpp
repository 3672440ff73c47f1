#pragma once
// Stores the failures of tasks: their outcomes, the counted references to these, and which of two
// outcomes a task gets. This code rarely runs, so one lock guards all outcomes.

#include "core/details/detail_table.hpp"
#include "core/report/reporter.hpp"
#include "core/slots/slot_table.hpp"

#include <cstdint>
#include <exception>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The failure of a task that failed, or the failure by which a task was cancelled. References are
/// counted. If nobody has received the error when the last reference is dropped, the handler for
/// unobserved exceptions gets it.
struct outcome {
    std::uint32_t references = 1;  // outcome_table's mutex guards all members
    bool observed = false;
    bool stands_in = false;    // `error` replaces one that was delivered; see cancel_with()
    std::exception_ptr error;  // null for a cancellation without an error
    const char* task = nullptr;
};

/// Stores the outcomes of tasks. `own` is the part of the seat of the calling thread.
class outcome_table {
public:
    /// The arguments must outlive the table.
    outcome_table(const scheduler_options& options, accounted_memory& memory,
                  const reporter& report, const slot_table& slots, detail_table& details)
        : options_(options), memory_(memory), report_(report), slots_(slots), details_(details) {}

    /// Makes an outcome with one reference, which is the caller's. Returns null if there is no
    /// memory.
    outcome* make(std::exception_ptr error, const char* task);
    /// Adds a reference.
    outcome* share(outcome* result);
    /// Drops a reference. When the last one is dropped, an error that nobody has seen goes to the
    /// handler.
    void drop(outcome* result);

    /// Returns the task's outcome, or null if it has none. Adds no reference.
    outcome* find(const slot& s);
    /// Removes the outcome from the task, and gives it with its reference to the caller. Returns
    /// null if the task had none.
    outcome* take(const slot& s);
    /// Removes the failure from a task that resumes. The task's body receives it as the failure of
    /// what it awaited, so the task itself has not failed. Returns null if the task had no outcome.
    outcome* take_failure(slot& s);
    /// Frees the detail_block of a complete task that nobody holds any more. Gives the task's
    /// outcome with its reference to the caller. Returns null if the task had none.
    outcome* end(details_part& own, slot& s);
    /// Returns the task's outcome with one more reference, or null if it has none.
    outcome* share(const slot& s);
    /// Records `result` as the failure of the task, and takes over one reference. If the task has
    /// an outcome already, an error wins over a mere cancellation, and otherwise the lower ordinal
    /// wins. A child's failure has the ordinal of the child, so the oldest child wins. Ordinal 0 is
    /// the task's own failure, or one that a predecessor passed on.
    void adopt(details_part& own, std::uint32_t index, outcome* result, std::uint32_t ordinal);
    /// Records that the task failed, when there is no memory for an outcome. `flags` are the flags
    /// of the failure.
    static void mark_unrecorded(slot& s, std::uint16_t flags);

    /// Cancels a task that is linked behind, or awaits, a `predecessor` that has already failed or
    /// was cancelled. The task gets the predecessor's outcome if that still exists. Otherwise it
    /// gets a new outcome, in which a task_failed replaces the predecessor's exception.
    void cancel_with(details_part& own, std::uint32_t index, task_id predecessor);

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
    const scheduler_options& options_;
    accounted_memory& memory_;
    const reporter& report_;
    const slot_table& slots_;
    detail_table& details_;
    mutex mutex_;         // guards outcomes, and detail_block::result
    outcome unrecorded_;  // the outcome of all failures that found no memory
    atomic<std::uint64_t> unobserved_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
