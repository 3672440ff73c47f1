// A task completes: its successors are notified, its parent counts down, its slot goes back.
#include "braid/core/scope.hpp"
#include "core/runtime.hpp"
#include "core/task/words.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

void runtime::own_work_done(worker& w, std::uint32_t index) {
    slot& s = slot_at(index);
    // A posted task has no other shares: nobody knows its id.
    if (s.has(flag_posted) || drop_open_work(s.open)) complete(w, index);
}

// Completing one task may complete others without end (parents, joins, cancelled successors): they
// go through this one list, so that a chain of any length needs no stack (I9).
void runtime::complete(worker& w, std::uint32_t index, bool completion_reported) {
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

void runtime::complete_one(worker& w, std::uint32_t index, bool completion_reported) {
    slot& s = slot_at(index);
    if (s.has(flag_own_way) && s.way != nullptr) {
        return s.way(*this, w, index, own_step::ended);
    }
    const task_id id = id_of(index);
    const std::uint32_t generation = generation_of(id.value);
    if (s.has(flag_shared)) s.invoke(s.storage, nullptr);  // before completion is visible (I4)
    outcome* result = s.has(flag_failed) ? outcome_of(s) : nullptr;
    if (!completion_reported && observed()) report(w, event_kind::completed, id, {}, s.name);

    complete_closed(w, index, close_and_take(s.successors, generation), result);
}

/// `head`: what close_and_take() gave. True: somebody waited.
bool runtime::notify_dependents(worker& w, std::uint32_t index, std::uint64_t head,
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

void runtime::complete_closed(worker& w, std::uint32_t index, std::uint64_t head, outcome* result) {
    slot& s = slot_at(index);
    const std::uint32_t parent = s.parent.load(relaxed);
    bool received = notify_dependents(w, index, head, result);
    // A handle that was dropped before the end receives nothing.
    received = received || (s.has(flag_held) && detail_of(s)->holders.load(acquire) > 1);
    if (result != nullptr && !received) pass_on(w, s, *result, parent);
    const task_environment* environment = s.environment.load(relaxed);
    const bool in_scope = environment != nullptr && environment->within != nullptr;
    const end_of_task end = how_it_ended(s);
    recycle(w, index);  // before a scope's wait may return: values and failures are delivered
    if (in_scope) count_end(w, *environment->within, end);
    if (parent != no_index) own_work_done(w, parent);
}

/// A builder that gives up after its task has run cancels nothing any more.
runtime::end_of_task runtime::how_it_ended(const slot& s) {
    if (s.has(flag_cancel) && s.runner.load(relaxed) == UINT16_MAX) return end_of_task::cancelled;
    return s.has(flag_failed) ? end_of_task::failed : end_of_task::executed;
}

/// Between two tasks of a loop ends are only added up: they are counted when the loop leaves the
/// scope or finds nothing more to run. In a task's body, or outside a loop, there is no later
/// moment.
void runtime::count_end(worker& w, scope& all, end_of_task end, std::uint64_t count) {
    scope::shard& shard = all.shard_[scope::shard_of(w.index)];
    if (end == end_of_task::cancelled) shard.cancelled.fetch_add(count, relaxed);
    if (end == end_of_task::failed) shard.failed.fetch_add(count, relaxed);
    if (w.scope_ended_in != &all) flush_scope_ends(w);
    w.scope_ended_in = &all;
    w.scope_ends += count;
    if (w.depth != w.loop_depth) flush_scope_ends(w);
}

void runtime::flush_scope_ends(worker& w) {
    scope* const in = std::exchange(w.scope_ended_in, nullptr);
    if (in == nullptr) return;
    scope::shard& shard = in->shard_[scope::shard_of(w.index)];
    // acq_rel: release pairs with the sums of a wait. From here on the scope may be gone.
    const std::uint64_t before = shard.ended.fetch_add(std::exchange(w.scope_ends, 0), acq_rel);
    if ((before & scope::waited_bit) == 0) return;
    // Looked at only while a waiter's record is in the bucket: then the scope is alive.
    lot().wake(
        scope_key(in), UINT32_MAX, [&](wait_record&) { return scope_done(*in); },
        [this](unsigned seat) { notify(seat); });
}

bool runtime::scope_done(const scope& s) {
    std::uint64_t ended = 0;
    std::uint64_t created = 0;
    // acquire: pairs with the release in count_end() and open(). Ended before created: every
    // task that is counted as ended is counted as created, and so are those that it created.
    for (const scope::shard& shard : s.shard_) {
        ended += shard.ended.load(acquire) & ~scope::waited_bit;
    }
    for (const scope::shard& shard : s.shard_) created += shard.created.load(acquire);
    return ended == created;
}

void runtime::recycle(worker& w, std::uint32_t index) {
    slot& s = slot_at(index);
    // acq_rel: the last holder sees what the others did with the slot.
    if (s.has(flag_held) && detail_of(s)->holders.fetch_sub(1, acq_rel) != 1) return;
    if (s.has(flag_value)) s.invoke(s.storage, nullptr);
    if (s.has(flag_failed)) drop(take_outcome(s));
    free_detail(w, s);
    if (s.has(flag_posted)) close_unused(s.successors, s.generation());
    clean_and_give_slot(w, index);
}

void runtime::release_holder(worker& w, task_id id) { recycle(w, index_of(id.value)); }

}  // namespace detail
BRAID_NAMESPACE_END
