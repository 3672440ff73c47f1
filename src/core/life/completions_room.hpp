#pragma once
// Work that somebody outside ends: armed by a running task, settled once, by the first that tries.
// See docs/design/completion.md.

#include "braid/core/suspend.hpp"
#include "core/life/completion_lists.hpp"
#include "core/life/suspensions_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class completions_room : public suspensions_room {
public:
    using suspensions_room::suspensions_room;

    /// A share of the running task's open work. Empty: refused, and reported.
    completion_id defer(life_seat& w, task_id running, completion_options& with);
    /// By a body that suspends: it goes on when that is complete.
    completion_id await_outside(life_seat& w, std::uint32_t running, completion_options& with,
                                ended_by by);
    /// False: somebody was first. On a thread that may run code of the program.
    bool settle_completion(life_seat& w, completion_id id, const completion_result& result);
    /// The same; its task counts as cancelled.
    bool settle_as_cancelled(life_seat& w, completion_id id);
    /// Does it without memory and without a lock, and leaves the rest to another thread.
    bool try_settle_completion(life_seat& w, completion_id id, int code);
    /// Null; or a sentence that says why nobody but the scheduler may settle it. An id that is
    /// stale is well, whatever it was.
    const char* why_not_settled_outside(completion_id id) const;
    /// Somebody has settled it; what came before that is visible. False also: never issued.
    bool is_settled(completion_id id) const;

    /// Open ones, as many as there is room for; how many there are.
    std::size_t show_completions(life_seat& w, completion_info* rows, std::size_t capacity);

    // ---- as a task of its own kind
    /// A queue held it: it is asked, or finished.
    void run_completion(life_seat& w, std::uint32_t index);
    /// The last share of it has gone.
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
