#include "core/ready/ready_room.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

// ---- tasks are enqueued ------------------------------------------------------------------------

bool ready_room::try_enqueue(ready_seat& w, std::uint32_t index) {
    const slot& s = slots.at(index);
    if (s.has(flag_background)) {
        enqueue_background(w, index);
        return true;
    }
    if (details.is_direct(s)) return put_direct(index);
    if (serial != nullptr) {
        enqueue_for_choice(w, index);
    } else {
        push_ready(w, slots.id_of(index), slots.level_of(s));
    }
    return true;
}

void ready_room::enqueue(ready_seat& w, std::uint32_t index) {
    if (try_enqueue(w, index)) return;
    slot& s = slots.at(index);
    s.mark(flag_cancel);
    push_ready(w, slots.id_of(index), slots.level_of(s));
}

void ready_room::enqueue_last(ready_seat& w, std::uint32_t index) {
    ++w.gave_way;
    const slot& s = slots.at(index);
    if (s.has(flag_background) || details.is_direct(s) || serial != nullptr)
        return enqueue(w, index);
    const unsigned level = slots.level_of(s);
    if (level == high_level) high_ready_.fetch_add(1, relaxed);  // a hint, as in push_ready()
    {
        const locked lock(overflow_[level].lock);
        overflow_[level].append(slots, index, index);
    }
    if (asleep().should_wake()) wake_one();
}

/// Called when the thread's ring has no room for the task `id`. Moves the oldest tasks of the ring
/// to the overflow list, many of them under one lock, and then pushes the task.
void ready_room::put_in_overflow(ready_seat& w, task_id id, unsigned level) {
    std::uint64_t oldest[overflow_batch];
    std::size_t count =
        w.ready[level].take_oldest(oldest, std::min(overflow_batch, w.ready[level].size() / 2));
    for (std::size_t i = 1; i < count; ++i) {
        slots.at(index_of(oldest[i - 1])).next.store(index_of(oldest[i]), relaxed);
    }
    {
        task_list& list = overflow_[level];
        const locked lock(list.lock);
        if (count != 0) {
            list.append(slots, index_of(oldest[0]), index_of(oldest[count - 1]),
                        static_cast<std::uint32_t>(count));
        }
        // This push finds room, because take_oldest() has moved top_. If it did not, the task would
        // go to the list, too.
        if (!w.ready[level].push(id.value)) {
            list.append(slots, index_of(id.value), index_of(id.value));
            ++count;
        }
    }
    seat_counters::add(w.report.counters.spilled, count);
    if (asleep().should_wake()) wake_one();
}

/// Moves the oldest tasks of the overflow list into the thread's empty ring, so that the oldest of
/// them is popped first. Returns false if the list is empty.
bool ready_room::refill_from_overflow(ready_seat& w, unsigned level) {
    task_list& list = overflow_[level];
    if (list.size(relaxed) == 0) return false;
    std::uint64_t taken[overflow_batch];
    std::size_t count = 0;
    {
        const locked lock(list.lock);
        count = list.take_oldest(slots, taken, std::min(overflow_batch, w.ready[level].size()));
    }
    if (count == 0) return false;
    w.ready[level].refill(taken, count);
    // The tasks were in no queue for a moment. A thread that checked the queues then and fell
    // asleep may have missed them.
    if (asleep().should_wake()) wake_one();
    return true;
}

