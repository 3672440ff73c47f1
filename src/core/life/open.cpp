// A task comes to be: a slot, its predecessors, its parent, and the moment it may start.
#include "braid/core/scope.hpp"
#include "core/life/scope_counts.hpp"
#include "core/seat_lease.hpp"
#include "core/task/stable_ids.hpp"
#include "core/task/words.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

draft open_task(runtime& rt, worker* w, const task_options& options, draft_kind kind) {
    const seat_lease seat(rt, w);
    draft d = rt.open(*seat, options, kind);
    d.owner = seat.own();
    return d;
}
task_id publish_task(runtime& rt, draft d, closure_fn body) {
    if (d.owner != nullptr && !rt.serial()) return rt.publish(*d.owner, d, body);
    const seat_lease seat(rt, d.owner);
    rt.point();
    return rt.publish(*seat, d, body);
}
void abandon_task(runtime& rt, draft d) {
    rt.abandon(*seat_lease(rt, nullptr), d, flag_cancel | flag_empty);
}

void* allocate_closure(runtime& rt, std::size_t bytes, std::size_t alignment) {
    return rt.memory().allocate(bytes, alignment, memory_tag::closure);
}
void release_closure(runtime& rt, void* p, std::size_t bytes, std::size_t alignment) {
    rt.memory().release(p, bytes, alignment, memory_tag::closure);
}

namespace {

std::uint32_t next_birth(const runtime& rt, std::uint32_t parent) {
    return rt.slot_at(parent).births.fetch_add(1, relaxed) + 1;
}

}  // namespace

bool runtime::may_be_named(const worker& w) {
    return w.kind != seat_kind::guest && w.kind != seat_kind::background;
}

bool runtime::fill_detail(worker& w, slot& s, const task_options& o, draft_kind kind) {
    detail_block* d = make_detail(w, s);
    if (d == nullptr) return false;
    d->holders.store(kind == draft_kind::valued ? 2 : 1, relaxed);
    d->seat.store(o.on.seat, relaxed);
    d->visit = o.on.visit;
    d->workers = o.workers;
    for (resource* r : o.uses) {
        // Once is enough, and twice would wait for itself.
        resource** end = d->resources + d->resource_count;
        if (std::find(d->resources, end, r) == end) d->resources[d->resource_count++] = r;
    }
    if (identified()) d->stable_id = next_identity(w);
    return true;
}

