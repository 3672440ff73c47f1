#pragma once
// The data of tasks and the protocols of one task: slots, ids, edges, ancestry, what few tasks
// have. No queue, no thread.

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
    const fork_slot* joins_from = nullptr;  // top of the thread's joins when it began
    const task_seat* seat = nullptr;        // whose thread runs it
    bool suspended = false;                 // its body returns, and is called again later
};

using shown_frame = basic_shown_frame<active_policy>;

/// The seat's part of this room: its caches, and the tasks on its thread's stack. `run` puts them
/// there.
struct task_seat : report_seat {
    using report_seat::report_seat;

    static constexpr unsigned shown_depth = 64;

    // ---- the seat's thread only ----
    pool_cache slots, edges, details, resource_lists;
    running_task* top = nullptr;
    creator* creating_as = nullptr;  // in place of that task, if it is within it
    unsigned depth = 0;
    // The depth of the innermost loop that runs tasks (a thread's or a wait's): between two of
    // them `depth` is equal, in a task's body it is greater.
    unsigned loop_depth = UINT32_MAX;

    // ---- anybody reads: the tasks from the outermost to the innermost, and what each waits for.
    // Deeper frames than these are not shown (their work goes to a reserve).
    alignas(64) atomic<std::uint32_t> shown{0};
    shown_frame frames[shown_depth + 1];  // the last one takes what is not shown
};

/// What an observer hears of a new task.
struct creation {
    task_id id, parent;
    const std::source_location& where;
    bool same_moment = false;  // the one before has just been reported
    bool ready_now = false;
};

/// not_needed: it has succeeded. failed: it failed or was cancelled, and is complete.
enum class link : std::uint8_t { made, not_needed, failed, no_memory };

