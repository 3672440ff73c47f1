// Which ready task is next, where a chooser decides.
#include "core/ready/lists.hpp"
#include "core/runtime.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

namespace {

/// Clears the hint, which direct_task() does too: a thread for which there seems to be a task does
/// not sleep.
void note_no_masked_task(runtime& rt, const worker& w) {
    const std::lock_guard lock(rt.masked.mutex);
    for (std::uint32_t i = rt.masked.first; i != no_index; i = rt.slot_at(i).next.load(relaxed)) {
        if (rt.may_run_on(rt.slot_at(i), w)) return;
    }
    // relaxed: set again, under the lock, by the thread that appends.
    rt.masked_for.fetch_and(~w.mask, relaxed);
}

}  // namespace

/// The chooser picks among the ready tasks that the seat may run and that are `wanted`, of the
/// highest level that there is. One thread runs at a time: what is listed is still ready when it is
/// claimed.
task_id runtime::choose_ready(worker& w, id_test wanted) {
    constexpr unsigned limit = 256;
    task_id list[limit];
    alternative names[limit];
    unsigned count = 0;
    const auto add = [&](std::uint64_t entry) {
        if (count != limit && wanted(entry)) {
            list[count] = {entry};
            names[count++] = {identity({entry})};
        }
        return false;
    };
    const auto add_from = [&](inbox& tasks, unsigned level) {
        const std::lock_guard lock(tasks.mutex);
        for (std::uint32_t i = tasks.first; i != no_index; i = slot_at(i).next.load(relaxed)) {
            if (may_run_on(slot_at(i), w) && level_of(slot_at(i)) == level) add(id_of(i).value);
        }
    };
    const unsigned seat_limit = seat_count();
    for (unsigned level = level_count; level-- != 0 && count == 0;) {
        add_from(w.box, level);
        add_from(masked, level);
        for (unsigned i = 0; i < seat_limit; ++i) {
            seat_at(i).ready[level].claim_oldest_if(add, SIZE_MAX);
        }
        const std::lock_guard lock(overflow[level].mutex);
        for (std::uint32_t i = overflow[level].first; i != no_index;
             i = slot_at(i).next.load(relaxed)) {
            add(id_of(i).value);
        }
    }
    if (count == 0) {
        note_no_masked_task(*this, w);
        return {};
    }
    const task_id chosen = list[serial()->choose(decision_kind::next_task, names, count)];
    take_out(chosen);
    return chosen;
}

/// Out of whatever queue it lies in.
void runtime::take_out(task_id id) {
    const auto is_it = [&](std::uint64_t entry) { return entry == id.value; };
    const auto taken_from = [&](inbox& tasks) {
        const std::lock_guard lock(tasks.mutex);
        return take_first(tasks, [&](std::uint32_t i) { return id_of(i) == id; }) != no_index;
    };
    const unsigned seat_limit = seat_count();
    for (unsigned i = 0; i < seat_limit; ++i) {
        if (taken_from(seat_at(i).box)) return;
    }
    if (taken_from(masked)) return;
    for (unsigned level = 0; level < level_count; ++level) {
        bool taken = taken_from(overflow[level]);
        for (unsigned i = 0; !taken && i < seat_limit; ++i) {
            taken = seat_at(i).ready[level].claim_oldest_if(is_it, SIZE_MAX) != 0;
        }
        if (!taken) continue;
        if (level == static_cast<unsigned>(priority_level::high)) high_ready.fetch_sub(1, relaxed);
        return;
    }
}
}  // namespace detail
BRAID_NAMESPACE_END
