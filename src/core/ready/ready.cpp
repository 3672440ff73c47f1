// A task may start: where it goes, who finds it, who is woken.
#include "core/ready/attention.hpp"
#include "core/ready/lists.hpp"
#include "core/ready/victims.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constexpr auto high = static_cast<unsigned>(priority_level::high);

}  // namespace

/// From `first` to `last` they are linked already.
void runtime::append(inbox& list, std::uint32_t first, std::uint32_t last, std::uint32_t count) {
    slot_at(last).next.store(no_index, relaxed);
    if (list.last == no_index) {
        list.first = first;
    } else {
        slot_at(list.last).next.store(first, relaxed);
    }
    list.last = last;
    // seq_cst: pairs with the look of a thread that has announced its sleep (I5).
    list.size.fetch_add(count, seq_cst);
}

void runtime::make_ready(worker& w, std::uint32_t index, task_id released_by) {
    slot& s = slot_at(index);
    free_predecessors(w, s);
    if (observed()) report(w, event_kind::ready, id_of(index), released_by);
    queue_ready(w, index);
}

void runtime::queue_ready(worker& w, std::uint32_t index) {
    slot& s = slot_at(index);
    if ((s.flags.load(relaxed) & (flag_empty | flag_cancel)) != 0) {
        end_without_running(w, index);
        return;
    }
    // A node that is not to run waits for nothing: not for a thread, nor for resources.
    if (s.has(flag_own_way) && s.has(flag_failed)) {
        push_ready(w, id_of(index), level_of(s));
        return;
    }
    if (s.has(flag_resources) && !acquire_resources(w, index)) return;
    if (!set_run_next(w, index, w.depth)) enqueue(w, index);
}

/// For run_chain(), which follows as soon as the thread is back at that depth.
bool runtime::set_run_next(worker& w, std::uint32_t index, unsigned depth) {
    const slot& s = slot_at(index);
    constexpr std::uint16_t elsewhere = flag_direct | flag_background;
    const bool follows = depth == w.loop_depth && w.kind != seat_kind::background && !w.run_next &&
                         !serial() && !s.has(elsewhere) &&
                         level_of(s) == static_cast<unsigned>(priority_level::normal);
    if (follows) w.run_next = id_of(index);
    return follows;
}

void runtime::enqueue(worker& w, std::uint32_t index) {
    slot& s = slot_at(index);
    if (s.has(flag_background)) {
        enqueue_background(w, index);
        return;
    }
    if (s.has(flag_direct)) {
        enqueue_direct(w, index);
        return;
    }
    if (serial() != nullptr) return enqueue_for_choice(w, index);
    push_ready(w, id_of(index), level_of(s));
}

void runtime::push_ready(worker& w, task_id id, unsigned level) {
    if (level == high) high_ready.fetch_add(1, relaxed);
    if (!w.ready[level].push(id.value)) return put_in_overflow(w, id, level);
    if (asleep().should_wake()) wake_one();
}

/// The thread's ring is full: its oldest tasks go to the list for all, many under one lock.
void runtime::put_in_overflow(worker& w, task_id id, unsigned level) {
    std::uint64_t oldest[overflow_batch];
    std::size_t count =
        w.ready[level].take_oldest(oldest, std::min(overflow_batch, w.ready[level].size() / 2));
    for (std::size_t i = 1; i < count; ++i) {
        slot_at(index_of(oldest[i - 1])).next.store(index_of(oldest[i]), relaxed);
    }
    {
        const std::lock_guard lock(overflow[level].mutex);
        if (count != 0) {
            append(overflow[level], index_of(oldest[0]), index_of(oldest[count - 1]),
                   static_cast<std::uint32_t>(count));
        }
        // No room if thieves hold the place between what they claimed and what they did not.
        if (!w.ready[level].push(id.value)) {
            append(overflow[level], index_of(id.value), index_of(id.value));
            ++count;
        }
    }
    seat_counters::add(w.counters.spilled, count);
    if (asleep().should_wake()) wake_one();
}

/// Back into the thread's empty ring, the oldest to be the first that is popped. False: no more.
bool runtime::refill_from_overflow(worker& w, unsigned level) {
    if (overflow[level].size.load(relaxed) == 0) return false;
    std::uint64_t taken[overflow_batch];
    const std::size_t limit = std::min(overflow_batch, w.ready[level].size());
    std::size_t count = 0;
    {
        inbox& list = overflow[level];
        const std::lock_guard lock(list.mutex);
        for (; count != limit && list.first != no_index; ++count) {
            const slot& s = slot_at(list.first);
            s.prefetch();  // it lay there long
            taken[count] = id_of(list.first).value;
            list.first = s.next.load(relaxed);
        }
        if (list.first == no_index) list.last = no_index;
        list.size.fetch_sub(static_cast<std::uint32_t>(count), relaxed);
    }
    if (count == 0) return false;
    w.ready[level].refill(taken, count);
    // They were out of sight for a moment.
    if (asleep().should_wake()) wake_one();
    return true;
}

