// What a new task comes after; and one that is built piece by piece: it takes children, and if it
// is empty predecessors, until it is finished.
#include "core/life/life_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

task_id life_room::build_empty(draft d) const {
    slot& s = slot_of(d);
    s.invoke = nullptr;
    s.flags.fetch_or(flag_empty, relaxed);
    return id_of(index_of(d));
}

/// False: no memory, or refused. An id does not know its scheduler: one of another scheduler's that
/// was issued here, too, passes.
bool life_room::depend(life_seat& w, std::uint32_t index, task_id predecessor, bool any_outcome) {
    const assertion_handler& misuse = options().assertion;
    const task_id id = id_of(index);
    if (!predecessor) return true;
    if (!BRAID_EXPECT(misuse, predecessor != id && state_of(predecessor) != task_state::unknown,
                      "`after` holds an id that this scheduler never issued")) {
        return false;
    }
    if (slot_at(index).parent.load(relaxed) != no_index &&
        !BRAID_EXPECT(misuse, !descends(index, predecessor),
                      "a child cannot wait for its parent, which waits for it")) {
        return false;
    }
    const link edge = link_edge(w, index, predecessor, any_outcome);
    if (edge == link::no_memory) return false;
    if (edge == link::failed) cancel_with(w, index, predecessor);
    // Also to a task that is complete: what it wrote comes before this one.
    if (observed()) report(w, event_kind::edge, id, predecessor);
    if (edge == link::made) inherit_priority(w, predecessor, level_of(slot_at(index)));
    return true;
}

bool life_room::depend_on_all(life_seat& w, std::uint32_t index, const task_options& o) {
    const auto all = [&](const task_id* first, std::size_t count, bool any_outcome) {
        for (const task_id* p = first; p != first + count; ++p) {
            if (!depend(w, index, *p, any_outcome)) return false;
        }
        return true;
    };
    if (!all(o.after.begin(), o.after.size(), false) ||
        !all(o.after_all.data, o.after_all.size, false) ||
        !all(o.after_any.begin(), o.after_any.size(), true)) {
        return false;
    }
    if (o.after_any.size() != 0 && o.after.size() + o.after_all.size == 0) {
        slot_at(index).flags.fetch_or(flag_finally, relaxed);
    }
    return true;
}

void life_room::finish_building(life_seat& w, task_id id, bool cancel) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slot_at(index);
    if (cancel) s.mark(flag_cancel);
    const bool empty = s.has(flag_empty);
    if (empty && drop_wait(s.waits_for)) make_ready(w, index, {});
    own_work_done(w, index);  // the builder's share
}

bool life_room::add_dependency(life_seat& w, task_id id, task_id predecessor) {
    const std::uint32_t index = index_of(id.value);
    if (!BRAID_EXPECT(options().assertion, slot_at(index).has(flag_empty),
                      "give predecessors in begin(); only an empty task takes them later")) {
        return false;
    }
    if (!BRAID_EXPECT(options().assertion, predecessor != id, "a task cannot wait for itself") ||
        !BRAID_EXPECT(options().assertion, state_of(predecessor) != task_state::unknown,
                      "the predecessor's id was never issued by this scheduler") ||
        !BRAID_EXPECT(options().assertion, !waits_for_transitively(predecessor, id),
                      "the predecessor waits for this task already: that would be a cycle")) {
        return false;
    }
    const link edge = link_edge(w, index, predecessor, false);
    if (edge == link::no_memory) return false;
    if (edge == link::failed) cancel_with(w, index, predecessor);
    if (observed()) report(w, event_kind::edge, id, predecessor);
    if (edge == link::made) {
        inherit_priority(w, predecessor, level_of(slot_at(index)));
        ask_pinned_threads_again(w);
    }
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
