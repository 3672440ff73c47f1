// A task completes: its successors are notified, its parent counts down, its slot goes back.
#include "core/life/life_room.hpp"
#include "core/task/words.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

void life_room::end_without_running(life_seat& w, std::uint32_t index) {
    slot& s = slot_at(index);
    const bool empty = s.has(flag_empty);
    const bool cancelled = s.has(flag_cancel) || !empty;
    if (!empty && s.invoke != nullptr) s.invoke(s.storage, nullptr);
    s.flags.fetch_and(static_cast<std::uint16_t>(~flag_shared), relaxed);
    if (s.has(flag_detailed)) release_resources(w, index);
    if (cancelled) {
        s.flags.fetch_or(flag_cancel, relaxed);
        seat_counters::add(w.counters.cancelled);
        if (observed()) report(w, event_kind::cancelled, id_of(index), {}, s.name);
        if (!s.has(flag_failed)) record_failure(w, index, nullptr, 0);
    } else {
        seat_counters::add(w.counters.executed);
    }
    own_work_done(w, index);
}

void life_room::own_work_done(life_seat& w, std::uint32_t index) {
    slot& s = slot_at(index);
    // A posted task has no other shares: nobody knows its id.
    if (s.has(flag_posted) || drop_open_work(s.open)) complete(w, index);
}

// Completing one task may complete others without end (parents, joins, cancelled successors): they
// go through this one list, so that a chain of any length needs no stack (I9).
void life_room::complete(life_seat& w, std::uint32_t index, bool completion_reported) {
    // Linked through a word that nobody needs any more: a graph's node may still lie in a list as
    // the ticket of another one (graph/ready_ranks.hpp).
    slot_at(index).births.store(w.to_complete, relaxed);
    w.to_complete = index;
    if (w.completing) return;
    w.completing = true;
    while (w.to_complete != no_index) {
        const std::uint32_t at = w.to_complete;
        w.to_complete = slot_at(at).births.load(relaxed);
        slot_at(at).births.store(0, relaxed);
        complete_one(w, at, std::exchange(completion_reported, false));
    }
    w.completing = false;
}

void life_room::complete_one(life_seat& w, std::uint32_t index, bool completion_reported) {
    slot& s = slot_at(index);
    if (s.has(flag_own_kind) && s.kind->ended != nullptr) {
        return s.kind->ended(w.rt, w.whole, index);
    }
    const task_id id = id_of(index);
    const std::uint32_t generation = generation_of(id.value);
    if (s.has(flag_shared)) s.invoke(s.storage, nullptr);  // before completion is visible (I4)
    outcome* result = s.has(flag_failed) ? outcome_of(s) : nullptr;
    if (!completion_reported && observed()) report(w, event_kind::completed, id, {}, s.name);

    complete_closed(w, index, close_and_take(s.successors, generation), result);
}

/// `head`: what close_and_take() gave. True: somebody waited.
bool life_room::notify_dependents(life_seat& w, std::uint32_t index, std::uint64_t head,
                                  outcome* result) {
    const task_id id = id_of(index);
    for (std::uint32_t e = first_edge(head); e != no_edge;) {
        // Read before the count goes down: the thread that makes the successor ready frees its
        // edges.
        const std::uint32_t next = edge_at(e).next.load(relaxed);
        const std::uint32_t successor = index_of(edge_at(e).to.load(relaxed));
        slot& to = slot_at(successor);
        if (result != nullptr && !edge_at(e).any_outcome) {
            to.flags.fetch_or(flag_cancel, relaxed);
            adopt(w, successor, share(result), 0);
        }
        if (drop_wait(to.waits_for)) make_ready(w, successor, id);
        e = next;
    }
    if ((static_cast<std::uint32_t>(head) & waited_bit) == 0) return false;
    const unsigned woken = lot().wake(
        id.value, UINT32_MAX,
        [&](wait_record& r) {
            if (result != nullptr) r.result = share(result);
            return true;
        },
        [this](unsigned seat) { notify(seat); });
    return woken != 0;
}

void life_room::complete_closed(life_seat& w, std::uint32_t index, std::uint64_t head,
                                outcome* result) {
    slot& s = slot_at(index);
    const std::uint32_t parent = s.parent.load(relaxed);
    bool received = notify_dependents(w, index, head, result);
    // A handle that was dropped before the end receives nothing.
    received = received || (s.has(flag_detailed) && detail_of(s)->holders.load(acquire) > 1);
    if (result != nullptr && !received) pass_on(w, s, *result, parent);
    scope_state* const in = scope_of(s.environment.load(relaxed));
    const end_of_task end = how_it_ended(s);
    recycle(w, index);  // before a scope's wait may return: values and failures are delivered
    if (in != nullptr) count_end(w, *in, end);
    if (parent != no_index) own_work_done(w, parent);
}

/// A builder that gives up after its task has run cancels nothing any more.
end_of_task life_room::how_it_ended(const slot& s) {
    if (s.has(flag_cancel) && s.runner.load(relaxed) == UINT16_MAX) return end_of_task::cancelled;
    return s.has(flag_failed) ? end_of_task::failed : end_of_task::executed;
}

void life_room::recycle(life_seat& w, std::uint32_t index) {
    slot& s = slot_at(index);
    // acq_rel: the last holder sees what the others did with the slot.
    if (s.has(flag_detailed)) {
        if (detail_of(s)->holders.fetch_sub(1, acq_rel) != 1) return;
        if (detail_of(s)->has_value.load(relaxed)) s.invoke(s.storage, nullptr);
    }
    if (s.has(flag_failed)) drop(take_outcome(s));
    free_detail(w, s);
    if (s.has(flag_posted)) close_unused(s.successors, s.generation());
    clean_and_give_slot(w, index);
}

/// True: it was the last share, and all is reported. By end_plain().
bool life_room::report_end(life_seat& w, slot& s, task_id id, bool posted) {
    bool last = posted || drop_only_open_work(s.open);
    watcher().on_end(w.index, id, s.name, last);
    if (last) return true;
    last = drop_open_work(s.open);
    if (last) report(w, event_kind::completed, id, {}, s.name);
    return last;
}

}  // namespace detail
BRAID_NAMESPACE_END
