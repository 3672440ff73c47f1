// Functions for builders. A built task takes children until finish_building(). If it is empty, it
// takes predecessors until then, too. abandon() gives up a draft that was not published.
#include "core/life/completion_word.hpp"
#include "core/life/life_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

task_id life_room::build_empty(draft d) const {
    slot& s = slot_of(d);
    s.invoke = nullptr;
    s.flags.fetch_or(flag_empty, relaxed);
    return slots.id_of(index_of(d));
}

void life_room::abandon(life_seat& w, draft d, std::uint16_t as) {
    slot& s = slot_of(d);
    const std::uint32_t index = index_of(d);
    s.mark(as);
    s.invoke = nullptr;
    const bool built = s.has(flag_built);
    // A second holder was counted for a handle that was to be made.
    const bool owned = s.has(flag_detailed) && details.find(s)->holders.load(relaxed) > 1;
    if (s.ready_is_reported()) {
        queue_ready(w, index);
    } else if (drop_wait(s.waits_for)) {
        make_ready(w, index, {});
    }
    // The shares of the builder, and of the handle that would have been made, are dropped.
    if (built) own_work_done(w, index);
    if (owned) release_holder(w, slots.id_of(index));
}

void life_room::finish_building(life_seat& w, task_id id, bool cancel) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slots.at(index);
    if (cancel) s.mark(flag_cancel);
    const bool empty = s.has(flag_empty);
    if (empty) drop_wait(s.waits_for) ? make_ready(w, index, {}) : announce_needs(w, id);
    own_work_done(w, index);  // the builder's share
}

/// Returns true if it is enough to run this task itself: it has no predecessors and no children,
/// and needs no particular thread. A completion needs no task to run. If the task gets other needs
/// once it has begun, it announces them itself.
bool life_room::needs_only_itself(task_id id) const {
    const slot& s = slots.at(id);
    if (state_of_completion(s.open, generation_of(id.value)) != completion_now::another_task) {
        return true;
    }
    const bool has_begun =
        s.runner.load(relaxed) != UINT16_MAX || s.has(flag_empty | flag_own_kind);
    const bool has_children = index_of(s.open.load(relaxed)) > 1;
    return !has_begun && !has_children && !details.is_direct(s) &&
           s.predecessors.load(relaxed) == no_edge;
}

void life_room::announce_needs(const life_seat& w, task_id id) {
    if (!direct_work_of_any()) [[likely]]
        return;
    const auto may_be_new = [&](task_id from) { return !needs_only_itself(from); };
    if (edges.any_predecessor(id, may_be_new)) ask_pinned_threads(w);
}

bool life_room::add_dependency(life_seat& w, task_id id, task_id predecessor) {
    const std::uint32_t index = index_of(id.value);
    if (!BRAID_EXPECT(options.assertion, slots.at(index).has(flag_empty),
                      "give predecessors in begin(); only an empty task takes them later")) {
        return false;
    }
    if (!BRAID_EXPECT(options.assertion, predecessor != id, "a task cannot wait for itself") ||
        !BRAID_EXPECT(options.assertion, slots.state_of(predecessor) != task_state::unknown,
                      "the predecessor's id was never issued by this scheduler") ||
        !BRAID_EXPECT(options.assertion, !edges.waits_for_transitively(predecessor, id),
                      "the predecessor waits for this task already: that would be a cycle")) {
        return false;
    }
    const link edge = edges.make(w.edges, index, predecessor, false);
    if (edge == link::no_memory) return false;
    if (edge == link::failed) outcomes.cancel_with(w.details, index, predecessor);
    if (report.observed()) report.event(w.index, event_kind::edge, id, predecessor);
    if (edge == link::made) {
        inherit_priority(w, predecessor, slots.level_of(slots.at(index)));
        announce_needs(w, id);
    }
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
