#pragma once
// The life of a task: it is opened and published, becomes ready, and is complete at its end. This
// room also records how a task failed, and passes the failure to its receivers.

#include "core/life/suspension_lists.hpp"
#include "core/slots/words.hpp"

#include <cstdint>
#include <exception>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The result of end_plain(). `open` means that other shares keep the task open. `complete` means
/// that nothing is left to do. After `not_closed` the caller calls complete(), and after `closed`
/// it calls complete_closed().
struct plain_end {
    enum : std::uint8_t { open, complete, not_closed, closed } kind;
    std::uint64_t head;  // what close_and_take() returned, if `kind` is closed
};

class life_room : public suspension_lists {
public:
    using suspension_lists::suspension_lists;

    // ---- open
    /// Returns true if the thread may make tasks now. Any thread may while the scheduler runs.
    /// While it drains, only a thread inside a task may, or one that makes only children of open
    /// tasks.
    bool accepts_from(const life_seat& w) const {
        const life now = phase(acquire);  // pairs with advance_phase()
        return now == life::running ||
               (now == life::draining && (w.top != nullptr || w.makes_children));
    }
    draft open(life_seat& w, const task_options& options, draft_kind kind);
    /// Opens a task that has no options but a name and a scope. It is faster than open(), because
    /// it leaves out what only other tasks need. Returns an empty draft if the scheduler is shut
    /// down or there is no memory. `cached` promises that the seat's cache has a free slot.
    template <bool cached = false>
    draft open_plain(life_seat& w, scope* within, const char* name, draft_kind kind);
    /// Posts a task that calls function(data). Neither allocates nor blocks. Returns false if no
    /// slot or no room in the queue is free, or the scheduler is shut down.
    bool try_post(life_seat& w, void (*function)(void* data), void* data) noexcept;
    /// Returns the flags that say where and how a task with these options runs.
    static std::uint16_t flags_of(const task_options& options);
    static std::uint8_t level_of(const task_options& options);
    /// Reports a mistake in the options, and returns false if there is one. `self` is this object.
    bool good_options(const runtime& self, const task_options& options) const;
    /// Makes a detail_block and fills it in from the options. Returns false if there is no memory.
    bool fill_detail(life_seat& w, slot& s, const task_options& o, draft_kind kind);

    // ---- publish
    task_id publish(life_seat& w, draft d, closure_fn body);
    task_id publish_plain(life_seat& w, draft d, closure_fn body) {
        slot& s = slot_of(d);
        s.invoke = body;
        const task_id id{join_word(s.generation(), index_of(d))};
        push_ready(w, id, normal_level);
        return id;
    }
    /// Makes the draft an empty task of a builder, and returns its id. Predecessors may be added
    /// until finish_building().
    task_id build_empty(draft d) const;
    void abandon(life_seat& w, draft d, std::uint16_t as);
    void finish_building(life_seat& w, task_id id, bool cancel);
    bool add_dependency(life_seat& w, task_id id, task_id predecessor);
    /// Queues a task that is ready and was reported as ready. A task that is not to run ends here.
    void queue_ready(life_seat& w, std::uint32_t index);

    // ---- complete
    void own_work_done(life_seat& w, std::uint32_t index);
    /// Ends a plain task that did not fail. `observed` says whether an observer is installed.
    template <bool observed>
    plain_end end_plain(life_seat& w, slot& s, std::uint32_t index, bool posted);
    void end_without_running(life_seat& w, std::uint32_t index);
    void complete(life_seat& w, std::uint32_t index, bool completion_reported = false);
    /// Called before the thread waits, blocks or helps. A user destructor that runs while the
    /// thread completes tasks may do so. The thread's other pending tasks would then stay open
    /// until that destructor returns. So this call completes them now, and from then on each task
    /// that ends completes at once. Returns the former value of `w.completing`, which the caller
    /// restores afterwards. If the seat is the spare seat, another seat becomes the spare one.
    bool complete_meanwhile(life_seat& w) {
        const bool outer = w.completing;
        if (outer) complete_pending(w);
        if (w.spare) replace_spare(w);
        return outer;
    }
    /// Completes a task whose successor list is already closed. `head` is what close_and_take()
    /// returned.
    void complete_closed(life_seat& w, std::uint32_t index, std::uint64_t head, outcome* result);
    /// Notifies successors and waiters that the task is complete. If `result` is not null, returns
    /// true if a waiter has received this failure.
    bool notify_dependents(life_seat& w, std::uint32_t index, std::uint64_t head, outcome* result);
    void release_holder(life_seat& w, task_id id) { recycle(w, index_of(id.value)); }

    /// Records that the task failed with `error`, or was cancelled if `error` is null. `by` is the
    /// name of the task or job that threw, if that was not the task of that index.
    void record_failure(life_seat& w, std::uint32_t index, std::exception_ptr error,
                        std::uint32_t ordinal, const char* by = nullptr);

    std::uint64_t refused() const { return refused_.load(relaxed); }

protected:
    // ---- wait_at_hand.cpp
    /// Called before another thread may complete the task. If a wait of this thread runs the task
    /// and is not in the parking lot yet, this call puts the wait's record there.
    void enter_wait_at_hand(life_seat& w, std::uint32_t index);
    /// Called when the scope was cancelled. Asks its completions, and ends the waits of its
    /// suspended tasks that may end early.
    void cancel_waits_of(life_seat& w, const scope_state& of);
    void make_ready(life_seat& w, std::uint32_t index, task_id released_by);
    /// Called when a task that waits has got predecessors, and the thread that set it up is done. A
    /// thread that sleeps in a wait for this task may now have to run work from its own inbox. So
    /// it is woken and searches again.
    void announce_needs(const life_seat& w, task_id id);

