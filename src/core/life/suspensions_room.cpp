#include "core/life/suspensions_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

void suspensions_room::begin_suspension(std::uint32_t index) {
    slot& s = slot_at(index);
    detail_of(s)->was_suspended = true;
    // relaxed: the thread that runs the body; suspend() releases it.
    s.waits_for.store(1, relaxed);
}

bool suspensions_room::await_task(life_seat& w, std::uint32_t index, task_id awaited) {
    const task_id id = id_of(index);
    if (!BRAID_EXPECT(misuse(), awaited != id, "a task cannot await itself") ||
        !BRAID_EXPECT(misuse(), state_of(awaited) != task_state::unknown,
                      "await only ids that this scheduler has issued") ||
        !BRAID_EXPECT(misuse(), !waits_for_transitively(awaited, id),
                      "what is awaited waits for this task already: that would be a cycle")) {
        return false;
    }
    const link edge = link_edge(w, index, awaited, false);
    if (edge == link::no_memory) return false;
    if (observed()) report(w, event_kind::edge, id, awaited);
    if (edge == link::made) inherit_priority(w, awaited, level_of(slot_at(index)));
    return true;
}

void suspensions_room::suspend(life_seat& w, std::uint32_t index) {
    slot& s = slot_at(index);
    s.runner.store(UINT16_MAX, relaxed);  // searchers look at what it waits for
    // Releases all that the body wrote to the thread that goes on with it.
    if (drop_wait(s.waits_for)) make_ready(w, index, {});
}

std::exception_ptr suspensions_room::take_awaited_failure(std::uint32_t index, bool& cancelled) {
    slot& s = slot_at(index);
    cancelled = scope_cancelled(s) || (phase() == life::discarding && !s.has(flag_finally));
    // What failed without this is a child's, which counts when the task is complete.
    if (!s.has(flag_cancel)) return nullptr;
    std::exception_ptr error = take_error(take_outcome(s));
    s.flags.fetch_and(static_cast<std::uint16_t>(~(flag_cancel | flag_failed)), relaxed);
    cancelled = cancelled || error == nullptr;
    return error;
}

}  // namespace detail
BRAID_NAMESPACE_END
