#pragma once
// The ready room owns all queues of ready work: each thread's next task, the rings, the overflow
// lists, and the queues of the rooms below. It decides which thread gets a task, in which order
// tasks are taken, and which sleeping thread is woken.

#include "base/topology.hpp"
#include "core/ready/branches_room.hpp"
#include "core/report/policies.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Says where a search for a task starts: in the thread's own ring, at its newest or its oldest
/// task, or in the rings of other threads.
enum class look_first : std::uint8_t { own_newest, own_oldest, others };

/// Pauses a thread that finds nothing between two checks of the queues. The pause is short, because
/// it delays a task that another thread publishes meanwhile. One relax() takes 10 to 45 ns.
inline void pause_between_looks() {
    active_policy::relax();
    active_policy::relax();
}

class ready_room : public branches_room {
public:
    using branches_room::branches_room;

    // ---- tasks are enqueued
    /// Puts a ready task into the queue for tasks of its kind, and wakes a sleeping thread for it
    /// if one is needed. If no thread may run the task, reports that and returns false.
    bool try_enqueue(ready_seat& w, std::uint32_t index);
    /// Enqueues a ready task as try_enqueue() does. If no thread may run the task, cancels it and
    /// pushes it into the ring, so that any thread takes it and ends it.
    void enqueue(ready_seat& w, std::uint32_t index);
    /// Enqueues a task that gives way to others, for example because it has yielded. A task that
    /// any thread may run goes to the end of the overflow list of its level, behind the other
    /// tasks. All other tasks, and with a chooser all tasks, go where enqueue() puts them.
    void enqueue_last(ready_seat& w, std::uint32_t index);
    /// Pushes the task into the thread's own ring, from which all threads may take it. If the ring
    /// is full, put_in_overflow() makes room.
    void push_ready(ready_seat& w, task_id id, unsigned level) {
        // relaxed: the count is a hint. The ring itself says which tasks it has.
        if (level == high_level) high_ready_.fetch_add(1, relaxed);
        if (!w.ready[level].push(id.value)) {
            put_in_overflow(w, id, level);
        } else if (asleep().should_wake()) {
            wake_one();
        }
    }
    /// Pushes a task of the normal level without waiting for a lock. Returns false if the ring is
    /// full.
    bool try_push_ready(ready_seat& w, task_id id) {
        if (!w.ready[normal_level].push(id.value)) return false;
        // A thread that is outside the gate must not ask the chooser, because another thread may be
        // asking it at this moment.
        if (asleep().should_wake()) wake_one(true, !w.outside_gate);
        return true;
    }
    /// Returns true if the next try_push_ready() of this thread succeeds. That is certain, because
    /// no other thread puts tasks into its ring.
    static bool has_room(ready_seat& w) { return w.ready[normal_level].has_room(); }
    /// Makes the thread's innermost loop run this task next, without a queue. `depth` is the number
    /// of tasks on the thread's stack when the caller's task has ended. Returns false if that is
    /// not the loop's depth, if the loop has such a task already, or if the task has to go through
    /// a queue.
    bool set_run_next(ready_seat& w, std::uint32_t index, unsigned depth) const {
        if (depth != w.loop_depth || w.run_next || serial != nullptr) return false;
        const slot& s = slots.at(index);
        const bool follows = !s.has(flag_background) && !details.is_direct(s) &&
                             w.kind != seat_kind::background && slots.level_of(s) == normal_level;
        if (follows) w.run_next = slots.id_of(index);
        return follows;
    }
    /// Enqueues the task of set_run_next(), if there is one, so that other threads can take it. The
    /// thread calls this before it does anything other than return to its loop.
    void share_run_next(ready_seat& w) {
        if (const task_id id = std::exchange(w.run_next, {})) enqueue(w, index_of(id.value));
    }
    /// Raises the task to `level`, because a task of that level waits for it. Also raises its open
    /// predecessors.
    void inherit_priority(ready_seat& w, task_id id, std::uint8_t level);
    /// Called after the program has changed the table of levels. Moves each queued task whose level
    /// has changed from its ring, overflow list or background list to the queue of its new level.
    /// Inboxes need no such move, because a thread that takes a task from its inbox looks up the
    /// levels then.
    void requeue_by_table(ready_seat& w);