void ready_room::inherit_priority(ready_seat& w, task_id id, std::uint8_t level) {
    // Most often the task has that level already. If another task uses the slot by now, the task
    // `id` is complete and needs no level.
    if (slots.level_of(slots.at(id)) >= level) return;
    // The predecessors of a raised task inherit its level, and so do their own predecessors. The
    // list of tasks that are still to be raised has 64 places. Further predecessors are not raised,
    // since inheritance is a help and not a promise.
    constexpr unsigned limit = 64;
    task_id list[limit] = {id};
    unsigned count = 1;
    while (count != 0) {
        const task_id at = list[--count];
        if (!slots.is_open(at)) continue;
        slot& s = slots.at(at);
        const std::uint8_t before = slots.level_of(s);
        if (before >= level) continue;
        // The level is stored before the flag is cleared, because a reader that still sees the flag
        // takes the level for a category. Each level is a valid category, but a category need not
        // be a valid level. release: pairs with level_of().
        s.level.store(level, relaxed);
        s.flags.fetch_and(static_cast<std::uint16_t>(~flag_category), release);
        if (s.waits_for.load(relaxed) == 0) {
            // The task may be ready and in the queue of its old level. If so, it moves to the new
            // one.
            if (take_out(w, at, before)) enqueue(w, index_of(at.value));
            continue;
        }
        edges.any_predecessor(at, [&](task_id from) {
            if (count != limit) list[count++] = from;
            return count == limit;
        });
    }
}

void ready_room::requeue_by_table(ready_seat& w) {
    for (unsigned level = 0; level < level_count; ++level) {
        const auto moves = [&](std::uint32_t index) {
            const slot& s = slots.at(index);
            return s.has(flag_category) && slots.level_of(s) != level;
        };
        const auto task_moves = [&](std::uint64_t id) { return moves(index_of(id)); };
        while (const task_id id = take_at(w, level, task_moves, SIZE_MAX, look_first::own_oldest)) {
            enqueue(w, index_of(id.value));
        }
        while (true) {
            const std::uint32_t index = take_background_if(level, moves);
            if (index == no_index) break;
            enqueue(w, index);
        }
    }
}

// ---- tasks are taken ---------------------------------------------------------------------------

namespace {

std::size_t steal_from(ready_queue& ring, std::uint64_t* taken, std::size_t limit, ready_seat& w) {
    if (ring.looks_empty()) return 0;
    if constexpr (policies::steals_pay) {
        const std::int64_t began = active_policy::now();
        const std::size_t count = ring.steal(taken, limit);
        if (count != 0) note_claims(w, count, active_policy::now() - began);
        return count;
    } else {
        return ring.steal(taken, limit);
    }
}

}  // namespace

/// Steals several tasks at once. A steal fetches cache lines from the victim's core, so small tasks
/// would not be worth one steal each. All stolen tasks but the first go to the thread's own ring,
/// which is empty, and from which other threads may steal them. Tasks of the high level are stolen
/// one by one, because they are few and each should get a thread of its own.
task_id ready_room::steal(ready_seat& w, unsigned level) {
    constexpr std::size_t most = 32;
    const std::size_t limit = level == high_level ? 1 : std::min(most, w.ready[level].size());
    std::uint64_t taken[most];
    task_id first;
    any_victim(w, w.victim, [&](ready_seat& victim) {
        const std::size_t count = steal_from(victim.ready[level], taken, limit, w);
        if (count == 0) return false;
        first = {taken[0]};
        seat_counters::add(w.report.counters.stolen, count);
        for (std::size_t i = 0; i < count && report.observed(); ++i) {
            report_stolen(w, victim, {taken[i]});
        }
        if (policies::steals_pay && level != high_level) {
            w.stole = static_cast<unsigned>(count);
            w.stole_at = active_policy::now();
        }
        if (count == 1) return true;
        // Prefetches all slots at once, because each of them is two cache lines that come from the
        // victim's core.
        for (std::size_t i = 0; i < count; ++i) slots.at(index_of(taken[i])).prefetch();
        w.ready[level].refill(taken + 1, count - 1);
        if (asleep().should_wake()) wake_one();  // a sleeper may have missed them
        return true;
    });
    return first;
}

void ready_room::report_stolen(const ready_seat& w, const ready_seat& victim, task_id id) const {
    report.watcher().on_event(
        {.kind = event_kind::stolen, .seat = w.index, .seat_from = victim.index, .task = id});
}