namespace {

/// While a thread does not steal: somebody has a few tasks, the oldest of which is the one of 2 µs
/// ago. Their owner does not come to them; perhaps it posts one now and then, and runs none.
bool lies_unclaimed(const runtime& rt, worker& w, std::int64_t now) {
    constexpr std::int64_t between_ns = 2'000;
    constexpr unsigned few = 4;
    constexpr auto normal = static_cast<unsigned>(priority_level::normal);
    if (now < w.unclaimed_again) return false;
    w.unclaimed_again = now + between_ns;
    std::uint64_t oldest = 0;
    const unsigned count = rt.seat_count();
    for (unsigned i = 0; i < count && oldest == 0; ++i) {
        worker* const victim = &rt.seat_at(i);
        if (victim == &w) continue;
        unsigned found = 0;
        std::uint64_t first = 0;
        victim->ready[normal].claim_oldest_if(
            [&](std::uint64_t id) {
                if (found++ == 0) first = id;
                return false;
            },
            few + 1);
        if (found <= few) oldest = first;
    }
    return oldest != 0 && oldest == std::exchange(w.unclaimed, oldest);
}

}  // namespace

/// A stolen task is worth it if it takes longer than its lines take from core to core. While those
/// stolen last did not, a thread that has nothing else to do only watches and steals again a little
/// later: it would slow their owner down.
bool runtime::steals_pay(worker& w) const {
    constexpr std::int64_t fetch_ns = 200, shortest_ns = 1'000, longest_ns = 20'000;
    if (w.stole == 0 && w.steal_pause == 0) return true;
    const std::int64_t now = active_policy::now();
    if (w.stole != 0) {
        const std::int64_t each = (now - w.stole_at - fetch_ns) / std::exchange(w.stole, 0);
        const topology* const machine = places();
        // A slow core leaves small tasks to the others for longer.
        const bool slow = machine != nullptr && machine->slow(platform::current_core());
        const std::int64_t worth_ns = slow ? 1'000 : 120;
        w.steal_pause =
            each < worth_ns ? std::clamp(w.steal_pause * 2, shortest_ns, longest_ns) : 0;
        w.steal_again = now + w.steal_pause;
    }
    return now >= w.steal_again || lies_unclaimed(*this, w, now);
}

/// Another thread's oldest task. Half of what lies there comes along into the thread's own queue,
/// which is empty, where others may take it again: a steal fetches lines from the victim's core,
/// and small tasks would not be worth one each. Urgent ones are few, and want a thread each.
task_id runtime::steal(worker& w, unsigned level) {
    constexpr std::size_t most = 32;
    const std::size_t limit = level == high ? 1 : std::min(most, w.ready[level].size());
    std::uint64_t taken[most];
    task_id first;
    any_victim(w, w.victim, [&](worker& victim) {
        const std::size_t count = victim.ready[level].steal(taken, limit);
        if (count == 0) return false;
        first = {taken[0]};
        seat_counters::add(w.counters.stolen, count);
        for (std::size_t i = 0; i < count && observed(); ++i) {
            options().observer->on_event({.kind = event_kind::stolen,
                                          .seat = w.index,
                                          .seat_from = victim.index,
                                          .task = {taken[i]}});
        }
        if (level != high) {
            w.stole = static_cast<unsigned>(count);
            w.stole_at = active_policy::now();
        }
        if (count == 1) return true;
        // All at once: each is two lines in the victim's core.
        for (std::size_t i = 0; i < count; ++i) slot_at(index_of(taken[i])).prefetch();
        w.ready[level].refill(taken + 1, count - 1);
        if (asleep().should_wake()) wake_one();  // they were out of sight for a moment
        return true;
    });
    return first;
}

/// Decided once for all levels, or a level might be passed over for a lower one.
bool runtime::may_steal(worker& w) const {
    if (steals_pay(w)) return true;
    for (unsigned level = 0; level < level_count; ++level) {
        if (w.ready[level].newest() != 0 || overflow[level].size.load(relaxed) != 0) return true;
    }
    return direct_work(*this, w);
}

task_id runtime::ready_at(worker& w, unsigned level, bool may_steal) {
    if (const task_id id = direct_task(w, level)) return id;
    if (level == high && high_ready.load(relaxed) <= 0) return {};
    std::uint64_t id = w.ready[level].pop();
    if (id == 0 && refill_from_overflow(w, level)) id = w.ready[level].pop();
    if (id == 0 && (may_steal || level == high)) id = steal(w, level).value;
    if (id != 0 && level == high) high_ready.fetch_sub(1, relaxed);
    return {id};
}

