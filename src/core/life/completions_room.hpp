#pragma once
// Completions are work that a party outside the scheduler ends, such as a device or a file. A
// running task arms a completion. The first party that tries to settle it succeeds, and no other.
// See docs/design/completion.md.

#include "braid/core/suspend.hpp"
#include "core/life/completion_lists.hpp"
#include "core/life/suspensions_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class completions_room : public suspensions_room {
public:
    using suspensions_room::suspensions_room;

    /// Makes and arms a completion. It holds a share of the running task's open work, so that task
    /// stays open until the completion is complete. Returns the empty id if this is refused; the
    /// reason is reported.
    completion_id defer(life_seat& w, task_id running, completion_options& with);
    /// Called by a body that is about to suspend. Makes and arms a completion; the body resumes
    /// when it is complete. Returns the empty id if there is no memory or no thread for a timer.
    completion_id await_outside(life_seat& w, std::uint32_t running, completion_options& with,
                                ended_by by);
    /// Settles the completion with `result`. Returns false if another party was first. This may run
    /// user code, so only a thread that may do so calls it.
    bool settle_completion(life_seat& w, completion_id id, const completion_result& result);
    /// Does what settle_completion() does, but the completion's task counts as cancelled.
    bool settle_as_cancelled(life_seat& w, completion_id id);
    /// Settles the completion without allocating or locking. Another thread does the rest of its
    /// end. Returns false if another party was first, or the seat's ring has no room.
    bool try_settle_completion(life_seat& w, completion_id id, int code);
    /// Returns null if the program may settle the completion by this id. Otherwise returns a
    /// sentence that says why not. Returns null for a stale id, whatever it stood for.
    const char* why_not_settled_outside(completion_id id) const;
    /// Returns true if the completion is settled. The caller then sees what was written before
    /// that. Returns false for an id that was never issued.
    bool is_settled(completion_id id) const;

    /// Describes up to `capacity` open completions in `rows`. Returns how many are open, which may
    /// be more.
    std::size_t show_completions(life_seat& w, completion_info* rows, std::size_t capacity);

    // ---- called by completion_kind
    /// Called when a thread has taken the completion from a queue. Asks it, or finishes it if it
    /// has no share left.
    void run_completion(life_seat& w, std::uint32_t index);
    /// Finishes a completion whose last share has gone.
    void end_completion(life_seat& w, std::uint32_t index);

private:
    enum class awaited_by : std::uint8_t { nobody, body, body_that_sleeps, body_inside };
    static std::uint32_t what_it_is(awaited_by by) {
        if (by == awaited_by::nobody) return completion_deferred;
        return by == awaited_by::body_inside ? completion_inside : completion_awaited;
    }
    completion_id make(life_seat& w, task_id running, completion_options& with, awaited_by by);
    completion_id arm(life_seat& w, std::uint32_t index, task_id running,
                      const completion_options& with, awaited_by by);
    bool arm_deadline(life_seat& w, task_id id, nanoseconds deadline);
    bool holds_something(const completion_facts& facts) const;
    bool end_if_possible(life_seat& w, std::uint32_t index);
    void fail(life_seat& w, std::uint32_t index, const completion_result& result);
    void report_settled(life_seat& w, task_id id) const;
};

}  // namespace detail
BRAID_NAMESPACE_END
