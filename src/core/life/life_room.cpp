// The life of a task, in this order: open, publish, ready, complete. See run/ for running tasks.
#include "core/life/life_room.hpp"

#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

// ---- open: a slot, its predecessors, its parent ------------------------------------------------

bool life_room::add_to_parent(slot& s, task_id parent) {
    const std::uint32_t index = index_of(parent.value);
    slot& p = slots.at(index);
    const bool added = add_open_work(p.open, generation_of(parent.value));
    if (!BRAID_EXPECT(options.assertion, added,
                      "the parent completed before its child was added")) {
        return false;
    }
    s.ordinal.store(p.births.fetch_add(1, relaxed) + 1, relaxed);
    slots.link_parent(s, index);
    return true;
}

const task_environment* life_room::environment_for(const life_seat& w,
                                                   const task_options& o) const {
    if (o.within != nullptr) return &o.within->internals().environment;
    if (o.environment != nullptr) return o.environment;
    // If the parent is complete by now, this may read another task's environment. add_to_parent()
    // then refuses the new task.
    if (o.parent) return slots.at(o.parent).environment.load(relaxed);
    return w.top != nullptr ? slots.at(w.top->slot).environment.load(relaxed) : nullptr;
}

/// Makes the task wait for `predecessor`. Returns false if there is no memory, or if the dependency
/// is refused. An id does not name its scheduler. So an id of another scheduler is accepted if this
/// one has issued the same id.
bool life_room::depend(life_seat& w, std::uint32_t index, task_id predecessor, bool any_outcome) {
    const task_id id = slots.id_of(index);
    if (!predecessor) return true;
    const bool is_known = slots.state_of(predecessor) != task_state::unknown;
    if (!BRAID_EXPECT(options.assertion, is_known && predecessor != id,
                      "`after` holds an id that this scheduler never issued")) {
        return false;
    }
    if (slots.at(index).parent.load(relaxed) != no_index &&
        !BRAID_EXPECT(options.assertion, !slots.descends(index, predecessor),
                      "a child cannot wait for its parent, which waits for it")) {
        return false;
    }
    const link edge = edges.make(w.edges, index, predecessor, any_outcome);
    if (edge == link::no_memory) return false;
    if (edge == link::failed) outcomes.cancel_with(w.details, index, predecessor);
    // An edge to a complete task is reported, too, because what that task wrote comes before this
    // task.
    if (report.observed()) report.event(w.index, event_kind::edge, id, predecessor);
    if (edge == link::made) inherit_priority(w, predecessor, slots.level_of(slots.at(index)));
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
        slots.at(index).flags.fetch_or(flag_finally, relaxed);
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
        case draft_kind::resumable:
            return flag_detailed;
        case draft_kind::built:
            return flag_built;
        case draft_kind::shared:
            return flag_shared;
    }
    return 0;
}

}  // namespace