/// Returns true if the thread may steal now. If steals do not pay, only a thread that has other
/// work may steal. This is decided once for all levels. Otherwise the answer could change between
/// two levels, and the thread would take a task of a lower level before one of a higher level.
bool ready_room::may_steal(ready_seat& w) const {
    if constexpr (policies::steals_pay) {
        if (steals_pay(w)) return true;
    } else {
        return true;
    }
    for (unsigned level = 0; level < level_count; ++level) {
        if (w.ready[level].newest() != 0 || overflow_[level].size(relaxed) != 0) return true;
    }
    return direct_work(w);
}

/// Returns true if the thread has to steal before it takes a task from the overflow list. A task
/// that yields goes to that list, and a thread that finds a task there does not check the rings of
/// others. So tasks that yield again and again would delay the tasks in those rings for ever.
bool ready_room::others_come_first(unsigned level) {
    if (overflow_[level].size(relaxed) == 0) return false;
    // relaxed: the count orders no other data. It does no harm if two threads both steal, or if one
    // of them steals late.
    return refills_[level].fetch_add(1, relaxed) >= refills_in_a_row;
}

task_id ready_room::ready_at(ready_seat& w, unsigned level, bool may_steal) {
    if (const task_id id = direct_task(w, level)) return id;
    if (level == high_level && !urgent_ready()) return {};
    std::uint64_t id = w.ready[level].pop();
    if (id == 0 && others_come_first(level)) {
        id = steal(w, level).value;
        // relaxed: as in others_come_first(). As long as such steals find tasks, a steal and a
        // take from the list alternate.
        refills_[level].store(id != 0 ? refills_in_a_row - 1 : 0, relaxed);
    }
    if (id == 0 && refill_from_overflow(w, level)) id = w.ready[level].pop();
    if (id == 0 && (may_steal || level == high_level)) id = steal(w, level).value;
    if (id != 0) count_taken(level);
    return {id};
}

task_id ready_room::next_task(ready_seat& w) {
    if (serial) return choose_ready(w, [](std::uint64_t) { return true; });
    if (!urgent_ready() && !direct_work(w)) {
        // The usual case: there is no urgent task and none for this thread alone, so the newest
        // task of the thread's own ring is next.
        if (const std::uint64_t id = w.ready[normal_level].pop()) return {id};
    }
    // Below, tasks that only certain threads may run are taken first. So if such a task yields, it
    // would run again at once. After many yields the thread takes a task of the other queues first.
    if (gives_way_again_and_again(w) && direct_work(w)) {
        constexpr auto any = [](std::uint64_t) { return true; };
        if (const task_id id = take_if(w, any, SIZE_MAX, look_first::others)) return id;
    }
    const bool steals = may_steal(w);
    for (unsigned level = level_count; level-- != 0;) {
        if (const task_id id = ready_at(w, level, steals)) return id;
    }
    return {};
}

std::uint64_t ready_room::claim_of_others(const ready_seat& w, unsigned level, id_test wanted,
                                          std::size_t look_at) {
    const unsigned count = seat_count();
    std::uint64_t id = 0;
    for (unsigned n = 1; id == 0 && n < count; ++n) {
        id = seat_at((w.index + n) % count).ready[level].claim_oldest_if(wanted, look_at);
    }
    return id;
}

task_id ready_room::take_at(ready_seat& w, unsigned level, id_test wanted, std::size_t look_at,
                            look_first first) {
    ready_queue& own = w.ready[level];
    std::uint64_t id = first == look_first::others ? claim_of_others(w, level, wanted, look_at) : 0;
    if (id == 0) {
        id = first == look_first::own_newest ? own.claim_newest_if(wanted, look_at)
                                             : own.claim_oldest_if(wanted, look_at);
    }
    if (id == 0 && first != look_first::others) id = claim_of_others(w, level, wanted, look_at);
    task_list& list = overflow_[level];
    if (id == 0 && list.size(relaxed) != 0) {
        const locked lock(list.lock);
        const std::uint32_t i = list.take_first(
            slots, [&](std::uint32_t t) { return wanted(slots.id_of(t).value); }, look_at);
        if (i != no_index) id = slots.id_of(i).value;
    }
    if (id != 0) count_taken(level);
    return {id};
}

