#pragma once
// Every place where ready work can lie: the thread's next task, rings, lists for all, and what the
// rooms below have. Who finds it, who is woken, in which order it is taken.

#include "base/topology.hpp"
#include "core/ready/branches_room.hpp"
#include "core/report/policies.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Where a search begins: in the thread's own ring, at its newest or its oldest, or in the others'.
enum class look_first : std::uint8_t { own_newest, own_oldest, others };

/// Between two looks of a thread that finds nothing. Short: what somebody publishes waits as long.
/// One pause takes 10 to 45 ns.
inline void pause_between_looks() {
    active_policy::relax();
    active_policy::relax();
}

class ready_room : public branches_room {
public:
    using branches_room::branches_room;

    // ---- a task comes
    /// The task goes where tasks of its kind go, and a sleeping thread is woken for it. False, and
    /// reported: no thread may run it.
    bool try_enqueue(ready_seat& w, std::uint32_t index);
    /// Then it is cancelled and lies where any thread ends it.
    void enqueue(ready_seat& w, std::uint32_t index);
    /// Does what enqueue() does, behind all that is ready where any thread may run it.
    void enqueue_last(ready_seat& w, std::uint32_t index);
    /// Into the thread's own ring, for everybody.
    void push_ready(ready_seat& w, task_id id, unsigned level) {
        // relaxed: a hint; the ring knows what it has.
        if (level == high_level) high_ready_.fetch_add(1, relaxed);
        if (!w.ready[level].push(id.value)) {
            put_in_overflow(w, id, level);
        } else if (asleep().should_wake()) {
            wake_one();
        }
    }
    /// Does it for a normal task without waiting for a lock. False: the ring is full.
    bool try_push_ready(ready_seat& w, task_id id) {
        if (!w.ready[normal_level].push(id.value)) return false;
        // Outside the gate another thread may be asked at this moment.
        if (asleep().should_wake()) wake_one(true, !w.outside_gate);
        return true;
    }
    /// The next try_push_ready() of this thread does it, for nobody else puts into its ring.
    static bool has_room(ready_seat& w) { return w.ready[normal_level].has_room(); }
    /// The loop that the thread comes back to at that depth goes on with this task. False: it
    /// cannot.
    bool set_run_next(ready_seat& w, std::uint32_t index, unsigned depth) const {
        if (depth != w.loop_depth || w.run_next || serial() != nullptr) return false;
        const slot& s = slot_at(index);
        const bool follows = !s.has(flag_background) && !is_direct(s) &&
                             w.kind != seat_kind::background && level_of(s) == normal_level;
        if (follows) w.run_next = id_of(index);
        return follows;
    }
    /// The thread does something else first: others may have it.
    void share_run_next(ready_seat& w) {
        if (const task_id id = std::exchange(w.run_next, {})) enqueue(w, index_of(id.value));
    }
    /// A task of a higher level waits for this one: it counts as much from here on.
    void inherit_priority(ready_seat& w, task_id id, std::uint8_t level);
    /// The table of levels has changed: everything that lies in queues for everybody. Inboxes look
    /// levels up when they are served.
    void requeue_by_table(ready_seat& w);

    // ---- a task goes
    /// For this thread: what was given to it, its own newest, somebody's oldest.
    task_id next_task(ready_seat& w);
    /// Looks at that level alone.
    task_id ready_at(ready_seat& w, unsigned level, bool may_steal);
    /// Another thread's oldest; half of what lies there comes along.
    task_id steal(ready_seat& w, unsigned level);
    /// From what lies in queues for everybody, the highest level first; of other rings and of the
    /// list for all the oldest. Looks at so many of each ring.
    task_id take_if(ready_seat& w, id_test wanted, std::size_t look_at, look_first first);
    /// The newest of this thread's own, if it is this one.
    bool take_own_newest(ready_seat& w, task_id id);
    /// The newest of the normal level, for a loop that goes on with it if it is of the right kind.
    static task_id own_newest(ready_seat& w) { return {w.ready[normal_level].newest()}; }
    /// After that; false: a thief was quicker.
    static bool take_own_newest(ready_seat& w) { return w.ready[normal_level].take_newest(); }
    /// A chooser picks among those that the thread may run and that are `wanted`.
    task_id choose_ready(ready_seat& w, id_test wanted);

    // ---- what there is
    bool urgent_ready() const { return high_ready_.load(relaxed) > 0; }
    /// For a thread that has announced its sleep (I5).
    bool work_visible() const;
    /// The thread searches no more. Who searched last looks again, and wakes another one.
    void leave_search(ready_seat& w);
    /// Calls f(ready_seat&) for the other seats, nearest first, until it says true. `last`: where
    /// to go on.
    template <class F>
    bool any_victim(const ready_seat& w, std::uint32_t& last, F&& f) const;
    /// The thread is about to sleep with work on its stack: another one stands in. False: none can
    /// be had.
    bool release_permit(ready_seat& w);
    /// A thread more for the background class, if it may have one.
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
        if (level == high_level) high_ready_.fetch_sub(1, relaxed);  // as in push_ready()
    }
    void report_stolen(const ready_seat& w, const ready_seat& victim, task_id id) const;
    bool may_steal(ready_seat& w) const;
    void enqueue_background(ready_seat& w, std::uint32_t index);
    // choice.cpp
    void enqueue_for_choice(ready_seat& w, std::uint32_t index);
    void gather_for_choice();
    bool take_from_choices(task_id id);
    void make_frame_work(ready_seat& w);

    // Tasks of the high level that lie in queues: others look for them before their own.
    alignas(64) atomic<std::int32_t> high_ready_{0};
    task_list overflow_[level_count];
    // From the list of that level, by all threads, since one of them stole before it took there.
    atomic<std::uint32_t> refills_[level_count] = {};
};

template <class F>
bool ready_room::any_victim(const ready_seat& w, std::uint32_t& last, F&& f) const {
    const unsigned count = seat_count();
    // A chooser's decisions depend on nothing but its seed.
    const topology* const machine = serial() ? nullptr : places();
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