draft life_room::open(life_seat& w, const task_options& o, draft_kind kind) {
    if (!accepts_from(w)) {
        refused_.fetch_add(1, relaxed);
        report.log(log_level::error, "%s: task '%s' refused, the scheduler is shut down",
                   options.name, o.name != nullptr ? o.name : "");
        return {};
    }
    if (!good_options(w.rt, o) ||
        !BRAID_EXPECT(options.assertion, !o.parent || slots.is_open(o.parent),
                      "add children only to a task that is open: while it runs, while another "
                      "child is open, or before finish()")) {
        return {};
    }
    const auto flags = static_cast<std::uint16_t>(flags_of(o) | flag_of(kind));
    const task_environment* const environment = environment_for(w, o);
    const std::uint32_t index = slots.take(w.slots);
    slot* const made = new_task(index, {o.name, flags, level_of(o), environment}, 1);
    if (made == nullptr) return {};
    slot& s = *made;
    s.module = o.module;
    s.invoke = nullptr;  // there is no callable before publish(); see runtime::search_task()
    // relaxed: nobody knows the task yet.
    if (kind == draft_kind::built) s.open.fetch_add(1, relaxed);
    // Steps that may fail come first. add_to_parent() is the last, because it is not undone.
    const bool needs_detail = (flags & flag_detailed) != 0 || identified();
    if ((needs_detail && !fill_detail(w, s, o, kind)) ||
        (o.parent && !add_to_parent(s, o.parent))) {
        close_unused(s.successors, s.generation());
        if (kind == draft_kind::built) s.open.fetch_sub(1, relaxed);
        while (!drop_only_open_work(s.open)) active_policy::relax();  // until held_tasks let go
        details.free(w.details, s);
        slots.clean_and_give(w.slots, index);
        return {};
    }
    seat_counters::add(w.report.counters.created);
    count_creation(w, environment);
    slots.note_line(s, index, o.where);
    bool ready_reported = false;
    if (report.observed()) {
        // A task that waits for nothing is ready as soon as it is published.
        const std::size_t waits = o.after.size() + o.after_all.size + o.after_any.size();
        ready_reported = waits == 0 && kind != draft_kind::built;
        report_spawned(report.watcher(), w, s,
                       {.id = slots.id_of(index),
                        .parent = o.parent,
                        .where = o.where,
                        .ready_now = ready_reported});
    }
    const bool linked = depend_on_all(w, index, o);
    if (ready_reported) s.set_ready_reported();
    if (!linked) {
        // Without all of its edges the task would start too early, so it is refused. What was made
        // of it ends as an empty task.
        abandon(w, {s.storage, nullptr}, flag_empty);
        return {};
    }
    return {s.storage, nullptr};
}

// ---- publish: a task starts if it is to run, waits for nothing more, and has what it needs -----

task_id life_room::publish(life_seat& w, draft d, closure_fn body) {
    slot& s = slot_of(d);
    const std::uint32_t index = index_of(d);
    const task_id id{join_word(s.generation(), index)};
    s.invoke = body;
    if (body == nullptr) s.flags.fetch_or(flag_empty, relaxed);
    if (s.ready_is_reported()) {
        queue_ready(w, index);
    } else if (s.predecessors.load(relaxed) == no_edge) {
        s.waits_for.store(0, release);  // pairs with explanation::say_what_it_does()
        make_ready(w, index, {});
    } else if (drop_wait(s.waits_for)) {
        make_ready(w, index, {});
    } else {
        announce_needs(w, id);
    }
    return id;
}

void life_room::make_ready(life_seat& w, std::uint32_t index, task_id released_by) {
    slot& s = slots.at(index);
    edges.free_predecessors(w.edges, s);
    if (report.observed())
        report.event(w.index, event_kind::ready, slots.id_of(index), released_by);
    queue_ready(w, index);
}

void life_room::queue_ready(life_seat& w, std::uint32_t index) {
    slot& s = slots.at(index);
    const std::uint16_t flags = s.flags.load(relaxed);
    if ((flags & (flag_empty | flag_cancel)) != 0 && !details.was_suspended(s)) {
        // A user destructor may wait, and the spare seat is not for waits. So another thread ends
        // the task.
        if (w.spare && s.invoke != nullptr) return enqueue(w, index);
        return end_without_running(w, index);
    }
    // A task of its own kind that has failed is not to run. It needs no resources, and any thread
    // may end it.
    if ((flags & flag_own_kind) != 0 && (flags & flag_failed) != 0) {
        return push_ready(w, slots.id_of(index), slots.level_of(s));
    }
    const bool resumes = details.was_suspended(s);
    // A task that was suspended still holds its resources.
    if ((flags & flag_detailed) != 0 && !resumes && !acquire_resources(w, index)) return;
    if (set_run_next(w, index, w.depth) || try_enqueue(w, index)) return;
    s.mark(flag_cancel);
    if ((flags & flag_own_kind) == 0 && !resumes) return end_without_running(w, index);
    push_ready(w, slots.id_of(index), slots.level_of(s));  // the task's kind or body ends it
}

// ---- a task of one function --------------------------------------------------------------------

