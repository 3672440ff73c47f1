#pragma once
// Ready tasks that not every thread may run: for one thread (`on`) in its inbox, for a set of
// workers (`workers`) in one list that its members look into.

#include "core/outside/outside_room.hpp"
#include "core/ready/ready_seat.hpp"
#include "core/task/id_test.hpp"

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
    /// False, and reported: there is no such thread.
    bool put_direct(std::uint32_t index);
    /// There may be tasks that were given to this thread. relaxed: a look between two tasks.
    bool direct_work(const ready_seat& w) const {
        return w.box.size(relaxed) != 0 || (masked_for_.load(relaxed) & w.mask) != 0;
    }
    /// For a thread that has announced its sleep. seq_cst: pairs with task_list::append() and
    /// put_masked() (I5).
    bool direct_work_after_announcement(const ready_seat& w) const {
        return w.box.size(seq_cst) != 0 || (masked_for_.load(seq_cst) & w.mask) != 0;
    }
    /// The oldest of the highest level, if that is `lowest` or above.
    task_id direct_task(ready_seat& w, unsigned lowest = 0);
    task_id direct_task_if(ready_seat& w, id_test wanted);
    /// The task lies here for that thread, and is the caller's now.
    void take_out_direct(ready_seat& w, task_id id);
    /// Calls f(index) for what the thread may run.
    template <class F>
    void each_direct(const ready_seat& w, F&& f) const;
    /// Clears a hint, so that a thread for which nothing lies here can sleep.
    void note_no_masked_task(const ready_seat& w);
    /// Work that is needed by `w` may lie with a thread that sleeps in a wait of its own and did
    /// not need it when it came: it looks again.
    void ask_pinned_threads(const ready_seat& w);
    /// After an edge was added. seq_cst: pairs with put_into_box() and put_masked(). Either what
    /// they put there is seen here, or the thread that they notify sees the edge.
    bool direct_work_of_any() const {
        return in_boxes_.load(seq_cst) != 0 || masked_.size(seq_cst) != 0;
    }

    /// The thread leaves. False: there is something in its inbox.
    static bool close_box(ready_seat& w);
    /// Another thread has the seat, under that name.
    static void open_box(ready_seat& w, const char* name);

private:
    bool put_into_box(std::uint32_t index, unsigned seat, std::uint16_t visit);
    bool put_masked(std::uint32_t index, std::uint64_t mask);
    std::uint64_t members_of_masks() const;
    void wake_member(std::uint64_t mask);
    std::uint32_t take_from_box(ready_seat& w, auto&& fits) {
        const locked lock(w.box.lock);
        const std::uint32_t index = w.box.take_first(*this, fits);
        // relaxed: more than there are costs a look.
        if (index != no_index) in_boxes_.fetch_sub(1, relaxed);
        return index;
    }

    alignas(64) task_list masked_;         // tasks for a mask of workers
    atomic<std::uint64_t> masked_for_{0};  // some of them may be for these
    atomic<std::uint32_t> in_boxes_{0};    // tasks that lie in inboxes
};

template <class F>
void direct_room::each_direct(const ready_seat& w, F&& f) const {
    for (const task_list* list : {&w.box, &masked_}) {
        const locked lock(list->lock);
        list->each(*this, [&](std::uint32_t i) {
            if (may_run_on(slot_at(i), w)) f(i);
        });
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
