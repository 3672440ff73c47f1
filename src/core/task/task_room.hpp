#pragma once
// The data of tasks and the protocols of one task: slots, ids, edges, ancestry, and the data that
// only few tasks have. This room has no queue and no thread.

#include "braid/core/fork_stack.hpp"
#include "braid/core/task_context.hpp"
#include "core/report/report_room.hpp"
#include "core/task/failed_slots.hpp"
#include "core/task/index_pool.hpp"
#include "core/task/shown_frame.hpp"
#include "core/task/slot.hpp"
#include "core/task/source_lines.hpp"
#include "core/task/words.hpp"

#include <cstdint>
#include <exception>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace detail {

class stable_ids;

struct task_seat;

/// A task on the stack of the thread that runs it.
struct running_task {
    std::uint32_t slot;
    running_task* below;
    std::exception_ptr error;
    task_context context;
    const fork_slot* joins_from = nullptr;  // top of the thread's joins when the task began
    const task_seat* seat = nullptr;        // the seat whose thread runs the task
    bool suspended = false;                 // the body returns, and is called again later
};

using shown_frame = basic_shown_frame<active_policy>;

/// The seat's part of this room: the seat's caches, and the tasks on its thread's stack. run_room
/// puts the tasks there.
struct task_seat : report_seat {
    using report_seat::report_seat;

    static constexpr unsigned shown_depth = 64;

    // ---- for the seat's thread only ----
    pool_cache slots, edges, details, resource_lists;
    running_task* top = nullptr;
    creator* creating_as = nullptr;  // in place of `top`, if it is within that task
    unsigned depth = 0;
    // The depth of the innermost loop that runs tasks, which is the thread's loop or a wait's loop.
    // Between two tasks of the loop `depth` equals it, and in a task's body `depth` is greater.
    unsigned loop_depth = UINT32_MAX;

    // ---- read by any thread: the tasks from the outermost to the innermost, and what each task
    // waits for. Deeper frames than these are not shown (their work goes to a reserve thread).
    alignas(64) atomic<std::uint32_t> shown{0};
    shown_frame frames[shown_depth + 1];  // the last one takes the tasks that are not shown
};

/// Describes a new task to an observer.
struct creation {
    task_id id, parent;
    const std::source_location& where;
    bool same_moment = false;  // the task before it was reported just now
    bool ready_now = false;
};

/// The result of linking a task behind a predecessor. `not_needed` means that the predecessor is
/// complete and does not cancel the task. `failed` means that it is complete, and that it failed or
/// was cancelled.
enum class link : std::uint8_t { made, not_needed, failed, no_memory };

/// The slots that tasks use one after the other, the ids that distinguish tasks, and their levels.
class slot_room : public report_room {
public:
    slot_room(const scheduler_options& o, bool identified);
    ~slot_room();
    slot_room(const slot_room&) = delete;
    slot_room& operator=(const slot_room&) = delete;

    // ---- slots and ids
    slot& slot_at(std::uint32_t index) const { return slots_[index]; }
    slot& slot_at(task_id id) const { return slots_[index_of(id.value)]; }
    bool has_slot(std::uint32_t index) const { return slots_.contains(index); }
    /// Returns a number above every index that was ever used. Each index below it has a slot.
    std::uint32_t slot_count() const { return slots_.size(); }
    /// Returns no_index if there is no memory, after the out-of-memory handler was called. If
    /// `may_block` is false, also if a slot cannot be had without allocating or waiting for a lock.
    std::uint32_t take_slot(task_seat& w, bool may_block = true) {
        if (w.slots.count == 0) [[unlikely]]
            return take_slot_slowly(w, may_block);
        return slots_.take(w.slots);
    }
    /// Gives a slot back in which only the words that every task sets have changed; see slot.
    void give_slot(task_seat& w, std::uint32_t index, std::uint32_t generation) {
        // A slot in its last generation is retired instead (I3).
        if (generation != last_generation) slots_.give(w.slots, index);
    }
    /// Cleans a slot and gives it back. A slot that has to remember how its task ended is used
    /// again later than others.
    void clean_and_give_slot(task_seat& w, std::uint32_t index) {
        slot& s = slots_[index];
        s.clean();
        if (s.has(failure_flags)) [[unlikely]]
            return give_failed_slot(w, index);
        give_slot(w, index, s.generation());
    }
    bool reserve_slots(std::uint32_t count) { return slots_.reserve(count); }
    task_id id_of(std::uint32_t index) const {
        return {join_word(slots_[index].generation(), index)};
    }
    task_state state_of(task_id id) const;
    bool is_open(task_id id) const { return state_of(id) == task_state::open; }
    /// Returns the failure_flags of a complete task. 0 means that it succeeded, that it is open, or
    /// that a later task has its slot.
    std::uint16_t failure_of(task_id id) const {
        const slot& s = slot_at(id);
        return failure_in(s.successors, s.flags, generation_of(id.value));
    }