    struct first_words {
        const char* name;
        std::uint16_t flags;
        std::uint8_t level;
        const task_environment* environment;
    };
    slot* new_task(std::uint32_t index, const first_words& with,
                   std::uint32_t waits_for = 0) noexcept;

private:
    bool needs_only_itself(task_id id) const;
    bool add_to_parent(slot& s, task_id parent);
    const task_environment* environment_for(const life_seat& w, const task_options& o) const;
    bool depend(life_seat& w, std::uint32_t index, task_id predecessor, bool any_outcome);
    bool depend_on_all(life_seat& w, std::uint32_t index, const task_options& o);
    bool report_end(life_seat& w, slot& s, task_id id, bool posted);
    bool drop_own_share(life_seat& w, slot& s, std::uint32_t index) {
        if (w.unentered != nullptr) [[unlikely]]
            return drop_only_share_or_enter(w, s, index);
        return drop_open_work(s.open);
    }
    bool drop_only_share_or_enter(life_seat& w, slot& s, std::uint32_t index);
    static bool may_be_named(const seats_seat& w);

    bool give_to_unentered(const life_seat& w, task_id id, outcome& result);
    bool notify_awaiting(life_seat& w, std::uint32_t e, task_id from, outcome* result);
    void complete_pending(life_seat& w, bool first_is_reported = false);
    void complete_one(life_seat& w, std::uint32_t index, bool completion_reported);
    void pass_on(life_seat& w, const slot& s, outcome& result, std::uint32_t parent);
    static end_of_task how_it_ended(const slot& s);
    void recycle(life_seat& w, std::uint32_t index);

    atomic<std::uint64_t> refused_{0};
};

/// Completes the tasks whose last share was dropped where no user destructor may run. See
/// held_task.
inline void complete_held_back(life_room& rt, life_seat& w) {
    if (w.to_complete == no_index) return;
    const bool outer = std::exchange(w.completing, true);
    rt.complete_meanwhile(w);
    w.completing = outer;
}

// ---- inline: a plain task begins and ends without the branches that others need ----------------
// A plain task has no options but a name and a scope. Its end leaves out what only other tasks
// need.

/// Writes the first fields of a new task into the slot that slots.take() has returned. Returns null
/// if that is no_index. `waits_for` is the task's count when the slot becomes open. Another thread
/// that finds the slot with a count of 0 takes the task for ready. So pass 0 only for a task that
/// has neither a detail block nor edges.
[[gnu::always_inline]] inline slot* life_room::new_task(std::uint32_t index,
                                                        const first_words& with,
                                                        std::uint32_t waits_for) noexcept {
    if (index == no_index) return nullptr;
    slot& s = slots.at(index);
    s.name = with.name;
    s.module = 0;
    s.flags.store(with.flags, relaxed);
    s.level.store(with.level, relaxed);
    s.set_own_index(index);
    s.environment.store(with.environment, relaxed);
    if (waits_for != 0) s.waits_for.store(waits_for, relaxed);
    open_words(s.open, s.successors, s.generation() + 1, 1);
    return &s;
}

template <bool cached>
[[gnu::always_inline]] inline draft life_room::open_plain(life_seat& w, scope* within,
                                                          const char* name, draft_kind kind) {
    if (!accepts_from(w)) return {};
    const task_environment* environment = nullptr;
    if (within != nullptr) {
        environment = &within->internals().environment;
    } else if (w.top != nullptr) {
        environment = slots.at(w.top->slot).environment.load(relaxed);
    }
    const std::uint16_t flags = kind == draft_kind::posted ? flag_posted : 0;
    const std::uint32_t index = cached ? slots.take_cached(w.slots) : slots.take(w.slots);
    slot* const s = new_task(index, {name, flags, normal_level, environment});
    if (s == nullptr) return {};
    seat_counters::add(w.report.counters.created);
    count_creation(w, environment);
    return {s->storage, &w.whole};
}

template <bool observed>
[[gnu::always_inline]] inline plain_end life_room::end_plain(life_seat& w, slot& s,
                                                             std::uint32_t index, bool posted) {
    if constexpr (observed) {
        if (!report_end(w, s, slots.id_of(index), posted)) return {plain_end::open, 0};
    } else if (!posted && !drop_own_share(w, s, index)) {
        return {plain_end::open, 0};
    }
    if (s.detail.load(relaxed) != no_index || s.parent.load(relaxed) != no_index) {
        return {plain_end::not_closed, 0};
    }
    const std::uint32_t generation = s.generation();
    if (posted) {
        close_unused(s.successors, generation);
    } else {
        const std::uint64_t head = close_and_take(s.successors, generation);
        if (first_edge(head) != no_edge || (static_cast<std::uint32_t>(head) & waited_bit) != 0) {
            return {plain_end::closed, head};
        }
        // These are the only fields that clean() would have to reset.
        s.births.store(0, relaxed);
        s.runner.store(UINT16_MAX, relaxed);
    }
    slots.give(w.slots, index, generation);
    return {plain_end::complete, 0};
}

}  // namespace detail
BRAID_NAMESPACE_END