bool runtime::good_options(const task_options& o) const {
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

std::uint8_t runtime::level_of(const task_options& o) {
    return o.category != 0 ? o.category : static_cast<std::uint8_t>(o.priority);
}

std::uint16_t runtime::flags_of(const task_options& o) {
    std::uint16_t flags = 0;
    if (o.never_waits) flags |= flag_never_waits;
    if (o.may_be_long) flags |= flag_quiet;
    if (o.runs_as == task_class::background) flags |= flag_background;
    if (o.category != 0) flags |= flag_category;
    if (o.on || o.workers != 0) flags |= flag_direct;
    if (o.uses.size() != 0) flags |= flag_resources;
    return flags;
}

draft runtime::open(worker& w, const task_options& o, draft_kind kind) {
    const assertion_handler& misuse = options().assertion;
    if (!accepts_from(*this, w)) {
        refused.fetch_add(1, relaxed);
        log(log_level::error, "%s: task '%s' refused, the scheduler is shut down", options().name,
            o.name != nullptr ? o.name : "");
        return {};
    }
    if (!good_options(o) ||
        !BRAID_EXPECT(misuse, !o.parent || state_of(o.parent) == task_state::open,
                      "add children only to a task that is open: while it runs, while another "
                      "child is open, or before finish()")) {
        return {};
    }

    const std::uint32_t index = take_slot(w);
    if (index == no_index) return {};
    slot& s = slot_at(index);
    const std::uint32_t generation = s.generation() + 1;
    const task_id id{join_word(generation, index)};

    std::uint16_t flags = flags_of(o);
    if (kind == draft_kind::posted) flags |= flag_posted;
    if (kind == draft_kind::valued) flags |= flag_held;
    if (kind == draft_kind::built) flags |= flag_built;
    if (kind == draft_kind::shared) flags |= flag_shared;

    s.name = o.name;
    s.module = o.module;
    s.flags.store(flags, relaxed);
    s.level.store(level_of(o), relaxed);
    s.environment.store(nullptr, relaxed);
    s.waits_for.store(1, relaxed);  // the builder's, until publish()
    open_words(s.open, s.successors, generation, kind == draft_kind::built ? 2 : 1);
    // What may fail comes first, the parent's count last: it is not given back.
    const bool needs_detail =
        (flags & (flag_held | flag_direct | flag_resources)) != 0 || identified();
    bool ok = !needs_detail || fill_detail(w, s, o, kind);
    if (ok && o.parent) {
        const std::uint32_t parent = index_of(o.parent.value);
        ok = add_open_work(slot_at(parent).open, generation_of(o.parent.value));
        BRAID_EXPECT(misuse, ok, "the parent completed before its child was added");
        if (ok) {
            s.ordinal.store(next_birth(*this, parent), relaxed);
            link_parent(s, parent);
        }
    }
    if (!ok) {
        close_unused(s.successors, generation);
        free_detail(w, s);
        clean_and_give_slot(w, index);
        return {};
    }
    const task_environment* environment = o.environment;
    if (o.within != nullptr) {
        environment = &o.within->environment_;
    } else if (environment == nullptr && o.parent) {
        environment = slot_at(index_of(o.parent.value)).environment.load(relaxed);
    } else if (environment == nullptr && w.top != nullptr) {
        environment = slot_at(w.top->slot).environment.load(relaxed);
    }
    s.environment.store(environment, relaxed);
    seat_counters::add(w.counters.created);
    count_creation(w, environment);
    bool ready_reported = false;
    if (observed()) {
        // What waits for nothing is ready as soon as it is published.
        const std::size_t waits = o.after.size() + o.after_all.size + o.after_any.size();
        ready_reported = waits == 0 && kind != draft_kind::built;
        report_spawned(watcher(), w, s, id, o.parent, o.where, false, ready_reported);
    }

    bool linked = true;
    const auto depend = [&](task_id predecessor, bool any_outcome) {
        if (!predecessor || !linked) return;
        if (!BRAID_EXPECT(misuse, predecessor != id && state_of(predecessor) != task_state::unknown,
                          "`after` holds an id that this scheduler never issued")) {
            return;
        }
        if (o.parent && !BRAID_EXPECT(misuse, !descends(index, predecessor),
                                      "a child cannot wait for its parent, which waits for it")) {
            return;
        }
        const link edge = link_edge(w, index, predecessor, any_outcome);
        linked = edge != link::no_memory;
        // Also to a task that is complete: what it wrote comes before this one.
        if (linked && observed()) report(w, event_kind::edge, id, predecessor);
        if (edge == link::made) inherit_priority(w, predecessor, level_of(s));
    };
    for (const task_id p : o.after) depend(p, false);
    for (std::size_t i = 0; i < o.after_all.size; ++i) depend(o.after_all.data[i], false);
    for (const task_id p : o.after_any) depend(p, true);
    if (o.after_any.size() != 0 && o.after.size() + o.after_all.size == 0) {
        s.flags.fetch_or(flag_finally, relaxed);
    }
    s.next.store(index, relaxed);  // see index_of()
    if (ready_reported) s.waits_for.store(0, relaxed);
    if (!linked) {
        // It must not start early: refused. What there is of it ends as an empty task.
        abandon(w, {s.storage, nullptr}, flag_empty);
        return {};
    }
    return {s.storage, nullptr};
}

task_id runtime::publish(worker& w, draft d, closure_fn body) {
    slot& s = slot_of(d);
    const std::uint32_t index = index_of(d);
    const task_id id{join_word(s.generation(), index)};
    s.invoke = body;
    if (body == nullptr) {
        s.flags.fetch_or(flag_empty, relaxed);
        if (s.has(flag_built)) return id;  // predecessors may be added until finish()
    }
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

void runtime::abandon(worker& w, draft d, std::uint16_t as) {
    slot& s = slot_of(d);
    const std::uint32_t index = index_of(d);
    s.flags.fetch_or(as, relaxed);
    s.invoke = nullptr;
    const task_id id = id_of(index);
    const bool built = s.has(flag_built);
    const bool held = s.has(flag_held);
    // 0 from the start: open() or open_plain() has reported it.
    if (s.waits_for.load(relaxed) == 0) {
        queue_ready(w, index);
    } else if (drop_wait(s.waits_for)) {
        make_ready(w, index, {});
    }
    // The builder and the handle that there would have been give up their shares.
    if (built) own_work_done(w, index);
    if (held) release_holder(w, id);
}

void runtime::finish_building(worker& w, task_id id, bool cancel) {
    const std::uint32_t index = index_of(id.value);
    slot& s = slot_at(index);
    if (cancel) s.flags.fetch_or(flag_cancel, relaxed);
    const bool empty = s.has(flag_empty);
    if (empty && drop_wait(s.waits_for)) make_ready(w, index, {});
    own_work_done(w, index);  // the builder's share
}

bool runtime::add_dependency(worker& w, task_id id, task_id predecessor) {
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

}  // namespace detail
BRAID_NAMESPACE_END
