// A wait that runs the awaited task itself enters the parking lot only if another thread may
// complete that task. See "A task at hand" in docs/design/wait.md.
#include "core/life/life_room.hpp"
#include "core/slots/words.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Drops the share of the task's own work. Returns true if it was the last share. If there are
/// other shares and a wait of this thread runs the task, the wait enters the parking lot before the
/// drop. After the drop another thread may complete the task, and would not find the wait to give
/// it a failure.
bool life_room::drop_only_share_or_enter(life_seat& w, slot& s, std::uint32_t index) {
    if (w.unentered->record.key == slots.id_of(index).value) {
        if (drop_only_open_work(s.open)) return true;
        enter_wait_at_hand(w, index);
    }
    return drop_open_work(s.open);
}

void life_room::enter_wait_at_hand(life_seat& w, std::uint32_t index) {
    unentered_wait* const wait = w.unentered;
    if (wait == nullptr || wait->entered || wait->record.key != slots.id_of(index).value) return;
    wait->entered = lot().enter(wait->record, slots.id_of(index).value, w.index, [&] {
        return detail::mark_waited(slots.at(index).successors, generation_of(wait->record.key));
    });
}

/// Gives the failure to this thread's innermost unentered wait, if that wait is for the task that
/// the thread completes. Returns true if the failure was given.
bool life_room::give_to_unentered(const life_seat& w, task_id id, outcome& result) {
    unentered_wait* const wait = w.unentered;
    if (wait == nullptr || wait->entered || wait->record.key != id.value) return false;
    wait->record.result = outcomes.share(&result);
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
