#pragma once
// The task room stores what the scheduler knows about each task: its slot, its id, its edges, its
// ancestors, and the data that only few tasks have. It has the operations on one task, but no queue
// and no thread.

#include "braid/core/fork_stack.hpp"
#include "braid/core/task_context.hpp"
#include "core/report/reporter.hpp"
#include "core/slots/slot_table.hpp"
#include "core/task/shown_frame.hpp"

#include <cstdint>
#include <exception>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace detail {

class runtime;
class stable_ids;
struct task_seat;
struct whole_seat;

/// A task that a thread runs, as an entry on the stack of that thread. `below` is the task beneath
/// it on the same stack.
struct running_task {
    std::uint32_t slot;
    running_task* below;
    std::exception_ptr error;
    task_context context;
    const fork_slot* joins_from = nullptr;  // top of the thread's joins when the task began
    const task_seat* seat = nullptr;        // the seat whose thread runs the task
    bool suspended = false;  // the body returns, and is called again when the task resumes
};

using shown_frame = basic_shown_frame<active_policy>;

/// The part of a seat that the task room uses: caches of free objects, and the tasks on the stack
/// of the seat's thread. run_room adds and removes those tasks.
struct task_seat {
    task_seat(runtime& owner, whole_seat& self, std::uint16_t seat, seat_kind k)
        : rt(owner), whole(self), index(seat), kind(k), report(k) {}

    runtime& rt;
    whole_seat& whole;  // the complete seat, for functions of the rooms above
    const std::uint16_t index;
    const seat_kind kind;
    report_part report;

    static constexpr unsigned shown_depth = 64;

    // ---- for the seat's thread only ----
    pool_cache slots, edges, details, resource_lists;
    running_task* top = nullptr;
    creator* creating_as = nullptr;  // creates in place of `top`, if its `within` is `top`
    unsigned depth = 0;
    // The value of `depth` in the innermost loop that runs tasks, which is the thread's own loop or
    // the loop of a wait. Between two tasks of the loop `depth` equals it, and in a task's body
    // `depth` is greater.
    unsigned loop_depth = UINT32_MAX;

    // ---- read by any thread: which tasks are on the stack, from the outermost to the innermost,
    // and what each of them waits for. Deeper tasks than these are not shown (their work goes to a
    // reserve thread).
    alignas(64) atomic<std::uint32_t> shown{0};
    shown_frame frames[shown_depth + 1];  // tasks that are not shown use the last frame
};

/// Describes a new task to an observer.
struct creation {
    task_id id, parent;
    const std::source_location& where;
    bool same_moment = false;  // no time has passed since the thread's previous event
    bool ready_now = false;
};

/// The result of link_edge(). `not_needed` means that the predecessor is already complete and does
/// not cancel the successor. `failed` means that the predecessor is already complete, and that it
/// failed or was cancelled.
enum class link : std::uint8_t { made, not_needed, failed, no_memory };

class task_room {
public:
    // The parts that have no room. The counts of `memory` are written often, so `report`, which
    // each task reads, begins a line of its own.
    default_handlers handlers;
    const scheduler_options options;
    accounted_memory memory;
    alignas(64) reporter report;
    slot_table slots;

    explicit task_room(const scheduler_options& o);
    ~task_room();
    task_room(const task_room&) = delete;
    task_room& operator=(const task_room&) = delete;

    // ---- ancestors: parents, and jump pointers that make climbing O(log depth)
    void link_parent(slot& child, std::uint32_t parent) const;
    bool is_below(const slot& s, task_id parent) const {
        const std::uint32_t index = index_of(parent.value);
        return s.parent.load(relaxed) == index && slots.id_of(index) == parent;
    }
    /// Returns true if the task is `ancestor` or a descendant of it.
    bool descends(std::uint32_t index, task_id ancestor) const;

    // ---- edges
    edge& edge_at(std::uint32_t index) const { return edges_[index]; }
    bool has_edge(std::uint32_t index) const { return edges_.contains(index); }
    /// Makes `successor` wait for `predecessor`, unless the predecessor is complete already. If
    /// this returns link::failed, the caller must cancel the successor. With `any_outcome`,
    /// link::failed is never returned.
    /// `until` is edge_awaited if the edge may be torn, and otherwise edge_fixed.
    link link_edge(task_seat& w, std::uint32_t successor, task_id predecessor, bool any_outcome,
                   await_state until = edge_fixed);
    /// Frees the edges that lead into a task. Called when the task becomes ready, because nobody
    /// follows these edges any more.
    void free_predecessors(task_seat& w, slot& s);
    /// Tears the edges into a suspended task, except those that were notified already. Returns how
    /// many it has torn: the caller now has that many shares of `waits_for` and must drop them.
    std::uint32_t tear_edges(task_seat& w, slot& s);
    void give_edge(task_seat& w, std::uint32_t index) {
        edges_[index].await.store(edge_fixed, relaxed);  // only the caller has the edge
        edges_.give(w.edges, index);
    }
    /// Returns true if the next link_edge() of this thread has memory for its edge.
    bool has_room_for_edge(task_seat& w) {
        const std::uint32_t index = edges_.take(w.edges);
        if (index != no_index) edges_.give(w.edges, index);
        return index != no_index;
    }
    /// Calls f(task_id) for each known predecessor of an open task until f returns true. Returns
    /// true if f did. A predecessor may be complete by the time of the call.
    template <class F>
    bool any_predecessor(task_id id, F&& f) const;
    /// Returns true if `id` waits for `wanted`, directly or through other tasks. It checks 64 tasks
    /// at most: this finds cycles that a program made by mistake, but may miss one.
    bool waits_for_transitively(task_id id, task_id wanted) const;

