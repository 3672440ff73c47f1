#include "core/edges/edge_table.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

[[gnu::noinline]] link edge_table::link_to_complete(task_id predecessor, bool any_outcome) const {
    return !any_outcome && slots_.failure_of(predecessor) != 0 ? link::failed : link::not_needed;
}

link edge_table::make(pool_cache& own, std::uint32_t successor, task_id predecessor,
                      bool any_outcome, await_state until) {
    slot& to = slots_.at(successor);
    slot& from = slots_.at(predecessor);
    const std::uint32_t generation = generation_of(predecessor.value);
    if (state_in(from.successors, generation) != task_state::open) {
        return link_to_complete(predecessor, any_outcome);
    }
    const std::uint32_t index = edges_.take(own);
    if (index == no_index) return link::no_memory;
    edge& e = edges_[index];
    e.any_outcome = any_outcome;
    if (until != edge_fixed) e.await.store(until, relaxed);
    // release: the two stores pair with the loads in any_predecessor() and in
    // needs::next_successor().
    e.from.store(predecessor.value, release);
    e.to.store(slots_.id_of(successor).value, release);
    if (!push_edge(from.successors, generation, to.waits_for, index, e.next)) {
        give(own, index);
        return link_to_complete(predecessor, any_outcome);
    }
    // release, both: pair with any_predecessor().
    e.next_predecessor.store(to.predecessors.load(relaxed), release);
    to.predecessors.store(index, release);
    return link::made;
}

void edge_table::make_first(pool_cache& own, std::uint32_t successor, task_id predecessor) {
    slot& to = slots_.at(successor);
    const std::uint32_t index = edges_.take(own);
    edge& e = edges_[index];
    e.any_outcome = false;
    // release: the two stores pair with the loads in any_predecessor() and in
    // needs::next_successor().
    e.from.store(predecessor.value, release);
    e.to.store(slots_.id_of(successor).value, release);
    push_first_edge(slots_.at(predecessor).successors, generation_of(predecessor.value),
                    to.waits_for, index, e.next);
    // release, both: pair with any_predecessor().
    e.next_predecessor.store(to.predecessors.load(relaxed), release);
    to.predecessors.store(index, release);
}

void edge_table::free_predecessors(pool_cache& own, slot& s) {
    std::uint32_t e = s.predecessors.load(relaxed);
    if (e == no_edge) return;
    // At this moment a cancellation may end the wait early and take the list. acq_rel: as in
    // tear().
    if (may_be_torn(s)) e = s.predecessors.exchange(no_edge, acq_rel);
    while (e != no_edge) {
        const std::uint32_t next = edges_[e].next_predecessor.load(relaxed);
        give(own, e);
        e = next;
    }
    s.predecessors.store(no_edge, relaxed);
}

std::uint32_t edge_table::tear(pool_cache& own, slot& s) {
    // release: pairs with any_predecessor(). The count goes up before an edge gets another owner.
    details_.find(s)->waits.fetch_add(1, release);
    std::uint32_t torn = 0;
    // acq_rel: exactly one of the threads that end the wait gets the list.
    for (std::uint32_t e = s.predecessors.exchange(no_edge, acq_rel); e != no_edge;) {
        const std::uint32_t next = edges_[e].next_predecessor.load(relaxed);
        if (tear_edge(edges_[e].await)) {
            ++torn;
        } else {
            give(own, e);
        }
        e = next;
    }
    return torn;
}

bool edge_table::waits_for_transitively(task_id id, task_id wanted) const {
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

}  // namespace detail
BRAID_NAMESPACE_END