task_id ready_room::take_if(ready_seat& w, id_test wanted, std::size_t look_at, look_first first) {
    for (unsigned level = level_count; level-- != 0;) {
        if (level == high_level && !urgent_ready()) continue;
        if (w.ready[level].newest() == 0) refill_from_overflow(w, level);
        if (const task_id id = take_at(w, level, wanted, look_at, first)) return id;
    }
    return {};
}

bool ready_room::take_own_newest(ready_seat& w, task_id id) {
    const unsigned level = slots.level_of(slots.at(id));
    ready_queue& own = w.ready[level];
    if (own.newest() != id.value || !own.take_newest()) return false;
    count_taken(level);
    return true;
}

/// Removes the task from the queue of that level. Returns true if the queue had the task; the task
/// then belongs to the caller.
bool ready_room::take_out(ready_seat& w, task_id id, unsigned level) {
    if (slots.at(id).has(flag_background)) return take_out_of_background(id, level);
    if (serial != nullptr && take_from_choices(id)) return true;
    const auto is_it = [&](std::uint64_t entry) { return entry == id.value; };
    return static_cast<bool>(take_at(w, level, is_it, SIZE_MAX, look_first::own_newest));
}

// ---- what is ready -----------------------------------------------------------------------------

bool ready_room::work_visible() const {
    for (const task_list& list : overflow_) {
        if (list.size(seq_cst) != 0) return true;
    }
    if (serial != nullptr && serial->ready().any()) return true;
    const unsigned count = seat_count();
    for (unsigned i = 0; i < count; ++i) {
        for (const ready_queue& queue : seat_at(i).ready) {
            if (queue.maybe_work()) return true;
        }
    }
    return branches_visible();
}

void ready_room::leave_search(ready_seat& w) {
    const searcher was = std::exchange(w.search, searcher::none);
    if (was == searcher::none) return;
    if (asleep().end_search(was) && work_visible()) wake_one();
}

bool ready_room::release_permit(ready_seat& w) {
    const stand_in found = give_permit_away(w);
    // `enough`: the reserve threads that replace waiters may all be in waits themselves. So this
    // wakes the next thread for the work. That thread does the same when it waits, until one of
    // these threads has to start another reserve thread.
    if (found == stand_in::enough && work_visible()) wake_one();
    return found != stand_in::refused;
}

// ---- the background class ----------------------------------------------------------------------

void ready_room::enqueue_background(ready_seat& w, std::uint32_t index) {
    if (const seats_seat* const sleeper = put_in_background(index)) {
        notify(sleeper->index);
    } else {
        start_background(w);
    }
}

void ready_room::start_background(ready_seat& w) {
    unsigned number = 0;
    if (!add_background_thread(number)) return;
    seats_seat* const added = add_seat(seat_kind::background, number, "background");
    if (added != nullptr && start_or_vacate(*added)) return;
    background_thread_refused();
    make_frame_work(w);
}

/// Called when the system refuses a background thread. Moves queued background tasks to the frame
/// class, at the low level, unless a background thread runs a task and will come back for them. If
/// there is no such thread, or if all of them wait, the tasks would stay queued for ever (I1).
void ready_room::make_frame_work(ready_seat& w) {
    while (const task_id id = take_stranded_background()) {
        slot& s = slots.at(id);
        s.level.store(static_cast<std::uint8_t>(priority_level::low), relaxed);
        // The task may take as long as background work does, so it gets no long-task warning.
        s.flags.fetch_or(flag_quiet, relaxed);
        // release: as in inherit_priority(); pairs with level_of().
        s.flags.fetch_and(static_cast<std::uint16_t>(~(flag_background | flag_category)), release);
        enqueue(w, index_of(id.value));
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
