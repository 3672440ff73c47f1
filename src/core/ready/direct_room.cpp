#include "core/ready/direct_room.hpp"

#include <algorithm>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {

bool direct_room::may_run_on(const slot& s, const seats_seat& w) const {
    const detail_block& d = *details.find(s);
    const std::uint16_t seat = d.seat.load(relaxed);
    return seat != UINT16_MAX ? seat == w.index : (d.workers & w.mask) != 0;
}

bool direct_room::put_direct(std::uint32_t index) {
    const detail_block& d = *details.find(slots.at(index));
    const unsigned seat = d.seat.load(relaxed);
    return seat == UINT16_MAX ? put_masked(index, d.workers) : put_into_box(index, seat, d.visit);
}

bool direct_room::put_into_box(std::uint32_t index, unsigned seat, std::uint16_t visit) {
    ready_seat& target = seat_at(seat);
    {
        const locked lock(target.box.lock);
        if (!BRAID_EXPECT(options.assertion,
                          !target.gone.load(relaxed) && target.visit.load(relaxed) == visit,
                          "the thread that `on` names has left; keep its main_thread alive")) {
            return false;
        }
        in_boxes_.fetch_add(1, seq_cst);  // pairs with direct_work_of_any()
        target.box.append(slots, index, index);
    }
    wake_seat(seat);
    return true;
}

bool direct_room::put_masked(std::uint32_t index, std::uint64_t mask) {
    if (!BRAID_EXPECT(options.assertion, (mask & members_of_masks()) != 0,
                      "no worker of the mask `workers` exists")) {
        return false;
    }
    {
        const locked lock(masked_.lock);
        masked_.append(slots, index, index);
        // seq_cst: pairs with direct_work_after_announcement() (I5).
        masked_for_.fetch_or(mask, seq_cst);
    }
    wake_member(mask);
    return true;
}

std::uint64_t direct_room::members_of_masks() const {
    std::uint64_t members = 0;
    for (unsigned i = 0; i < seat_count(); ++i) members |= seat_at(i).mask;
    return members;
}

/// Wakes a worker of the mask that sleeps without work, if there is one. Otherwise wakes all
/// workers of the mask, because they may be waiting for the task, or be switched off. A worker that
/// is busy checks the masked list by itself.
void direct_room::wake_member(std::uint64_t mask) {
    const unsigned count = seat_count();
    for (unsigned i = 0; i < count; ++i) {
        const bool idle = (mask & seat_at(i).mask) != 0 && asleep().asleep(i, searcher::idle);
        if (idle && asleep().take(i)) return notify(i);
    }
    for (unsigned i = 0; i < count; ++i) {
        if ((mask & seat_at(i).mask) != 0) wake_seat(i);
    }
}

task_id direct_room::direct_task(ready_seat& w, unsigned lowest) {
    unsigned best = lowest;
    bool for_this = false;
    const auto note = [&](std::uint32_t i) {
        if (!may_run_on(slots.at(i), w)) return;
        for_this = true;
        best = std::max<unsigned>(best, slots.level_of(slots.at(i)));
    };
    const auto is_best = [&](std::uint32_t i) {
        return may_run_on(slots.at(i), w) && slots.level_of(slots.at(i)) >= best;
    };
    std::uint32_t index = no_index;
    if (w.box.size(relaxed) != 0) {
        const locked lock(w.box.lock);
        w.box.each(slots, note);
        index = w.box.take_first(slots, is_best);
        if (index != no_index) in_boxes_.fetch_sub(1, relaxed);  // as in take_from_box()
    }
    if (index == no_index && (masked_for_.load(relaxed) & w.mask) != 0) {
        const locked lock(masked_.lock);
        best = lowest;
        for_this = false;
        masked_.each(slots, note);
        // relaxed: the thread that appends a task sets the bit again, under the lock.
        if (!for_this) masked_for_.fetch_and(~w.mask, relaxed);
        index = masked_.take_first(slots, is_best);
    }
    return index == no_index ? task_id{} : slots.id_of(index);
}

task_id direct_room::direct_task_if(ready_seat& w, id_test wanted) {
    const auto fits = [&](std::uint32_t i) {
        return may_run_on(slots.at(i), w) && wanted(slots.id_of(i).value);
    };
    std::uint32_t index = no_index;
    if (w.box.size(relaxed) != 0) index = take_from_box(w, fits);
    if (index == no_index && (masked_for_.load(relaxed) & w.mask) != 0) {
        const locked lock(masked_.lock);
        index = masked_.take_first(slots, fits);
    }
    return index == no_index ? task_id{} : slots.id_of(index);
}

void direct_room::take_out_direct(ready_seat& w, task_id id) {
    const auto is_it = [&](std::uint32_t i) { return slots.id_of(i) == id; };
    if (take_from_box(w, is_it) != no_index) return;
    const locked lock(masked_.lock);
    masked_.take_first(slots, is_it);
}

void direct_room::note_no_masked_task(const ready_seat& w) {
    bool any = false;
    const locked lock(masked_.lock);
    masked_.each(slots, [&](std::uint32_t i) { any = any || may_run_on(slots.at(i), w); });
    // relaxed: the thread that appends a task sets the bit again, under the lock.
    if (!any) masked_for_.fetch_and(~w.mask, relaxed);
}

void direct_room::ask_pinned_threads(const ready_seat& w) {
    const std::uint64_t wanted = masked_for_.load(seq_cst);
    for (unsigned i = 0; i < seat_count(); ++i) {
        const ready_seat& other = seat_at(i);
        if (&other == &w) continue;
        if (other.box.size(seq_cst) != 0 || (wanted & other.mask) != 0) wake_seat(i);
    }
}

bool direct_room::close_box(ready_seat& w) {
    const locked lock(w.box.lock);
    if (!w.box.empty()) return false;
    w.gone.store(true, release);  // pairs with is_present()
    return true;
}

void direct_room::open_box(ready_seat& w, const char* name) {
    const locked lock(w.box.lock);
    w.stack_low = 0;
    std::snprintf(w.report.name, sizeof w.report.name, "%s", name);
    w.visit.fetch_add(1, relaxed);
    w.gone.store(false, release);  // pairs with is_present()
}

}  // namespace detail
BRAID_NAMESPACE_END
