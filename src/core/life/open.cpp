// A task comes to be: a slot, its predecessors, its parent.
#include "core/life/new_task.hpp"

#include <algorithm>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

// ---- options -----------------------------------------------------------------------------------

bool life_room::may_be_named(const seats_seat& w) {
    return w.kind != seat_kind::guest && w.kind != seat_kind::background;
}

bool life_room::fill_detail(life_seat& w, slot& s, const task_options& o, draft_kind kind) {
    detail_block* d = make_detail(w, s);
    if (d == nullptr) return false;
    d->holders.store(kind == draft_kind::valued ? 2 : 1, relaxed);
    d->seat.store(o.on.seat, relaxed);
    d->visit = o.on.visit;
    d->direct.store(o.on || o.workers != 0, relaxed);
    d->workers = o.workers;
    for (resource* r : o.uses) {
        // Once is enough, and twice would wait for itself.
        resource** end = d->resources + d->resource_count;
        if (std::find(d->resources, end, r) == end) d->resources[d->resource_count++] = r;
    }
    if (identified()) d->stable_id = next_identity(w);
    return true;
}

bool life_room::good_options(const task_options& o) const {
    const assertion_handler& misuse = options().assertion;
    return BRAID_EXPECT(misuse, o.uses.size() <= detail_block::max_resources,
                        "a task may use at most 8 resources") &&
           BRAID_EXPECT(misuse, o.priority <= priority_level::high,
                        "the priorities of tasks are low, normal and high") &&
           BRAID_EXPECT(misuse, !o.on || o.on.seat < seat_count(),
                        "`on` must come from worker_thread() or a registered main_thread") &&
           BRAID_EXPECT(misuse, !o.on || may_be_named(seat_at(o.on.seat)),
                        "`on` cannot name a foreign or background thread") &&
           BRAID_EXPECT(misuse, !o.on || is_present(o.on),
                        "the thread that `on` names has left; keep its main_thread alive");
}

std::uint8_t life_room::level_of(const task_options& o) {
    return o.category != 0 ? o.category : static_cast<std::uint8_t>(o.priority);
}

std::uint16_t life_room::flags_of(const task_options& o) {
    std::uint16_t flags = 0;
    if (o.never_waits) flags |= flag_never_waits;
    if (o.may_be_long) flags |= flag_quiet;
    if (o.runs_as == task_class::background) flags |= flag_background;
    if (o.category != 0) flags |= flag_category;
    if (o.on || o.workers != 0 || o.uses.size() != 0) flags |= flag_detailed;
    return flags;
}

// ---- any task ----------------------------------------------------------------------------------

bool life_room::add_to_parent(slot& s, task_id parent) {
    const std::uint32_t index = index_of(parent.value);
    slot& p = slot_at(index);
    const bool added = add_open_work(p.open, generation_of(parent.value));
    if (!BRAID_EXPECT(options().assertion, added,
                      "the parent completed before its child was added")) {
        return false;
    }
    s.ordinal.store(p.births.fetch_add(1, relaxed) + 1, relaxed);
    link_parent(s, index);
    return true;
}

const task_environment* life_room::environment_for(const life_seat& w,
                                                   const task_options& o) const {
    if (o.within != nullptr) return &o.within->internals().environment;
    if (o.environment != nullptr) return o.environment;
    // If the parent is complete by now, it is not made its child either.
    if (o.parent) return slot_at(o.parent).environment.load(relaxed);
    return w.top != nullptr ? slot_at(w.top->slot).environment.load(relaxed) : nullptr;
}

/// False: no memory.
bool life_room::depend(life_seat& w, std::uint32_t index, const task_options& o,
                       task_id predecessor, bool any_outcome) {
    const assertion_handler& misuse = options().assertion;
    const task_id id = id_of(index);
    if (!predecessor) return true;
    if (!BRAID_EXPECT(misuse, predecessor != id && state_of(predecessor) != task_state::unknown,
                      "`after` holds an id that this scheduler never issued")) {
        return true;
    }
    if (o.parent && !BRAID_EXPECT(misuse, !descends(index, predecessor),
                                  "a child cannot wait for its parent, which waits for it")) {
        return true;
    }
    const link edge = link_edge(w, index, predecessor, any_outcome);
    if (edge == link::no_memory) return false;
    // Also to a task that is complete: what it wrote comes before this one.
    if (observed()) report(w, event_kind::edge, id, predecessor);
    if (edge == link::made) inherit_priority(w, predecessor, level_of(slot_at(index)));
    return true;
}

