// Tasks that not every thread may run: for one thread (`on`) in its inbox, for a set of workers
// (`workers`) in one list that its members look into.
#include "core/ready/lists.hpp"
#include "core/runtime.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {
bool runtime::may_run_on(const slot& s, const worker& w) const {
    const detail_block& d = *detail_of(s);
    const std::uint16_t seat = d.seat.load(relaxed);
    return seat != UINT16_MAX ? seat == w.index : (d.workers & w.mask) != 0;
}

void runtime::enqueue_direct(worker& w, std::uint32_t index) {
    slot& s = slot_at(index);
    const detail_block& d = *detail_of(s);
    const unsigned seat = d.seat.load(relaxed);
    if (seat == UINT16_MAX ? enqueue_masked(index, d.workers) : enqueue_on(index, seat, d.visit)) {
        return;
    }
    s.flags.fetch_or(flag_cancel, relaxed);
    if (s.has(flag_own_way)) {
        push_ready(w, id_of(index), level_of(s));  // it ends on its way
    } else {
        end_without_running(w, index);
    }
}

bool runtime::enqueue_on(std::uint32_t index, unsigned seat, std::uint16_t visit) {
    worker& target = seat_at(seat);
    {
        const std::lock_guard lock(target.box.mutex);
        if (!BRAID_EXPECT(options().assertion,
                          !target.gone.load(relaxed) && target.visit.load(relaxed) == visit,
                          "the thread that `on` names has left; keep its main_thread alive")) {
            return false;
        }
        append(target.box, index, index);
    }
    wake_seat(seat);
    return true;
}

bool runtime::enqueue_masked(std::uint32_t index, std::uint64_t mask) {
    if (!BRAID_EXPECT(options().assertion, (mask & members_of_masks()) != 0,
                      "no worker of the mask `workers` exists")) {
        return false;
    }
    {
        const std::lock_guard lock(masked.mutex);
        append(masked, index, index);
        // seq_cst: pairs with the look of a member that has announced its sleep (I5).
        masked_for.fetch_or(mask, seq_cst);
    }
    wake_member(mask);
    return true;
}

std::uint64_t runtime::members_of_masks() const {
    std::uint64_t members = 0;
    for (unsigned i = 0; i < seat_count(); ++i) members |= seat_at(i).mask;
    return members;
}

/// One that is idle if there is one. Otherwise all of them: they may be waiting for the task, or
/// be switched off; one that is busy looks by itself.
void runtime::wake_member(std::uint64_t mask) {
    const unsigned count = seat_count();
    for (const bool idle : {true, false}) {
        for (unsigned i = 0; i < count; ++i) {
            if ((mask & seat_at(i).mask) == 0) continue;
            if (!idle) {
                wake_seat(i);
            } else if (asleep().asleep(i, searcher::idle) && asleep().take(i)) {
                notify(i);
                return;
            }
        }
    }
}

bool runtime::direct_work_after_announcement(const worker& w) const {
    // seq_cst: pairs with append() and enqueue_masked() (I5).
    return w.box.size.load(seq_cst) != 0 || (masked_for.load(seq_cst) & w.mask) != 0;
}

task_id runtime::direct_task(worker& w, unsigned lowest) {
    unsigned best = lowest;
    const auto take_best = [&](inbox& list) {
        const std::uint32_t index = take_first(list, [&](std::uint32_t i) {
            return may_run_on(slot_at(i), w) && level_of(slot_at(i)) >= best;
        });
        return index == no_index ? task_id{} : id_of(index);
    };
    const auto find_best = [&](const inbox& list) {
        bool any = false;
        for (std::uint32_t i = list.first; i != no_index; i = slot_at(i).next.load(relaxed)) {
            if (!may_run_on(slot_at(i), w)) continue;
            any = true;
            best = std::max<unsigned>(best, level_of(slot_at(i)));
        }
        return any;
    };
    if (w.box.size.load(relaxed) != 0) {
        const std::lock_guard lock(w.box.mutex);
        find_best(w.box);
        if (const task_id id = take_best(w.box)) return id;
    }
    if ((masked_for.load(relaxed) & w.mask) != 0) {
        const std::lock_guard lock(masked.mutex);
        best = lowest;
        // relaxed: set again, under the lock, by the thread that appends.
        if (!find_best(masked)) masked_for.fetch_and(~w.mask, relaxed);
        return take_best(masked);
    }
    return {};
}

task_id runtime::direct_task_if(worker& w, id_test wanted) {
    const auto from = [&](inbox& list) {
        const std::lock_guard lock(list.mutex);
        const std::uint32_t index = take_first(list, [&](std::uint32_t i) {
            return may_run_on(slot_at(i), w) && wanted(id_of(i).value);
        });
        return index == no_index ? task_id{} : id_of(index);
    };
    if (w.box.size.load(relaxed) != 0) {
        if (const task_id id = from(w.box)) return id;
    }
    if ((masked_for.load(relaxed) & w.mask) != 0) return from(masked);
    return {};
}

/// Pinned work that is needed by `w` may lie with a thread that sleeps in a wait of its own and
/// did not need it when it came: it looks again.
void runtime::ask_pinned_threads(const worker& w) {
    const std::uint64_t wanted = masked_for.load(seq_cst);
    for (unsigned i = 0; i < seat_count(); ++i) {
        const worker* other = &seat_at(i);
        if (other == &w) continue;
        if (other->box.size.load(seq_cst) != 0 || (wanted & other->mask) != 0) wake_seat(i);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
