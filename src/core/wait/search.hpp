#pragma once
// Finds work that a waiting thread may run on top of its wait. This is only work that the wait
// needs (I6), unless no reserve thread can stand in; see wait_alone.cpp.

#include "core/wait/wait_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns true if the calling thread's stack has room for another task.
bool enough_stack(const wait_room& rt, wait_seat& w);

/// Searches for work on behalf of one wait. Each task that is returned has been claimed, and the
/// caller must run it.
class work_search {
public:
    work_search(wait_room& rt, wait_seat& w, const wait_target& target, help policy)
        : rt_(rt), w_(w), target_(target), policy_(policy) {}

    /// Returns a needed task, or an empty id. Checks only the first entries of each queue, because
    /// a reserve thread runs what is further back.
    task_id find();
    /// Does what find() does, but checks all entries of each queue.
    task_id find_anywhere();
    /// Returns any ready task that this thread may run, needed or not. Prefers tasks that promised
    /// never to wait. After these it takes the oldest task, which most likely waits for nothing
    /// that came later.
    task_id oldest_ready();

    /// Returns a needed task from the queues of other threads first. find() might never reach it,
    /// because other needed tasks give way again and again.
    task_id needed_of_others();
    /// Returns true if there may be a ready task that the wait does not need. Claims nothing.
    bool others_are_ready();
    /// Returns a task that the wait does not need, or an empty id. It is the oldest such task of
    /// its queue.
    task_id oldest_of_others();
    /// Returns true if the wait needs the entry. Uses the list of needs that the last search for
    /// this target has made.
    bool is_needed(std::uint64_t entry) const;
    /// Returns true if the task is a child of the awaited task and has a kind of its own. For
    /// example, the nodes of a graph are such children of the graph's run.
    bool wants_its_kind(task_id id) const;

protected:
    wait_room& rt_;
    wait_seat& w_;
    const wait_target& target_;
    const help policy_;
    bool others_cannot_ = false;  // no reserve thread could stand in at the last attempt

private:
    task_id claim_needed(std::size_t look_at);
    bool serves(std::uint64_t entry) const;
    /// Returns true if the seat's list `needed` is for this wait's target.
    bool needs_are_known() const {
        return w_.needed_for == target_.task && w_.needed_list == target_.list;
    }
    void look_for_needs();
    void find_needs();
    task_id take_others(id_test wanted);
};

/// Return true if a task on this thread's stack must end before the awaited task, or the scope, can
/// end. The cost grows with the stack only if this seat has begun the awaited task. Otherwise only
/// the topmost tasks are checked, so a task deep below them may be missed. `steps` counts the
/// checked tasks.
bool needs_stack(const wait_room& rt, const wait_seat& w, task_id id, unsigned* steps = nullptr);
bool needs_stack(const wait_room& rt, const wait_seat& w, const scope_state& all,
                 unsigned* steps = nullptr);
/// Returns true if the wait can never end because its target needs this very thread to go on, and
/// reports this. If `over_awaits` is true, tasks that a suspended coroutine awaits count as needed,
/// too. But one of several such tasks may be enough for the coroutine, or a cancellation may end
/// its await. So only a thread that has nothing else to do passes true.
bool waits_for_itself(wait_room& rt, const wait_seat& w, const wait_target& target,
                      bool over_awaits);

}  // namespace detail
BRAID_NAMESPACE_END