/// The slots that tasks have one after the other, the ids that tell them apart, and their levels.
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
    /// Ever used; those below have a slot.
    std::uint32_t slot_count() const { return slots_.size(); }
    /// no_index: no memory (the handler knows); or, without `may_block`, none at hand.
    std::uint32_t take_slot(task_seat& w, bool may_block = true) {
        if (w.slots.count == 0) [[unlikely]]
            return take_slot_slowly(w, may_block);
        return slots_.take(w.slots);
    }
    /// A slot of which nothing but what every task sets has changed; see slot.
    void give_slot(task_seat& w, std::uint32_t index, std::uint32_t generation) {
        // One in its last generation is retired instead (I3).
        if (generation != last_generation) slots_.give(w.slots, index);
    }
    /// One that has to remember how its task ended is used again later than others.
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
    /// The failure_flags of a task that is complete. 0: it succeeded, or its slot is in use again.
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

    // ---- lines: deadlock_options::lines
    /// The task, or the completion, has just been made by this thread.
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
    /// Is the task `ancestor`, or a child of it, or a child of one of those …?
    bool descends(std::uint32_t index, task_id ancestor) const;

    // ---- edges
    edge& edge_at(std::uint32_t index) const { return edges_[index]; }
    bool has_edge(std::uint32_t index) const { return edges_.contains(index); }
    /// Links `successor` behind `predecessor`, if that one is not complete already. link::failed:
    /// the caller cancels the successor; not with `any_outcome`.
    /// `until`: awaited, or fixed for good.
    link link_edge(task_seat& w, std::uint32_t successor, task_id predecessor, bool any_outcome,
                   await_state until = edge_fixed);
    /// Frees those of a task that becomes ready: nobody follows them any more.
    void free_predecessors(task_seat& w, slot& s);
    /// Takes off all that may be taken off. Returns how many shares of `waits_for` are the
    /// caller's now.
    std::uint32_t tear_edges(task_seat& w, slot& s);
    void give_edge(task_seat& w, std::uint32_t index) {
        edges_[index].await.store(edge_fixed, relaxed);  // the caller's alone
        edges_.give(w.edges, index);
    }
    /// The next link_edge() of this thread has memory.
    bool has_room_for_edge(task_seat& w) {
        const std::uint32_t index = edges_.take(w.edges);
        if (index != no_index) edges_.give(w.edges, index);
        return index != no_index;
    }
    /// Calls f(task_id) for the known open predecessors of an open task, until it says true.
    template <class F>
    bool any_predecessor(task_id id, F&& f) const;
    /// Looks at 64 tasks at most: a help to a program that made a cycle by mistake, not a promise.
    bool waits_for_transitively(task_id id, task_id wanted) const;

    // ---- what few tasks have
    detail_block* detail_of(const slot& s) const {
        const std::uint32_t d = s.detail.load(acquire);  // pairs with make_detail()
        return d == no_index ? nullptr : &details_[d];
    }
    /// The task has one.
    detail_block& its_detail(const slot& s) const { return details_[s.detail.load(acquire)]; }
    /// Only certain threads may run it. Any thread, also with a stale slot.
    bool is_direct(const slot& s) const {
        const detail_block* d = s.has(flag_detailed) ? detail_of(s) : nullptr;
        return d != nullptr && d->direct.load(relaxed);
    }
    bool uses_resources(const slot& s) const {
        return s.has(flag_detailed) && detail_of(s)->resource_count != 0;
    }
    /// The body has given the thread back, and is called again also where it is cancelled.
    bool was_suspended(const slot& s) const {
        return s.has(flag_detailed) && detail_of(s)->was_suspended.load(relaxed);
    }
    /// Null: no memory.
    detail_block* make_detail(task_seat& w, slot& s);
    void free_detail(task_seat& w, const slot& s) { free_block(w, s.detail.load(relaxed)); }

    // ---- identity: a chooser is installed, or an observer asks for it
    bool identified() const { return identities_ != nullptr; }
    /// For the task that the seat's thread is about to create.
    std::uint64_t next_identity(const task_seat& w) const;
    /// Until leave() what the running task of the thread creates is created by that part of it.
    static void enter(task_seat& w, creator& as, std::uint64_t id);
    static void leave(task_seat& w, const creator& as);
    /// 0: it has none.
    std::uint64_t identity(task_id id) const {
        const detail_block* d = detail_of(slot_at(id));
        return d != nullptr ? d->stable_id : 0;
    }

    void report_spawned(observer& to, const task_seat& w, const slot& s,
                        const creation& made) const;

protected:
    /// `block`: a detail_block, or no_index.
    void free_block(task_seat& w, std::uint32_t block);
    /// An edge behind a task that nobody else knows yet. This thread has room for an edge.
    void link_first_edge(task_seat& w, std::uint32_t successor, task_id predecessor);
    // ---- for the rooms above, which know resources
    std::span<resource* const> resources_in(const detail_block& d) const {
        if (d.resource_count == 0) return {};
        return {resource_lists_[d.resources].of, d.resource_count};
    }
    /// For a task that uses some. Null: no memory.
    resource_list* make_resource_list(task_seat& w, detail_block& d);

private:
    /// The wait that it is in, or was in last, may end before its predecessors do.
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
        // acquire: pairs with link_edge(). The edge was still in the list when it was read: then it
        // says the truth. If it is in other use already, the last count went before that.
        const task_id from{edges_[e].from.load(acquire)};
        const std::uint32_t next = edges_[e].next_predecessor.load(acquire);
        if (s.waits_for.load(acquire) == 0 || !is_open(id)) return false;
        // acquire, relaxed: a later wait counts before it begins, and one that ends early before
        // it gives an edge away.
        if (d != nullptr && d->waits.load(relaxed) != wait) return false;
        if (f(from)) return true;
        e = next;
    }
    return false;
}

/// Answers for a task that may be complete by now, too.
inline bool may_be_suspended(const task_room& tasks, const slot& s) {
    const detail_block* const d = s.has(flag_detailed) ? tasks.detail_of(s) : nullptr;
    return d != nullptr && d->was_suspended.load(relaxed);
}

}  // namespace detail
BRAID_NAMESPACE_END