bool life_room::depend_on_all(life_seat& w, std::uint32_t index, const task_options& o) {
    const auto all = [&](const task_id* first, std::size_t count, bool any_outcome) {
        for (const task_id* p = first; p != first + count; ++p) {
            if (!depend(w, index, o, *p, any_outcome)) return false;
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

namespace {

std::uint16_t flag_of(draft_kind kind) {
    switch (kind) {
        case draft_kind::spawned:
            return 0;
        case draft_kind::posted:
            return flag_posted;
        case draft_kind::valued:
            return flag_detailed;
        case draft_kind::built:
            return 0;
        case draft_kind::shared:
            return flag_shared;
    }
    return 0;
}

}  // namespace

draft life_room::open(life_seat& w, const task_options& o, draft_kind kind) {
    if (!accepts_from(w)) {
        refused_.fetch_add(1, relaxed);
        log(log_level::error, "%s: task '%s' refused, the scheduler is shut down", options().name,
            o.name != nullptr ? o.name : "");
        return {};
    }
    if (!good_options(o) ||
        !BRAID_EXPECT(options().assertion, !o.parent || is_open(o.parent),
                      "add children only to a task that is open: while it runs, while another "
                      "child is open, or before finish()")) {
        return {};
    }
    const auto flags = static_cast<std::uint16_t>(flags_of(o) | flag_of(kind));
    const task_environment* const environment = environment_for(w, o);
    slot* const made = new_task(w, {o.name, flags, level_of(o), environment});
    if (made == nullptr) return {};
    slot& s = *made;
    const std::uint32_t index = s.next.load(relaxed);
    s.module = o.module;
    s.waits_for.store(1, relaxed);  // the builder's, until publish()
    // relaxed: nobody knows the task yet.
    if (kind == draft_kind::built) s.open.fetch_add(1, relaxed);
    // What may fail comes first, the parent's count last: it is not given back.
    const bool needs_detail = (flags & flag_detailed) != 0 || identified();
    if ((needs_detail && !fill_detail(w, s, o, kind)) ||
        (o.parent && !add_to_parent(s, o.parent))) {
        close_unused(s.successors, s.generation());
        free_detail(w, s);
        clean_and_give_slot(w, index);
        return {};
    }
    seat_counters::add(w.counters.created);
    count_creation(w, environment);
    bool ready_reported = false;
    if (observed()) {
        // What waits for nothing is ready as soon as it is published.
        const std::size_t waits = o.after.size() + o.after_all.size + o.after_any.size();
        ready_reported = waits == 0 && kind != draft_kind::built;
        report_spawned(watcher(), w, s,
                       {.id = id_of(index),
                        .parent = o.parent,
                        .where = o.where,
                        .ready_now = ready_reported});
    }
    const bool linked = depend_on_all(w, index, o);
    if (ready_reported) s.waits_for.store(0, relaxed);
    if (!linked) {
        // It must not start early: refused. What there is of it ends as an empty task.
        abandon(w, {s.storage, nullptr}, flag_empty);
        return {};
    }
    return {s.storage, nullptr};
}

// ---- a task of one function --------------------------------------------------------------------

bool life_room::try_post(life_seat& w, void (*function)(void*), void* data) noexcept {
    struct call {
        void (*function)(void*);
        void* data;
        void operator()() const { function(data); }
    };
    if (!accepts_from(w)) return false;
    slot* const s = new_task(w, {nullptr, flag_posted, normal_level, nullptr}, false);
    if (s == nullptr) return false;
    const std::uint32_t index = s->next.load(relaxed);
    ::new (static_cast<void*>(s->storage)) call{function, data};
    s->invoke = &run_closure<call>;
    seat_counters::add(w.counters.created);
    if (!try_push_ready(w, id_of(index))) {
        seat_counters::add(w.counters.created, std::uint64_t{0} - 1);
        close_unused(s->successors, s->generation());
        give_slot(w, index, s->generation());
        return false;
    }
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