    // ---- levels
    static constexpr std::size_t categories = 256;
    std::uint8_t level_of(const slot& s) const;
    priority_level level_of_category(std::uint8_t category) const {
        return static_cast<priority_level>(level_by_category_[category].load(relaxed));
    }
    void set_level(std::uint8_t category, priority_level level) {
        level_by_category_[category].store(static_cast<std::uint8_t>(level), relaxed);
    }

    // ---- source lines, with deadlock_options::lines
    /// Notes where a task or a completion was made that this thread has just made.
    void note_line(const slot& s, std::uint32_t index, const std::source_location& where) const {
        if (lines_ != nullptr) lines_->note(index, s.generation(), where);
    }
    source_line line_of(task_id id) const {
        if (lines_ == nullptr) return {};
        return lines_->of(index_of(id.value), generation_of(id.value));
    }

private:
    std::uint32_t take_slot_slowly(task_seat& w, bool may_block);
    void give_failed_slot(task_seat& w, std::uint32_t index);

    index_pool<slot> slots_;
    failed_slots failed_;
    atomic<std::uint8_t> level_by_category_[categories]{};
    source_lines* lines_ = nullptr;
};

class task_room : public slot_room {
public:
    explicit task_room(const scheduler_options& o);
    ~task_room();
    task_room(const task_room&) = delete;
    task_room& operator=(const task_room&) = delete;

    // ---- ancestors: parents, and jump pointers that make climbing O(log depth)
    void link_parent(slot& child, std::uint32_t parent) const;
    bool is_below(const slot& s, task_id parent) const {
        const std::uint32_t index = index_of(parent.value);
        return s.parent.load(relaxed) == index && id_of(index) == parent;
    }
    /// Returns true if the task is `ancestor`, a child of it, a child of one of those, and so on.
    bool descends(std::uint32_t index, task_id ancestor) const;

    // ---- edges
    edge& edge_at(std::uint32_t index) const { return edges_[index]; }
    bool has_edge(std::uint32_t index) const { return edges_.contains(index); }
    /// Links `successor` behind `predecessor`, unless the predecessor is complete already. If this
    /// returns link::failed, the caller cancels the successor. link::failed is never returned
    /// with `any_outcome`.
    /// `until` is edge_awaited if the edge may be taken off, and otherwise edge_fixed.
    link link_edge(task_seat& w, std::uint32_t successor, task_id predecessor, bool any_outcome,
                   await_state until = edge_fixed);
    /// Frees the edges into a task that becomes ready: nobody follows them any more.
    void free_predecessors(task_seat& w, slot& s);
    /// Takes off all edges into a waiting task that may still be taken off. Returns how many shares
    /// of `waits_for` are the caller's now.
    std::uint32_t tear_edges(task_seat& w, slot& s);
    void give_edge(task_seat& w, std::uint32_t index) {
        edges_[index].await.store(edge_fixed, relaxed);  // only the caller has the edge
        edges_.give(w.edges, index);
    }
    /// Returns true if the next link_edge() of this thread has memory.
    bool has_room_for_edge(task_seat& w) {
        const std::uint32_t index = edges_.take(w.edges);
        if (index != no_index) edges_.give(w.edges, index);
        return index != no_index;
    }
    /// Calls f(task_id) for each known predecessor of an open task, until f returns true, and then
    /// returns true. A predecessor may be complete by the time of the call.
    template <class F>
    bool any_predecessor(task_id id, F&& f) const;
    /// Returns true if `id` waits for `wanted`, also through other tasks. It looks at 64 tasks at
    /// most: it helps a program that made a cycle by mistake, but is no promise.
    bool waits_for_transitively(task_id id, task_id wanted) const;

