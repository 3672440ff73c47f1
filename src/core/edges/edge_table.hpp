#pragma once
// Stores the edges between tasks: which tasks must be complete before another one starts.

#include "core/details/detail_table.hpp"
#include "core/slots/slot_table.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A dependency, which makes the successor wait for the predecessor. An edge is in two lists. The
/// list of the predecessor's successors is closed and walked once, at the predecessor's completion.
/// The list of the successor's predecessors serves helping, priority inheritance and explanations.
/// The thread that makes the successor ready frees the edge, unless the edge was torn (see
/// await_words.hpp).
struct edge {
    atomic<std::uint32_t> next{0};  // link in the predecessor's list of successors
    atomic<std::uint32_t> next_predecessor{no_edge};
    atomic<std::uint64_t> from{0}, to{0};
    bool any_outcome = false;                // made by after_any
    atomic<std::uint8_t> await{edge_fixed};  // an await_state; edge_fixed if not in use
};

/// The result of edge_table::make(). `not_needed` means that the predecessor is already complete
/// and does not cancel the successor. `failed` means that the predecessor is already complete, and
/// that it failed or was cancelled.
enum class link : std::uint8_t { made, not_needed, failed, no_memory };

/// Makes edges between tasks, walks them, and frees them. `own` is the cache of free edges that
/// belongs to the caller's seat.
class edge_table {
public:
    edge_table(accounted_memory& memory, const slot_table& slots, const detail_table& details)
        : edges_(memory, memory_tag::edge), slots_(slots), details_(details) {}

    edge& at(std::uint32_t index) const { return edges_[index]; }
    bool has(std::uint32_t index) const { return edges_.contains(index); }
    /// Makes `successor` wait for `predecessor`, unless the predecessor is complete already. If
    /// this returns link::failed, the caller must cancel the successor. With `any_outcome`,
    /// link::failed is never returned.
    /// `until` is edge_awaited if the edge may be torn, and otherwise edge_fixed.
    link make(pool_cache& own, std::uint32_t successor, task_id predecessor, bool any_outcome,
              await_state until = edge_fixed);
    /// Makes `successor` wait for a task that no other thread knows yet. The caller must have
    /// checked has_free().
    void make_first(pool_cache& own, std::uint32_t successor, task_id predecessor);
    /// Returns true if the next make() of this thread has memory for its edge.
    bool has_free(pool_cache& own) {
        const std::uint32_t index = edges_.take(own);
        if (index != no_index) edges_.give(own, index);
        return index != no_index;
    }
    void give(pool_cache& own, std::uint32_t index) {
        edges_[index].await.store(edge_fixed, relaxed);  // only the caller has the edge
        edges_.give(own, index);
    }
    /// Frees the edges that lead into a task. Called when the task becomes ready, because nobody
    /// follows these edges any more.
    void free_predecessors(pool_cache& own, slot& s);
    /// Tears the edges into a suspended task, except those that were notified already. Returns how
    /// many it has torn: the caller now has that many shares of `waits_for` and must drop them.
    std::uint32_t tear(pool_cache& own, slot& s);

    /// Calls f(task_id) for each known predecessor of an open task until f returns true. Returns
    /// true if f did. A predecessor may be complete by the time of the call.
    template <class F>
    bool any_predecessor(task_id id, F&& f) const;
    /// Returns true if `id` waits for `wanted`, directly or through other tasks. It checks 64 tasks
    /// at most: this finds cycles that a program made by mistake, but may miss one.
    bool waits_for_transitively(task_id id, task_id wanted) const;

private:
    /// Returns true if the task's current wait, or its last one, may end before all awaited tasks
    /// are complete.
    bool may_be_torn(const slot& s) const {
        if (!details_.was_suspended(s)) return false;
        const detail_block& d = details_.at(s);
        return d.may_end_early.load(relaxed) || d.first_is_enough.load(relaxed);
    }
    link link_to_complete(task_id predecessor, bool any_outcome) const;

    index_pool<edge> edges_;
    const slot_table& slots_;
    const detail_table& details_;
};

template <class F>
bool edge_table::any_predecessor(task_id id, F&& f) const {
    const slot& s = slots_.at(id);
    const detail_block* const d = s.has(flag_detailed) ? details_.find(s) : nullptr;
    const std::uint32_t wait = d != nullptr ? d->waits.load(acquire) : 0;
    for (std::uint32_t e = s.predecessors.load(acquire); e != no_edge;) {
        // acquire: pairs with make(). The values are valid if the edge was still in the list when
        // they were read. An edge is used again only after the last share of `waits_for` was
        // dropped, which the check below notices.
        const task_id from{edges_[e].from.load(acquire)};
        const std::uint32_t next = edges_[e].next_predecessor.load(acquire);
        if (s.waits_for.load(acquire) == 0 || !slots_.is_open(id)) return false;
        // acquire, relaxed: a later wait increments `waits` before it begins, and a wait that ends
        // early does so before it frees an edge.
        if (d != nullptr && d->waits.load(relaxed) != wait) return false;
        if (f(from)) return true;
        e = next;
    }
    return false;
}

}  // namespace detail
BRAID_NAMESPACE_END
