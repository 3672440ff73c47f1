#pragma once
// The direct room owns the queues of ready tasks that only certain threads may run. A task for one
// thread (`on`) is in that thread's inbox. The tasks for sets of workers (`workers`) are all in one
// list, the masked list, which the workers of these sets check.

#include "core/outside/outside_room.hpp"
#include "core/ready/ready_seat.hpp"
#include "core/slots/id_test.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class direct_room : public outside_room {
public:
    using outside_room::outside_room;

    ready_seat& seat_at(unsigned index) const {
        return static_cast<ready_seat&>(seats_room::seat_at(index));
    }

    bool may_run_on(const slot& s, const seats_seat& w) const;
    /// Puts the task into the inbox of its thread or into the masked list, and wakes threads that
    /// may run it. If no thread may run the task, reports that and returns false.
    bool put_direct(std::uint32_t index);
    /// Returns true if there may be a task for this thread in its inbox or in the masked list.
    /// relaxed: this is a check between two tasks.
    bool direct_work(const ready_seat& w) const {
        return w.box.size(relaxed) != 0 || (masked_for_.load(relaxed) & w.mask) != 0;
    }
    /// Does what direct_work() does, for a thread that has announced its sleep. seq_cst: pairs with
    /// task_list::append() and put_masked() (I5).
    bool direct_work_after_announcement(const ready_seat& w) const {
        return w.box.size(seq_cst) != 0 || (masked_for_.load(seq_cst) & w.mask) != 0;
    }
    /// Takes a task for this thread from its inbox, or from the masked list if the inbox has none.
    /// Takes the oldest task of the highest level in that list, if this level is at least `lowest`.
    task_id direct_task(ready_seat& w, unsigned lowest = 0);
    task_id direct_task_if(ready_seat& w, id_test wanted);
    /// Removes the task from this thread's inbox or from the masked list, wherever it is. The task
    /// then belongs to the caller.
    void take_out_direct(ready_seat& w, task_id id);
    /// Calls f(index) for each task in the inbox or the masked list that the thread may run.
    template <class F>
    void each_direct(const ready_seat& w, F&& f) const;
    /// Clears the thread's bit in `masked_for_` if the masked list has no task for this thread. A
    /// bit may stay set after its tasks were taken, and would keep the thread from sleeping.
    void note_no_masked_task(const ready_seat& w);
    /// Wakes each other thread that may have a task in its inbox or in the masked list, so that it
    /// checks them again. `w` may need such a task, which only that other thread may run. That
    /// thread may sleep in a wait that did not need the task when the task came.
    void ask_pinned_threads(const ready_seat& w);
    /// Returns true if a task is in any inbox or in the masked list. Call this after an edge was
    /// added. seq_cst: pairs with put_into_box() and put_masked(). Either this function sees the
    /// task that they add, or the thread that they wake sees the edge.
    bool direct_work_of_any() const {
        return in_boxes_.load(seq_cst) != 0 || masked_.size(seq_cst) != 0;
    }

    /// Closes the inbox of a thread that leaves the scheduler. Returns false, and closes nothing,
    /// if a task is in the inbox.
    static bool close_box(ready_seat& w);
    /// Opens the inbox again for another thread, which now has the seat and calls itself `name`.
    static void open_box(ready_seat& w, const char* name);

private:
    bool put_into_box(std::uint32_t index, unsigned seat, std::uint16_t visit);
    bool put_masked(std::uint32_t index, std::uint64_t mask);
    std::uint64_t members_of_masks() const;
    void wake_member(std::uint64_t mask);
    std::uint32_t take_from_box(ready_seat& w, auto&& fits) {
        const locked lock(w.box.lock);
        const std::uint32_t index = w.box.take_first(slots, fits);
        // relaxed: a count that is too high costs only a check.
        if (index != no_index) in_boxes_.fetch_sub(1, relaxed);
        return index;
    }

    alignas(64) task_list masked_;         // tasks for a mask of workers
    atomic<std::uint64_t> masked_for_{0};  // workers for which a task may lie in masked_
    atomic<std::uint32_t> in_boxes_{0};    // number of tasks in all inboxes
};

template <class F>
void direct_room::each_direct(const ready_seat& w, F&& f) const {
    for (const task_list* list : {&w.box, &masked_}) {
        const locked lock(list->lock);
        list->each(slots, [&](std::uint32_t i) {
            if (may_run_on(slots.at(i), w)) f(i);
        });
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