    // ---- data that only few tasks have
    /// Returns null if the task has no detail_block.
    detail_block* detail_of(const slot& s) const {
        const std::uint32_t d = s.detail.load(acquire);  // pairs with make_detail()
        return d == no_index ? nullptr : &details_[d];
    }
    /// Returns the detail_block of a task that has one.
    detail_block& its_detail(const slot& s) const { return details_[s.detail.load(acquire)]; }
    /// Returns true if only certain threads may run the task. Any thread may call it, also with a
    /// stale slot.
    bool is_direct(const slot& s) const {
        const detail_block* d = s.has(flag_detailed) ? detail_of(s) : nullptr;
        return d != nullptr && d->direct.load(relaxed);
    }
    bool uses_resources(const slot& s) const {
        return s.has(flag_detailed) && detail_of(s)->resource_count != 0;
    }
    /// Returns true if the body has released its thread. The body is then called again even if the
    /// task is cancelled.
    bool was_suspended(const slot& s) const {
        return s.has(flag_detailed) && detail_of(s)->was_suspended.load(relaxed);
    }
    /// Returns the task's detail_block, which is made if there is none yet. Returns null if there
    /// is no memory.
    detail_block* make_detail(task_seat& w, slot& s);
    void free_detail(task_seat& w, const slot& s) { free_block(w, s.detail.load(relaxed)); }

    // ---- identity, if a chooser is installed or an observer asks for it
    bool identified() const { return identities_ != nullptr; }
    /// Returns the stable id of the task that the seat's thread is about to create.
    std::uint64_t next_identity(const task_seat& w) const;
    /// Makes a part of the thread's running task the creator of what that task creates until
    /// leave(). `id` is the part's stable id.
    static void enter(task_seat& w, creator& as, std::uint64_t id);
    static void leave(task_seat& w, const creator& as);
    /// Returns the task's stable id, or 0 if it has none.
    std::uint64_t identity(task_id id) const {
        const detail_block* d = detail_of(slot_at(id));
        return d != nullptr ? d->stable_id : 0;
    }

    void report_spawned(observer& to, const task_seat& w, const slot& s,
                        const creation& made) const;

protected:
    /// Frees a detail_block with its list of resources. Does nothing if `block` is no_index.
    void free_block(task_seat& w, std::uint32_t block);
    /// Links `successor` behind a task that nobody else knows yet. The thread must have room for an
    /// edge (has_room_for_edge()).
    void link_first_edge(task_seat& w, std::uint32_t successor, task_id predecessor);
    // ---- for the rooms above, which know resources
    std::span<resource* const> resources_in(const detail_block& d) const {
        if (d.resource_count == 0) return {};
        return {resource_lists_[d.resources].of, d.resource_count};
    }
    /// Makes the list of a task that uses resources. Returns null if there is no memory.
    resource_list* make_resource_list(task_seat& w, detail_block& d);

private:
    /// Returns true if the wait that the task is in, or was in last, may end before its
    /// predecessors do.
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
    const slot& s = slot_at(id);
    const detail_block* const d = s.has(flag_detailed) ? detail_of(s) : nullptr;
    const std::uint32_t wait = d != nullptr ? d->waits.load(acquire) : 0;
    for (std::uint32_t e = s.predecessors.load(acquire); e != no_edge;) {
        // acquire: pairs with link_edge(). An edge that was still in the list when it was read says
        // the truth. If it is in other use already, the last count of `waits_for` went before that.
        const task_id from{edges_[e].from.load(acquire)};
        const std::uint32_t next = edges_[e].next_predecessor.load(acquire);
        if (s.waits_for.load(acquire) == 0 || !is_open(id)) return false;
        // acquire, relaxed: a later wait counts `waits` up before it begins, and a wait that ends
        // early does so before it gives an edge away.
        if (d != nullptr && d->waits.load(relaxed) != wait) return false;
        if (f(from)) return true;
        e = next;
    }
    return false;
}

/// Returns true if the task has been suspended. Unlike was_suspended(), this answers also for a
/// task that may be complete by now.
inline bool may_be_suspended(const task_room& tasks, const slot& s) {
    const detail_block* const d = s.has(flag_detailed) ? tasks.detail_of(s) : nullptr;
    return d != nullptr && d->was_suspended.load(relaxed);
}

}  // namespace detail
BRAID_NAMESPACE_END