bool life_room::try_post(life_seat& w, void (*function)(void*), void* data) noexcept {
    struct call {
        void (*function)(void*);
        void* data;
        void operator()() const { function(data); }
    };
    if (!accepts_from(w)) return false;
    const std::uint32_t index = slots.take(w.slots, false);
    slot* const s = new_task(index, {nullptr, flag_posted, normal_level, nullptr});
    if (s == nullptr) return false;
    ::new (static_cast<void*>(s->storage)) call{function, data};
    s->invoke = &run_closure<call>;
    seat_counters::add(w.report.counters.created);
    if (!try_push_ready(w, slots.id_of(index))) {
        seat_counters::add(w.report.counters.created, std::uint64_t{0} - 1);
        close_unused(s->successors, s->generation());
        slots.give(w.slots, index, s->generation());
        return false;
    }
    return true;
}

// ---- complete: its successors are notified, its parent counts down, its slot goes back ---------

void life_room::end_without_running(life_seat& w, std::uint32_t index) {
    slot& s = slots.at(index);
    const bool empty = s.has(flag_empty);
    const bool cancelled = s.has(flag_cancel) || !empty;
    if (!empty && s.invoke != nullptr) destroy_stored_of(w, s, index);
    s.flags.fetch_and(static_cast<std::uint16_t>(~flag_shared), relaxed);
    if (s.has(flag_detailed)) release_resources(w, index);
    if (cancelled) {
        s.mark(flag_cancel);
        seat_counters::add(w.report.counters.cancelled);
        if (report.observed())
            report.event(w.index, event_kind::cancelled, slots.id_of(index), {}, s.name);
        if (!s.has(flag_failed)) record_failure(w, index, nullptr, 0);
    } else {
        seat_counters::add(w.report.counters.executed);
    }
    own_work_done(w, index);
}

void life_room::own_work_done(life_seat& w, std::uint32_t index) {
    slot& s = slots.at(index);
    const std::uint16_t flags = s.flags.load(relaxed);
    // A completion, which may have children too, needs drop_completion(): its word holds more bits.
    const bool outside = (flags & flag_own_kind) != 0 && s.kind == &completion_kind;
    // A posted task has no other shares, because nobody knows its id.
    const bool last = (flags & flag_posted) != 0 ||
                      (outside ? drop_completion(s.open) : drop_own_share(w, s, index));
    if (last) complete(w, index);
}

// Completing one task may complete any number of others (parents, joins, cancelled successors).
// They all go through the seat's list `to_complete`, so that a chain of any length needs no
// recursion (I9).
void life_room::complete(life_seat& w, std::uint32_t index, bool completion_reported) {
    slots.at(index).set_next_to_complete(w.to_complete);
    w.to_complete = index;
    if (w.completing) return;
    complete_pending(w, completion_reported);
}

void life_room::complete_pending(life_seat& w, bool first_is_reported) {
    w.completing = true;
    while (w.to_complete != no_index) {
        const std::uint32_t at = w.to_complete;
        w.to_complete = slots.at(at).next_to_complete();
        slots.at(at).births.store(0, relaxed);
        complete_one(w, at, std::exchange(first_is_reported, false));
    }
    w.completing = false;
}

void life_room::complete_one(life_seat& w, std::uint32_t index, bool completion_reported) {
    slot& s = slots.at(index);
    // Everything that could change the flags has ended.
    const std::uint16_t flags = s.flags.load(relaxed);
    if ((flags & flag_own_kind) != 0 && s.kind->ended != nullptr) {
        return s.kind->ended(w.rt, w.whole, index);
    }
    const task_id id = slots.id_of(index);
    const std::uint32_t generation = generation_of(id.value);
    if ((flags & flag_shared) != 0) destroy_stored_of(w, s, index);  // before all else (I4)
    // The task has run. A builder that gave up after that no longer cancels it.
    if ((flags & flag_cancel) != 0 && s.runner.load(relaxed) != UINT16_MAX) {
        s.flags.fetch_and(static_cast<std::uint16_t>(~flag_cancel), relaxed);
    }
    outcome* result = (flags & flag_failed) != 0 ? outcomes.find(s) : nullptr;
    if (!completion_reported && report.observed())
        report.event(w.index, event_kind::completed, id, {}, s.name);

    complete_closed(w, index, close_and_take(s.successors, generation), result);
}