    // ---- tasks are taken
    /// Takes the next task for this thread, from the highest level that has one. Within a level it
    /// tries, in this order: tasks that only certain threads may run, the newest task of the
    /// thread's own ring, the overflow list, and the oldest task of another thread.
    task_id next_task(ready_seat& w);
    /// Takes a task of that level as next_task() does. A task that only certain threads may run may
    /// also be of a higher level.
    task_id ready_at(ready_seat& w, unsigned level, bool may_steal);
    /// Steals from another thread's ring, at most half of its tasks (but at least one), and returns
    /// the oldest. The other stolen tasks go to the ring of this thread. Returns an empty id if it
    /// found none.
    task_id steal(ready_seat& w, unsigned level);
    /// Takes a task for which `wanted(id)` is true from the rings and overflow lists, the highest
    /// level first. `first` says where it starts in each level. From the rings of other threads and
    /// from the overflow list it takes the oldest such task. Checks at most `look_at` tasks of each
    /// queue.
    task_id take_if(ready_seat& w, id_test wanted, std::size_t look_at, look_first first);
    /// Takes the task `id` if it is the newest in the thread's own ring. Returns false otherwise,
    /// or if a thief was quicker.
    bool take_own_newest(ready_seat& w, task_id id);
    /// Returns the newest task of the thread's ring of the normal level, without taking it. A loop
    /// checks whether it may run that task next, and then calls take_own_newest().
    static task_id own_newest(ready_seat& w) { return {w.ready[normal_level].newest()}; }
    /// Takes the task that own_newest() has just returned. Returns false if a thief was quicker.
    static bool take_own_newest(ready_seat& w) { return w.ready[normal_level].take_newest(); }
    /// Called only with a chooser. Lets it pick one of the ready tasks that the thread may run and
    /// for which `wanted(id)` is true. Returns an empty id if there is no such task.
    task_id choose_ready(ready_seat& w, id_test wanted);

    // ---- what is ready
    bool urgent_ready() const { return high_ready_.load(relaxed) > 0; }
    /// Returns true if there may be work that any thread can run. A thread that has announced its
    /// sleep calls this before it sleeps (I5).
    bool work_visible() const;
    /// Ends the thread's search for work, if it was searching. If the thread was the last to
    /// search, it checks the queues once more, and wakes another thread if it sees work.
    void leave_search(ready_seat& w);
    /// Calls f(ready_seat&) for all other seats, the nearest first, until f returns true. Returns
    /// true if f did. `last` is the seat at which the thread's last search ended. This search
    /// starts behind that seat, and changes `last`.
    template <class F>
    bool any_victim(const ready_seat& w, std::uint32_t& last, F&& f) const;
    /// Releases the permit of a thread that is about to sleep while a task lies on its stack, and
    /// wakes or starts a reserve thread to run tasks instead. Returns false if no reserve thread
    /// can be had; the thread then still has its permit.
    bool release_permit(ready_seat& w);
    /// Starts one more thread of the background class, if the class may have one more. If the
    /// system refuses the thread, calls make_frame_work().
    void start_background(ready_seat& w);

    // ---- policy/steals_pay.cpp
    bool steals_pay(ready_seat& w) const;

private:
    // ---- policy/unclaimed.cpp
    bool sees_unclaimed(ready_seat& w, std::int64_t now) const;
    std::uint64_t executed_by_others(const ready_seat& w) const;

    static constexpr std::size_t overflow_batch = 64;
    static constexpr std::uint32_t refills_in_a_row = 32;

    void put_in_overflow(ready_seat& w, task_id id, unsigned level);
    bool refill_from_overflow(ready_seat& w, unsigned level);
    bool others_come_first(unsigned level);
    task_id take_at(ready_seat& w, unsigned level, id_test wanted, std::size_t look_at,
                    look_first first);
    std::uint64_t claim_of_others(const ready_seat& w, unsigned level, id_test wanted,
                                  std::size_t look_at);
    bool take_out(ready_seat& w, task_id id, unsigned level);
    void count_taken(unsigned level) {
        if (level == high_level) high_ready_.fetch_sub(1, relaxed);  // a hint, as in push_ready()
    }
    void report_stolen(const ready_seat& w, const ready_seat& victim, task_id id) const;
    bool may_steal(ready_seat& w) const;
    void enqueue_background(ready_seat& w, std::uint32_t index);
    // choice.cpp
    void enqueue_for_choice(ready_seat& w, std::uint32_t index);
    void gather_for_choice();
    bool take_from_choices(task_id id);
    void make_frame_work(ready_seat& w);

    // The number of high-level tasks in queues, which is a hint. Threads check it before they take
    // a task of their own.
    alignas(64) atomic<std::int32_t> high_ready_{0};
    task_list overflow_[level_count];
    // For each level, how often threads went to the overflow list since one of them last stole a
    // task before it took one there. See others_come_first().
    atomic<std::uint32_t> refills_[level_count] = {};
};

template <class F>
bool ready_room::any_victim(const ready_seat& w, std::uint32_t& last, F&& f) const {
    const unsigned count = seat_count();
    // With a chooser, the order of the seats must depend only on the chooser's seed and not on the
    // machine. So all seats count as equally near.
    const topology* const machine = serial ? nullptr : places();
    const unsigned levels = machine != nullptr ? machine->levels : 0;
    const std::uint32_t here = levels != 0 ? platform::current_core() : 0;
    for (unsigned d = 0; d <= levels; ++d) {
        for (unsigned n = 0; n < count; ++n) {
            if (++last >= count) last = 0;
            ready_seat& victim = seat_at(last);
            if (&victim == &w) continue;
            const unsigned far =
                levels == 0 ? 0
                            : std::min(levels, machine->distance(here, victim.core.load(relaxed)));
            if (far == d && f(victim)) return true;
        }
    }
    return false;
}

}  // namespace detail
BRAID_NAMESPACE_END
