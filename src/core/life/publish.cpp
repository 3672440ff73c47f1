// A task that is built may start: when nothing is left to wait for, if it is to run, and has what
// it needs.
#include "core/life/life_room.hpp"
#include "core/task/words.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

task_id life_room::publish(life_seat& w, draft d, closure_fn body) {
    slot& s = slot_of(d);
    const std::uint32_t index = index_of(d);
    const task_id id{join_word(s.generation(), index)};
    s.invoke = body;
    if (body == nullptr) s.flags.fetch_or(flag_empty, relaxed);
    if (s.waits_for.load(relaxed) == 0) {
        queue_ready(w, index);  // open() has reported it
    } else if (s.predecessors.load(relaxed) == no_edge) {
        s.waits_for.store(0, relaxed);
        make_ready(w, index, {});
    } else if (drop_wait(s.waits_for)) {
        make_ready(w, index, {});
    }
    return id;
}

task_id life_room::build_empty(draft d) const {
    slot& s = slot_of(d);
    s.invoke = nullptr;
    s.flags.fetch_or(flag_empty, relaxed);
    return id_of(index_of(d));
}

void life_room::abandon(life_seat& w, draft d, std::uint16_t as) {
    slot& s = slot_of(d);
    const std::uint32_t index = index_of(d);
    s.flags.fetch_or(as, relaxed);
    s.invoke = nullptr;
    const task_id id = id_of(index);
    // Nobody else knows the task yet: besides its own work there is the builder's at most.
    const bool built = index_of(s.open.load(relaxed)) > 1;
    const bool owned = is_owned(s);
    // 0 from the start: open() or open_plain() has reported it.
    if (s.waits_for.load(relaxed) == 0) {
        queue_ready(w, index);
    } else if (drop_wait(s.waits_for)) {
        make_ready(w, index, {});
    }
    // The builder and the handle that there would have been give up their shares.
    if (built) own_work_done(w, index);
    if (owned) release_holder(w, id);
}

void life_room::finish_building(life_seat& w, task_id id, bool cancel) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slot_at(index);
    if (cancel) s.flags.fetch_or(flag_cancel, relaxed);
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
    if (observed()) report(w, event_kind::edge, id, predecessor);
    if (edge == link::made) inherit_priority(w, predecessor, level_of(slot_at(index)));
    return true;
}

void life_room::make_ready(life_seat& w, std::uint32_t index, task_id released_by) {
    slot& s = slot_at(index);
    free_predecessors(w, s);
    if (observed()) report(w, event_kind::ready, id_of(index), released_by);
    queue_ready(w, index);
}

void life_room::queue_ready(life_seat& w, std::uint32_t index) {
    slot& s = slot_at(index);
    const std::uint16_t flags = s.flags.load(relaxed);
    if ((flags & (flag_empty | flag_cancel)) != 0) return end_without_running(w, index);
    // A node that is not to run waits for nothing: not for a thread, nor for resources.
    if ((flags & flag_own_kind) != 0 && (flags & flag_failed) != 0) {
        return push_ready(w, id_of(index), level_of(s));
    }
    if ((flags & flag_detailed) != 0 && !acquire_resources(w, index)) return;
    if (set_run_next(w, index, w.depth) || try_enqueue(w, index)) return;
    s.flags.fetch_or(flag_cancel, relaxed);
    if ((flags & flag_own_kind) == 0) return end_without_running(w, index);
    push_ready(w, id_of(index), level_of(s));  // it ends as its kind does
}

}  // namespace detail
BRAID_NAMESPACE_END