/// `head` is what close_and_take() returned. If `result` is not null, returns true if a waiter has
/// received this failure.
bool life_room::notify_dependents(life_seat& w, std::uint32_t index, std::uint64_t head,
                                  outcome* result) {
    const task_id id = slots.id_of(index);
    bool received = false;
    for (std::uint32_t e = first_edge(head); e != no_edge;) {
        // The link is read before the count goes down, because the thread that makes the successor
        // ready frees the successor's edges.
        const std::uint32_t next = edges.at(e).next.load(relaxed);
        if (edges.at(e).await.load(relaxed) != edge_fixed) {
            received |= notify_awaiting(w, e, id, result);
            e = next;
            continue;
        }
        const std::uint32_t successor = index_of(edges.at(e).to.load(relaxed));
        slot& to = slots.at(successor);
        if (result != nullptr && !edges.at(e).any_outcome) {
            to.mark(flag_cancel);
            outcomes.adopt(w.details, successor, outcomes.share(result), 0);
            received |= details.was_suspended(to);
        }
        if (drop_wait(to.waits_for)) make_ready(w, successor, id);
        e = next;
    }
    if (result != nullptr) received |= give_to_unentered(w, id, *result);
    if ((static_cast<std::uint32_t>(head) & waited_bit) == 0) return received;
    const unsigned woken = lot().wake(
        id.value, UINT32_MAX,
        [&](wait_record& r) {
            if (result != nullptr) r.result = outcomes.share(result);
            return true;
        },
        [this](unsigned seat) { notify(seat); });
    return received || woken != 0;
}

void life_room::complete_closed(life_seat& w, std::uint32_t index, std::uint64_t head,
                                outcome* result) {
    slot& s = slots.at(index);
    // A plain task comes without `result`. The flag then means that a failure found no memory.
    if (result == nullptr && s.has(flag_failed)) result = outcomes.find(s);
    const std::uint32_t parent = s.parent.load(relaxed);
    // A handle that still exists receives the failure. `holders` is read before the successors are
    // notified, because one of them may take the failure and drop the handle at once.
    const bool held =
        result != nullptr && s.has(flag_detailed) && details.find(s)->holders.load(acquire) > 1;
    const bool received = notify_dependents(w, index, head, result) || held;
    if (result != nullptr && !received) pass_on(w, s, *result, parent);
    scope_state* const in = scope_of(s.environment.load(relaxed));
    const end_of_task end = how_it_ended(s);
    // The slot is recycled before count_end(). When a wait for the scope returns, all values and
    // failures are thus delivered.
    recycle(w, index);
    if (in != nullptr) count_end(w, *in, end);
    if (parent != no_index) own_work_done(w, parent);
}

end_of_task life_room::how_it_ended(const slot& s) {
    if (s.has(flag_cancel)) return end_of_task::cancelled;
    return s.has(flag_failed) ? end_of_task::failed : end_of_task::executed;
}

void life_room::recycle(life_seat& w, std::uint32_t index) {
    slot& s = slots.at(index);
    // acq_rel: the last holder sees what the others did with the slot.
    if (s.has(flag_detailed)) {
        if (details.find(s)->holders.fetch_sub(1, acq_rel) != 1) return;
        if (details.find(s)->has_value.load(relaxed)) s.destroy_stored();
    }
    if (s.has(flag_failed)) {
        outcomes.drop(outcomes.end(w.details, s));
    } else {
        details.free(w.details, s);
    }
    if (s.has(flag_posted)) close_unused(s.successors, s.generation());
    slots.clean_and_give(w.slots, index);
}

/// Drops the body's share for end_plain(), and reports the body's end. Returns true if it was the
/// last share; the completion is then reported, too.
bool life_room::report_end(life_seat& w, slot& s, task_id id, bool posted) {
    bool last = posted || drop_only_open_work(s.open);
    report.watcher().on_end(w.index, id, s.name, last);
    if (last) return true;
    last = drop_own_share(w, s, index_of(id.value));
    if (last) report.event(w.index, event_kind::completed, id, {}, s.name);
    return last;
}

}  // namespace detail
BRAID_NAMESPACE_END
