#include "core/task/task_room.hpp"

#include "base/platform/platform.hpp"
#include "core/task/stable_ids.hpp"

#include <algorithm>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

bool task_room::wants_identities(const scheduler_options& o) {
    return o.chooser != nullptr || (o.observer != nullptr && o.observer->wants_stable_ids());
}

task_room::task_room(const scheduler_options& o)
    : options(handlers.complete(o)),
      memory(o.memory, o.memory_budget_bytes, o.out_of_memory),
      report(options, memory, wants_identities(o)),
      slots(o, memory),
      edges_(memory, memory_tag::edge),
      details_(memory, memory_tag::detail),
      resource_lists_(memory, memory_tag::detail) {
    if (!wants_identities(o)) return;
    identities_ = ::new (memory.room_for<stable_ids>(memory_tag::runtime)) stable_ids;
}

task_room::~task_room() {
    if (identities_ == nullptr) return;
    identities_->~stable_ids();
    memory.release(identities_, sizeof(stable_ids), alignof(stable_ids), memory_tag::runtime);
}

// ---- ancestors ---------------------------------------------------------------------------------

/// Links the child to its parent, with the skew-binary jump pointer of Myers (1983). The pointer
/// takes O(1) to make, and a climb along such pointers takes O(log depth).
void task_room::link_parent(slot& child, std::uint32_t parent_index) const {
    const slot& parent = slots.at(parent_index);
    const std::uint32_t jump = parent.jump.load(relaxed);
    std::uint32_t target = parent_index;
    if (jump != no_index) {
        const slot& far = slots.at(jump);
        const std::uint32_t farther = far.jump.load(relaxed);
        if (farther != no_index) {
            const int near_step = parent.depth.load(relaxed) - far.depth.load(relaxed);
            const int far_step = far.depth.load(relaxed) - slots.at(farther).depth.load(relaxed);
            if (near_step == far_step) target = farther;
        }
    }
    child.parent.store(parent_index, release);  // pairs with needs::parent_of()
    child.jump.store(target, relaxed);
    child.depth.store(static_cast<std::uint16_t>(parent.depth.load(relaxed) + 1), relaxed);
}

bool task_room::descends(std::uint32_t index, task_id ancestor) const {
    const unsigned depth = slots.at(ancestor).depth.load(relaxed);
    std::uint32_t at = index;
    for (unsigned steps = 0; steps < 64; ++steps) {
        const slot& s = slots.at(at);
        if (s.depth.load(relaxed) <= depth) break;
        const std::uint32_t jump = s.jump.load(relaxed);
        const bool far =
            jump != no_index && slots.has(jump) && slots.at(jump).depth.load(relaxed) >= depth;
        at = far ? jump : s.parent.load(relaxed);
        if (at == no_index || !slots.has(at)) return false;
    }
    return slots.id_of(at) == ancestor;
}

// ---- edges -------------------------------------------------------------------------------------

[[gnu::noinline]] link task_room::link_to_complete(task_id predecessor, bool any_outcome) const {
    return !any_outcome && slots.failure_of(predecessor) != 0 ? link::failed : link::not_needed;
}

link task_room::link_edge(task_seat& w, std::uint32_t successor, task_id predecessor,
                          bool any_outcome, await_state until) {
    slot& to = slots.at(successor);
    slot& from = slots.at(predecessor);
    const std::uint32_t generation = generation_of(predecessor.value);
    if (state_in(from.successors, generation) != task_state::open) {
        return link_to_complete(predecessor, any_outcome);
    }
    const std::uint32_t index = edges_.take(w.edges);
    if (index == no_index) return link::no_memory;
    edge& e = edges_[index];
    e.any_outcome = any_outcome;
    if (until != edge_fixed) e.await.store(until, relaxed);
    // release: the two stores pair with the loads in any_predecessor() and in
    // needs::next_successor().
    e.from.store(predecessor.value, release);
    e.to.store(slots.id_of(successor).value, release);
    if (!push_edge(from.successors, generation, to.waits_for, index, e.next)) {
        give_edge(w, index);
        return link_to_complete(predecessor, any_outcome);
    }
    // release, both: pair with any_predecessor().
    e.next_predecessor.store(to.predecessors.load(relaxed), release);
    to.predecessors.store(index, release);
    return link::made;
}

void task_room::link_first_edge(task_seat& w, std::uint32_t successor, task_id predecessor) {
    slot& to = slots.at(successor);
    const std::uint32_t index = edges_.take(w.edges);
    edge& e = edges_[index];
    e.any_outcome = false;
    // release: the two stores pair with the loads in any_predecessor() and in
    // needs::next_successor().
    e.from.store(predecessor.value, release);
    e.to.store(slots.id_of(successor).value, release);
    push_first_edge(slots.at(predecessor).successors, generation_of(predecessor.value),
                    to.waits_for, index, e.next);
    // release, both: pair with any_predecessor().
    e.next_predecessor.store(to.predecessors.load(relaxed), release);
    to.predecessors.store(index, release);
}