    // ---- data that only few tasks have
    /// Returns null if the task has no detail_block.
    detail_block* detail_of(const slot& s) const {
        const std::uint32_t d = s.detail.load(acquire);  // pairs with make_detail()
        return d == no_index ? nullptr : &details_[d];
    }
    /// Returns the detail_block of a task that has one.
    detail_block& its_detail(const slot& s) const { return details_[s.detail.load(acquire)]; }
    /// Returns true if only certain threads may run the task. Any thread may call it, even if the
    /// task in the slot may have changed.
    bool is_direct(const slot& s) const {
        const detail_block* d = s.has(flag_detailed) ? detail_of(s) : nullptr;
        return d != nullptr && d->direct.load(relaxed);
    }
    bool uses_resources(const slot& s) const {
        return s.has(flag_detailed) && detail_of(s)->resource_count != 0;
    }
    /// Returns true if the task has been suspended before. Its body is then called again even if
    /// the task is cancelled.
    bool was_suspended(const slot& s) const {
        return s.has(flag_detailed) && detail_of(s)->was_suspended.load(relaxed);
    }
    /// Returns the task's detail_block. Makes one if there is none yet. Returns null if there is no
    /// memory.
    detail_block* make_detail(task_seat& w, slot& s);
    void free_detail(task_seat& w, const slot& s) { free_block(w, s.detail.load(relaxed)); }

    // ---- stable ids, which exist only if a chooser is installed or an observer asks for them
    bool identified() const { return identities_ != nullptr; }
    /// Returns the stable id of the task that the seat's thread is about to create.
    std::uint64_t next_identity(const task_seat& w) const;
    /// Makes `as` the creator of the tasks that this thread creates until leave(). `as` is a part
    /// of the task that the thread runs, and `id` is the stable id of this part.
    static void enter(task_seat& w, creator& as, std::uint64_t id);
    static void leave(task_seat& w, const creator& as);
    /// Returns the task's stable id, or 0 if it has none.
    std::uint64_t identity(task_id id) const {
        const detail_block* d = detail_of(slots.at(id));
        return d != nullptr ? d->stable_id : 0;
    }

    void report_spawned(observer& to, const task_seat& w, const slot& s,
                        const creation& made) const;

protected:
    /// Frees a detail_block and its list of resources. Does nothing if `block` is no_index.
    void free_block(task_seat& w, std::uint32_t block);
    /// Makes `successor` wait for a task that no other thread knows yet. The caller must have
    /// checked has_room_for_edge().
    void link_first_edge(task_seat& w, std::uint32_t successor, task_id predecessor);
    // ---- for the rooms above, which know resources
    std::span<resource* const> resources_in(const detail_block& d) const {
        if (d.resource_count == 0) return {};
        return {resource_lists_[d.resources].of, d.resource_count};
    }
    /// Makes the list of a task that uses resources. Returns null if there is no memory.
    resource_list* make_resource_list(task_seat& w, detail_block& d);

private:
    /// Returns true if the task's current wait, or its last one, may end before all awaited tasks
    /// are complete.
    bool may_be_torn(const slot& s) const {
        if (!was_suspended(s)) return false;
        const detail_block& d = its_detail(s);
        return d.may_end_early.load(relaxed) || d.first_is_enough.load(relaxed);
    }
    link link_to_complete(task_id predecessor, bool any_outcome) const;
    static bool wants_identities(const scheduler_options& o);

    index_pool<edge> edges_;
    index_pool<detail_block> details_;
    index_pool<resource_list> resource_lists_;
    stable_ids* identities_ = nullptr;
};

template <class F>
bool task_room::any_predecessor(task_id id, F&& f) const {
    const slot& s = slots.at(id);
    const detail_block* const d = s.has(flag_detailed) ? detail_of(s) : nullptr;
    const std::uint32_t wait = d != nullptr ? d->waits.load(acquire) : 0;
    for (std::uint32_t e = s.predecessors.load(acquire); e != no_edge;) {
        // acquire: pairs with link_edge(). The values are valid if the edge was still in the list
        // when they were read. An edge is used again only after the last share of `waits_for` was
        // dropped, which the check below notices.
        const task_id from{edges_[e].from.load(acquire)};
        const std::uint32_t next = edges_[e].next_predecessor.load(acquire);
        if (s.waits_for.load(acquire) == 0 || !slots.is_open(id)) return false;
        // acquire, relaxed: a later wait increments `waits` before it begins, and a wait that ends
        // early does so before it frees an edge.
        if (d != nullptr && d->waits.load(relaxed) != wait) return false;
        if (f(from)) return true;
        e = next;
    }
    return false;
}

/// Returns true if the task has been suspended before. Unlike was_suspended(), it may be called for
/// a task that may be complete by now.
inline bool may_be_suspended(const task_room& tasks, const slot& s) {
    const detail_block* const d = s.has(flag_detailed) ? tasks.detail_of(s) : nullptr;
    return d != nullptr && d->was_suspended.load(relaxed);
}

}  // namespace detail
BRAID_NAMESPACE_END