task_id runtime::next_task(worker& w) {
    if (serial()) return choose_ready(w, [](std::uint64_t) { return true; });
    if (high_ready.load(relaxed) <= 0 && !direct_work(*this, w)) {
        // The usual case first: nothing comes before the newest task of its own.
        constexpr auto normal = static_cast<unsigned>(priority_level::normal);
        if (const std::uint64_t id = w.ready[normal].pop()) return {id};
    }
    const bool steals = may_steal(w);
    for (unsigned level = level_count; level-- != 0;) {
        if (const task_id id = ready_at(w, level, steals)) return id;
    }
    return {};
}

bool runtime::work_visible() const {
    for (const inbox& list : overflow) {
        if (list.size.load(seq_cst) != 0) return true;
    }
    if (serial() != nullptr && serial()->ready().any()) return true;
    const unsigned count = seat_count();
    for (unsigned i = 0; i < count; ++i) {
        const worker* w = &seat_at(i);
        for (const ready_queue& queue : w->ready) {
            if (queue.maybe_work()) return true;
        }
    }
    return branches_visible();
}

void runtime::inherit_priority(worker& w, task_id id, std::uint8_t level) {
    // Mostly it has that level; and if its slot is in other use, it is complete.
    if (level_of(slot_at(index_of(id.value))) >= level) return;
    // The predecessors of a more important task inherit its level, and theirs in turn. Bounded:
    // beyond 64 tasks inheritance is a help, not a promise.
    constexpr unsigned limit = 64;
    task_id list[limit] = {id};
    unsigned count = 1;
    while (count != 0) {
        const task_id at = list[--count];
        if (!is_open(at)) continue;
        slot& s = slot_at(index_of(at.value));
        const std::uint8_t before = level_of(s);
        if (before >= level) continue;
        // In this order: a level is a category too, a category is not a level.
        s.level.store(level, relaxed);
        s.flags.fetch_and(static_cast<std::uint16_t>(~flag_category), release);  // see level_of()
        if (s.waits_for.load(relaxed) == 0) {
            // Ready perhaps: move it up from the queue where it lies.
            if (take_out(at, before)) enqueue(w, index_of(at.value));
            continue;
        }
        for (std::uint32_t e = s.predecessors.load(acquire); e != no_edge && count < limit;) {
            const task_id from{edge_at(e).from.load(relaxed)};
            e = edge_at(e).next_predecessor.load(relaxed);
            if (s.waits_for.load(acquire) == 0) break;  // the list is being taken apart
            list[count++] = from;
        }
    }
}

/// True: the task lay in a queue for everybody of that level, and is the caller's now.
bool runtime::take_out(task_id id, unsigned level) {
    const auto out_of = [&](inbox& list, std::mutex& guard) {
        if (list.size.load(relaxed) == 0) return false;
        const std::lock_guard lock(guard);
        return take_first(list, [&](std::uint32_t i) { return id_of(i) == id; }) != no_index;
    };
    if (slot_at(index_of(id.value)).has(flag_background)) {
        return out_of(background.ready[level], background.mutex);
    }
    if (serial() != nullptr && take_from_choices(id)) return true;
    for (unsigned i = 0; i < seat_count(); ++i) {
        worker* owner = &seat_at(i);
        const auto is_it = [&](std::uint64_t entry) { return entry == id.value; };
        if (owner->ready[level].claim_oldest_if(is_it, SIZE_MAX) == 0) continue;
        if (level == high) high_ready.fetch_sub(1, relaxed);
        return true;
    }
    return out_of(overflow[level], overflow[level].mutex);
}

/// Everything that lies in queues for everybody; inboxes look levels up when they are served.
void runtime::requeue_by_table(worker& w) {
    const auto moves = [&](std::uint32_t index, unsigned level) {
        const slot& s = slot_at(index);
        return s.has(flag_category) && level_of(s) != level;
    };
    const auto move_out_of = [&](inbox& list, std::mutex& guard, unsigned level) {
        while (list.size.load(relaxed) != 0) {
            std::uint32_t index = no_index;
            {
                const std::lock_guard lock(guard);
                index = take_first(list, [&](std::uint32_t i) { return moves(i, level); });
            }
            if (index == no_index) return;
            enqueue(w, index);
        }
    };
    for (unsigned i = 0; i < seat_count(); ++i) {
        worker* owner = &seat_at(i);
        for (unsigned level = 0; level < level_count; ++level) {
            const auto moved = [&](std::uint64_t entry) { return moves(index_of(entry), level); };
            while (const std::uint64_t id = owner->ready[level].claim_oldest_if(moved, SIZE_MAX)) {
                if (level == high) high_ready.fetch_sub(1, relaxed);
                enqueue(w, index_of(id));
            }
        }
    }
    for (unsigned level = 0; level < level_count; ++level) {
        move_out_of(overflow[level], overflow[level].mutex, level);
        move_out_of(background.ready[level], background.mutex, level);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
