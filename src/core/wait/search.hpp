#pragma once
// Finds what a waiting thread may run on top of its wait: work that the wait needs, and nothing
// else (I6).

#include "core/wait/wait_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns true if the calling thread's stack has room for another task.
bool enough_stack(const wait_room& rt, wait_seat& w);

/// Searches for work on behalf of one wait. A task that is found is claimed, and the caller must
/// run it.
class work_search {
public:
    work_search(wait_room& rt, wait_seat& w, const wait_target& target, help policy)
        : rt_(rt), w_(w), target_(target), policy_(policy) {}

    /// Returns a needed task, or an empty id. Looks only at the first entries of each queue,
    /// because a thread that stands in runs what lies deeper.
    task_id find();
    /// Does what find() does, but looks at all entries.
    task_id find_anywhere();
    /// Returns any task that this thread may run. Tasks that promised never to wait come first.
    /// Then comes the oldest task, which most likely waits for nothing that came later.
    task_id oldest_ready();

    /// Returns a needed task that find() might never come to, because other needed tasks give way
    /// again and again.
    task_id needed_of_others();
    /// Returns true if a task may be ready that the wait does not need. Claims nothing.
    bool others_are_ready();
    /// Returns a task that the wait does not need, the oldest one of its queue, or an empty id.
    task_id oldest_of_others();
    /// Returns true if the wait needs the entry, by the needs that find() found last for this
    /// target.
    bool is_needed(std::uint64_t entry) const;
    /// Returns true for a child of the awaited task that has a kind of its own, for example for a
    /// node in the run of a graph.
    bool wants_its_kind(task_id id) const;

protected:
    wait_room& rt_;
    wait_seat& w_;
    const wait_target& target_;
    const help policy_;
    bool others_cannot_ = false;  // no thread could stand in when this one last asked

private:
    task_id claim_needed(std::size_t look_at);
    bool serves(std::uint64_t entry) const;
    /// Returns true if the list `needed` of the seat lists what this wait needs.
    bool needs_are_known() const {
        return w_.needed_for == target_.task && w_.needed_list == target_.list;
    }
    void look_for_needs();
    void find_needs();
    task_id take_others(id_test wanted);
};

/// Return true if a task on this thread's stack must end before the awaited task, or the scope, can
/// end. The cost grows with the stack only if this seat has begun the awaited task. Otherwise a
/// task that lies very deep below others may be missed. `steps` counts the tasks that were looked
/// at.
bool needs_stack(const wait_room& rt, const wait_seat& w, task_id id, unsigned* steps = nullptr);
bool needs_stack(const wait_room& rt, const wait_seat& w, const scope_state& all,
                 unsigned* steps = nullptr);
/// Returns true, and reports it, if the wait can never end because what it is for needs this very
/// thread. If `over_awaits` is true, tasks that a suspended coroutine awaits count as well. One of
/// several such tasks may be enough for the coroutine, or a cancellation may end its await. So only
/// a thread that has nothing else to do passes true.
bool waits_for_itself(wait_room& rt, const wait_seat& w, const wait_target& target,
                      bool over_awaits);

}  // namespace detail
BRAID_NAMESPACE_END
