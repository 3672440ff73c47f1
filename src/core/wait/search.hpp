#pragma once
// What a waiting thread may run on top of its wait: work that the wait needs, and nothing else
// (I6).

#include "core/wait/wait_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// There is room for another task on this thread's stack.
bool enough_stack(const wait_room& rt, wait_seat& w);

/// The search of one wait. What it finds is claimed: the caller runs it.
class work_search {
public:
    work_search(wait_room& rt, wait_seat& w, const wait_target& target, help policy)
        : rt_(rt), w_(w), target_(target), policy_(policy) {}

    /// Looks at the first entries of each queue: a thread that stands in runs what lies deeper.
    task_id find();
    /// Does the same as find(), however much lies there.
    task_id find_anywhere();
    /// Whatever this thread may run: first what promised never to wait, then what is oldest, which
    /// most likely waits for nothing that came before it.
    task_id oldest_ready();

    /// What is needed gives way again and again. What is needed, too, and find() might never come
    /// to:
    task_id needed_of_others();
    /// And what is not needed. One may be ready:
    bool others_are_ready();
    task_id oldest_of_others();
    /// By what find() found for this target lately.
    bool is_needed(std::uint64_t entry) const;
    /// True for a task of its own kind below the awaited one: a node, in the run of a graph.
    bool wants_its_kind(task_id id) const;

protected:
    wait_room& rt_;
    wait_seat& w_;
    const wait_target& target_;
    const help policy_;
    bool others_cannot_ = false;  // no thread could stand in for this one when it last asked

private:
    task_id claim_needed(std::size_t look_at);
    bool serves(std::uint64_t entry) const;
    /// `needed` of the seat lists what this wait needs.
    bool needs_are_known() const {
        return w_.needed_for == target_.task && w_.needed_list == target_.list;
    }
    void look_for_needs();
    void find_needs();
    task_id take_others(id_test wanted);
};

/// A task on this thread's stack must end before the awaited one, or the scope, can. What it costs
/// does not grow with the stack, so a task that lies very deep below others may be missed. `steps`:
/// how many were looked at.
bool needs_stack(const wait_room& rt, const wait_seat& w, task_id id, unsigned* steps = nullptr);
bool needs_stack(const wait_room& rt, const wait_seat& w, const scope_state& all,
                 unsigned* steps = nullptr);
/// True, and reported: the wait can never end, because what it is for needs this very thread.
/// `over_awaits`: also if a suspended coroutine lies between. One of several that it awaits may be
/// enough, or a cancellation ends its await, so that is for a thread with nothing else to do.
bool waits_for_itself(wait_room& rt, const wait_seat& w, const wait_target& target,
                      bool over_awaits);

}  // namespace detail
BRAID_NAMESPACE_END
