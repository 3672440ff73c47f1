// Which ready task is next, where a chooser decides.
#include "core/ready/ready_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The highest level that there is. One thread runs at a time: what is listed is still ready when
/// it is claimed.
task_id ready_room::choose_ready(ready_seat& w, id_test wanted) {
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
    const unsigned seat_limit = seat_count();
    for (unsigned level = level_count; level-- != 0 && count == 0;) {
        each_direct(w, [&](std::uint32_t i) {
            if (level_of(slot_at(i)) == level) add(id_of(i).value);
        });
        for (unsigned i = 0; i < seat_limit; ++i) {
            seat_at(i).ready[level].claim_oldest_if(add, SIZE_MAX);
        }
        const locked lock(overflow_[level].lock);
        overflow_[level].each(*this, [&](std::uint32_t i) { add(id_of(i).value); });
    }
    if (count == 0) {
        note_no_masked_task(w);
        return {};
    }
    const task_id chosen = list[serial()->choose(decision_kind::next_task, names, count)];
    for (unsigned level = level_count; level-- != 0;) {
        if (take_out(w, chosen, level)) return chosen;
    }
    take_out_direct(chosen);
    return chosen;
}

}  // namespace detail
BRAID_NAMESPACE_END