void task_room::free_predecessors(task_seat& w, slot& s) {
    std::uint32_t e = s.predecessors.load(relaxed);
    if (e == no_edge) return;
    // At this moment a cancellation may end the wait early and take the list. acq_rel: as in
    // tear_edges().
    if (may_be_torn(s)) e = s.predecessors.exchange(no_edge, acq_rel);
    while (e != no_edge) {
        const std::uint32_t next = edges_[e].next_predecessor.load(relaxed);
        give_edge(w, e);
        e = next;
    }
    s.predecessors.store(no_edge, relaxed);
}

std::uint32_t task_room::tear_edges(task_seat& w, slot& s) {
    // release: pairs with any_predecessor(). The count goes up before an edge gets another owner.
    detail_of(s)->waits.fetch_add(1, release);
    std::uint32_t torn = 0;
    // acq_rel: exactly one of the threads that end the wait gets the list.
    for (std::uint32_t e = s.predecessors.exchange(no_edge, acq_rel); e != no_edge;) {
        const std::uint32_t next = edges_[e].next_predecessor.load(relaxed);
        if (tear_edge(edges_[e].await)) {
            ++torn;
        } else {
            give_edge(w, e);
        }
        e = next;
    }
    return torn;
}

bool task_room::waits_for_transitively(task_id id, task_id wanted) const {
    constexpr unsigned limit = 64;
    task_id list[limit] = {id};
    unsigned count = 1;
    bool found = false;
    for (unsigned i = 0; i < count && !found; ++i) {
        any_predecessor(list[i], [&](task_id from) {
            found = from == wanted;
            if (found || count == limit) return true;
            if (std::find(list, list + count, from) == list + count) list[count++] = from;
            return false;
        });
    }
    return found;
}

// ---- data that only few tasks have -------------------------------------------------------------

detail_block* task_room::make_detail(task_seat& w, slot& s) {
    if (detail_block* d = detail_of(s)) return d;
    const std::uint32_t index = details_.take(w.details);
    if (index == no_index) return nullptr;
    detail_block& d = details_[index];
    d.holders.store(0, relaxed);
    d.seat.store(UINT16_MAX, relaxed);
    d.visit = 0;
    d.direct.store(false, relaxed);
    d.has_value.store(false, relaxed);
    d.resource_count = d.resources_held = 0;
    d.resources = no_index;
    d.workers = 0;
    d.result = nullptr;
    d.result_ordinal = 0;
    d.stable_id = 0;
    d.creations = 0;
    d.was_suspended.store(false, relaxed);
    d.listed = false;
    d.shielded.store(false, relaxed);
    s.detail.store(index, release);  // pairs with detail_of()
    return &d;
}

void task_room::free_block(task_seat& w, std::uint32_t d) {
    if (d == no_index) return;
    const std::uint32_t list = details_[d].resources;
    if (list != no_index) resource_lists_.give(w.resource_lists, list);
    details_.give(w.details, d);
}

resource_list* task_room::make_resource_list(task_seat& w, detail_block& d) {
    d.resources = resource_lists_.take(w.resource_lists);
    return d.resources != no_index ? &resource_lists_[d.resources] : nullptr;
}

// ---- identity ----------------------------------------------------------------------------------

std::uint64_t task_room::next_identity(const task_seat& w) const {
    if (creator* const part = w.creating_as; part != nullptr && part->within == w.top) {
        return stable_ids::join(part->id, part->creations++);
    }
    if (w.top != nullptr) {
        detail_block* const whole = detail_of(slots.at(w.top->slot));
        if (whole != nullptr && whole->stable_id != 0) {
            return stable_ids::join(whole->stable_id, whole->creations++);
        }
        return identities_->next_root("try_post");  // only try_post() tasks have no detail_block
    }
    if (w.kind != seat_kind::guest) return identities_->next_root(w.report.name);
    // Different threads use this seat one after another, so the name of the thread itself is used.
    char name[32] = {};
    platform::thread_name(name, sizeof name);
    return identities_->next_root(name);
}

void task_room::enter(task_seat& w, creator& as, std::uint64_t id) {
    as = {.id = id, .creations = 0, .within = w.top, .below = w.creating_as};
    w.creating_as = &as;
}

void task_room::leave(task_seat& w, const creator& as) { w.creating_as = as.below; }

void task_room::report_spawned(observer& to, const task_seat& w, const slot& s,
                               const creation& made) const {
    const spawn_facts facts{.where = made.where,
                            .level = slots.level_of(s),
                            .restricted = is_direct(s),
                            .background = s.has(flag_background),
                            .same_moment = made.same_moment,
                            .stable_id = identified() ? identity(made.id) : 0};
    to.on_spawn({.kind = event_kind::spawned,
                 .seat = w.index,
                 .task = made.id,
                 .other = made.parent,
                 .name = s.name,
                 .facts = &facts},
                made.ready_now);
}

}  // namespace detail
BRAID_NAMESPACE_END
