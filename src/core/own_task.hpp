#pragma once
// Tasks of a module's own kind, for example the nodes of a graph. The module keeps the slots of
// these tasks and runs the tasks again and again. core/extension.hpp includes this header.
//
//   make ─► begin one more time (own_round) ─► ready ─► run ─► own work done ─► end ─┐ … ─► free
//              ▲                                                                     │
//              └─────────────────────────────────────────────────────────────────────┘
//
// The module decides when a task is ready, and ends the task by end_own_task(). Queues, waits,
// children and instruments treat it like any other task.

#include "base/accounted_memory.hpp"
#include "core/control/limits.hpp"
#include "core/control/runtime.hpp"
#include "core/control/seat_lease.hpp"
#include "core/run/body_frame.hpp"
#include "core/run/helper_floats.hpp"
#include "core/slots/words.hpp"
#include "core/task/stable_ids.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail::core {

using seat = whole_seat;

/// The part of task_options that says how and where a task runs.
class own_traits {
public:
    own_traits() = default;
    explicit own_traits(const task_options& o)
        : flags_(static_cast<std::uint16_t>(runtime::flags_of(o) | flag_own_kind)),
          level_(runtime::level_of(o)) {}

    /// Returns true if any thread may run the task and the task needs nothing.
    bool runs_anywhere() const { return (flags_ & (flag_detailed | flag_background)) == 0; }
    /// Returns true if the level comes from a category. The program may change the level of a
    /// category between two runs.
    bool has_category() const { return (flags_ & flag_category) != 0; }
    own_traits at_normal_level() const {
        own_traits same = *this;
        same.flags_ &= static_cast<std::uint16_t>(~flag_category);
        same.level_ = normal;
        return same;
    }

    std::uint16_t flags() const { return flags_; }
    std::uint8_t level() const { return level_; }
    static constexpr auto normal = static_cast<std::uint8_t>(priority_level::normal);

private:
    std::uint16_t flags_ = 0;
    std::uint8_t level_ = 0;
};

/// The flags of a task at one moment.
class own_facts {
public:
    explicit own_facts(std::uint16_t flags) : flags_(flags) {}
    /// Returns true if the task must not run: a predecessor has failed, or no thread can run it.
    bool is_cancelled() const { return (flags_ & (flag_failed | flag_cancel)) != 0; }
    bool may_be_long() const { return (flags_ & flag_quiet) != 0; }
    bool may_use_resources() const { return (flags_ & flag_detailed) != 0; }

private:
    std::uint16_t flags_;
};

/// A handle of a task, which is one pointer. A default-constructed handle is null.
class own_task {
public:
    own_task() = default;
    own_task(const runtime& rt, std::uint32_t index) : slot_(&rt.slots.at(index)) {}
    explicit operator bool() const { return slot_ != nullptr; }

    void* storage() const { return slot_->storage; }
    const char* name() const { return slot_->name; }
    /// Returns the task's id, which changes in each round. `index` must be what make_own_task()
    /// returned.
    task_id id(std::uint32_t index) const { return {join_word(slot_->generation(), index)}; }
    /// Returns the number that the module has given the task, from 1 on. If several tasks fail, the
    /// failure of the lowest number counts.
    std::uint32_t number() const { return slot_->ordinal.load(relaxed); }
    void set_number(std::uint32_t n) const { slot_->ordinal.store(n, relaxed); }
    std::uint32_t parent() const { return slot_->parent.load(relaxed); }

    own_facts facts() const { return own_facts(slot_->flags.load(relaxed)); }
    bool runs_anywhere() const {
        return (slot_->flags.load(relaxed) & (flag_detailed | flag_background)) == 0;
    }
    /// Returns true if the thread that makes the task ready may run it at once, like any other task
    /// of the normal level.
    bool is_plain() const {
        constexpr std::uint16_t harmless = flag_quiet | flag_never_waits | flag_failed | flag_error;
        return (slot_->flags.load(relaxed) & ~harmless) == flag_own_kind &&
               slot_->level.load(relaxed) == own_traits::normal;
    }
    bool failed() const { return slot_->has(flag_failed); }
    /// Marks that the task threw. The mark is seen by the thread that drops the task's last share,
    /// and by the thread that drops the last count of a waiting successor. The marks of the next
    /// two functions are seen in the same way.
    void set_failed() const { slot_->mark(flag_failed | flag_error); }
    /// Marks that the task must not run, because its predecessor `other` has failed.
    void follow_failed(own_task other) const {
        slot_->mark(other.slot_->flags.load(relaxed) & (flag_failed | flag_error));
    }
    /// Marks the task as cancelled, so that it completes without running. Returns true if a
    /// predecessor's failure had marked it before.
    bool set_cancelled() const {
        return (slot_->mark(flag_failed | flag_cancel) & flag_failed) != 0;
    }
    /// Returns true if the task completes in this round without running, and counts as cancelled.
    bool left_out() const { return slot_->has(flag_left_out); }
    /// Marks the task as left out. relaxed: the caller's own task drops one of this task's counts
    /// later, so the thread that drops the last count sees the mark.
    void leave_out() const { slot_->flags.fetch_or(flag_left_out, relaxed); }

    /// Marks that the thread of the seat `w` begins the task.
    void begin_on(const seat& w) const { slot_->runner.store(w.index, relaxed); }
    bool has_begun() const { return slot_->runner.load(relaxed) != UINT16_MAX; }

    /// Drops the count of one predecessor. Returns true if it was the last one; the caller then
    /// makes the task ready.
    bool drop_wait() const { return detail::drop_wait(slot_->waits_for); }
    /// Drops the share of the task's own work, which is done. Returns true if the children are
    /// complete, too; the caller then ends the task.
    bool drop_share() const { return drop_open_work(slot_->open); }
    /// Drops the share of the task's own work if no other share is left. Returns false if there are
    /// others; then nothing has changed.
    bool drop_only_share() const { return drop_only_open_work(slot_->open); }
    /// Drops the only share of a task whose id nobody can know, without a read-modify-write, and
    /// closes the task's list of successors. Returns false if this is not possible; then nothing
    /// has changed.
    bool close_unknown(task_id id) const {
        return detail::close_unknown(slot_->open, slot_->successors, generation_of(id.value));
    }

    // Only the functions below use this.
    slot& words() const { return *slot_; }

private:
    slot* slot_ = nullptr;
};

/// A kind is a class with two functions. `static void run(runtime&, seat&, std::uint32_t index,
/// bool more)` runs the task, and if `more` is true also others of its kind that it knows of.
/// `static void ended(runtime&, seat&, std::uint32_t index)` is called when a task's last child
/// completes after the task's own work was done.
template <class Kind>
inline constexpr task_kind kind_of{&Kind::run, &Kind::ended};

/// Returns false if there is a mistake in the options, and reports it.
inline bool good_options(const runtime& rt, const task_options& o) {
    return rt.good_options(rt, o);
}
void free_own_task(runtime& rt, seat& w, std::uint32_t index);
/// Does the part of make_own_task() that is the same for every kind.
std::uint32_t make_own_task_of(runtime& rt, seat& w, const task_options& o, const task_kind& kind);
/// Reserves a slot for a task of the kind `Kind`. The caller puts the callable into the slot's
/// storage. Returns no_index if there is no memory.
template <class Kind>
std::uint32_t make_own_task(runtime& rt, seat& w, const task_options& o) {
    return make_own_task_of(rt, w, o, kind_of<Kind>);
}

/// Returns true if a chooser or an observer wants ids that are the same in every run of the
/// program. The module then calls identify().
inline bool wants_stable_ids(const runtime& rt) { return rt.identified(); }
/// Returns the task's stable id, or 0 if nobody asks for stable ids.
inline std::uint64_t stable_id_at(const runtime& rt, std::uint32_t index) {
    const detail_block* const d = rt.identified() ? rt.details.find(rt.slots.at(index)) : nullptr;
    return d != nullptr ? d->stable_id : 0;
}
/// Returns the stable id of the part of `creator` that has this number or name.
inline std::uint64_t join_stable_ids(std::uint64_t creator, std::uint64_t n) {
    return stable_ids::join(creator, n);
}
inline std::uint64_t join_stable_ids(std::uint64_t creator, const char* name) {
    return stable_ids::join(creator, stable_ids::of_name(name));
}
/// While this object lives, what the thread creates for the running task counts as created by a
/// part of that task. `stable_id` is the part's stable id. The object does nothing if it is 0.
class part_of_task {
public:
    part_of_task(seat& w, std::uint64_t stable_id) : seat_(stable_id != 0 ? &w : nullptr) {
        if (seat_ != nullptr) task_room::enter(*seat_, as_, stable_id);
    }
    ~part_of_task() {
        if (seat_ != nullptr) task_room::leave(*seat_, as_);
    }
    part_of_task(const part_of_task&) = delete;
    part_of_task& operator=(const part_of_task&) = delete;

private:
    seat* const seat_;
    creator as_{};
};
/// Gives the task a stable id. Call this before a round.
inline void identify(const runtime& rt, own_task task, std::uint64_t stable_id) {
    detail_block* const d = rt.details.find(task.words());
    if (d == nullptr) return;
    d->stable_id = stable_id;
    d->creations = 0;
}

/// Prepares `count` tasks for one more run, as children of the running task `parent`. The parent
/// stays open until the `ends` tasks that have no successors are complete. One thread prepares all
/// tasks before any of them is ready.
class own_round {
public:
    struct size {
        std::uint64_t count;
        std::uint32_t ends;
    };
    own_round(runtime& rt, seat& w, std::uint32_t parent, own_task first, size of)
        : parent_(parent), environment_(rt.slots.at(parent).environment.load(relaxed)) {
        seat_counters::add(w.report.counters.created, of.count);
        runtime::count_creation(w, environment_, of.count);
        // relaxed: the share of the parent's own work keeps the count above 0.
        rt.slots.at(parent).open.fetch_add(of.ends, relaxed);
        rt.slots.link_parent(first.words(), parent);
        jump_ = first.words().jump.load(relaxed);
        depth_ = first.words().depth.load(relaxed);
    }
    /// Begins one task's round. Returns false if the task keeps the id of the round before.
    bool begin(own_task task, own_traits traits, std::uint32_t waits_for,
               std::uint32_t number) const {
        slot& s = task.words();
        // When the generations are used up, every round uses the last one. An id from an earlier
        // round then looks like the id of this round.
        const std::uint32_t generation = std::min(s.generation(), last_generation - 1) + 1;
        const bool counted_up = generation != s.generation();
        open_words(s.open, s.successors, generation, 1);
        s.environment.store(environment_, relaxed);
        s.waits_for.store(waits_for, relaxed);
        s.parent.store(parent_, release);  // pairs with needs::parent_of()
        s.jump.store(jump_, relaxed);
        s.depth.store(depth_, relaxed);
        s.ordinal.store(number, relaxed);
        s.births.store(0, relaxed);
        s.runner.store(UINT16_MAX, relaxed);
        s.flags.store(traits.flags(), relaxed);
        s.level.store(traits.level(), relaxed);
        return counted_up;
    }

private:
    const std::uint32_t parent_;
    const task_environment* const environment_;
    std::uint32_t jump_;
    std::uint16_t depth_;
};

// ---- ready -------------------------------------------------------------------------------------

/// Queues a ready task as its traits require: for a thread, in line for its resources, or for the
/// loop that runs this body. The caller must have reported that the task is ready.
inline void queue_ready(runtime& rt, seat& w, std::uint32_t index) { rt.queue_ready(w, index); }
/// Does what queue_ready() does, for a task that uses no resources.
inline void enqueue(runtime& rt, seat& w, std::uint32_t index) { rt.enqueue(w, index); }
/// Queues a left-out task for any thread, whatever its traits are. Any thread may end such a task.
inline void queue_for_anybody(runtime& rt, seat& w, task_id id) {
    rt.push_ready(w, id, normal_level);
}
/// Makes the task run next in the loop that runs this body. Returns false if the loop cannot run
/// it.
inline bool run_next_in_body(runtime& rt, seat& w, std::uint32_t index) {
    return rt.set_run_next(w, index, w.depth - 1);
}
/// Does what run_next_in_body() does, for a caller whose body has returned.
inline bool run_next(runtime& rt, seat& w, std::uint32_t index) {
    return rt.set_run_next(w, index, w.depth);
}
/// Takes the newest task that this thread has made ready, if that task is of a module's own kind
/// and a child of `parent`. Returns null if it is not; `parent` may then be complete.
inline own_task take_newest_below(seat& w, task_id parent) {
    const std::uint64_t id = ready_room::own_newest(w).value;
    if (id == 0) return {};
    const runtime& rt = w.rt;
    const slot& s = rt.slots.at(index_of(id));
    // The flag cannot mean a ticket of a batch here: a task with children of a module's kind has no
    // such tickets as children.
    if (!s.has(flag_own_kind) || !rt.slots.is_below(s, parent) || !ready_room::take_own_newest(w))
        return {};
    return {rt, index_of(id)};
}

// ---- running and ending ------------------------------------------------------------------------

inline std::uint32_t running_slot(const seat& w) { return w.top->slot; }
inline task_id running_id(const seat& w) { return w.rt.slots.id_of(w.top->slot); }
inline task_id id_at(const runtime& rt, std::uint32_t index) { return rt.slots.id_of(index); }
inline void* storage_at(const runtime& rt, std::uint32_t index) {
    return rt.slots.at(index).storage;
}
/// Returns the task's scope, or null if the task is in none.
inline const scope* scope_at(const runtime& rt, std::uint32_t index) {
    const task_environment* const e = rt.slots.at(index).environment.load(relaxed);
    return e != nullptr ? e->within : nullptr;
}

inline void count_executed(seat& w) { seat_counters::add(w.report.counters.executed); }
inline void count_failed(seat& w) { seat_counters::add(w.report.counters.failed); }
inline void count_cancelled(seat& w) { seat_counters::add(w.report.counters.cancelled); }

struct reported_event {
    event_kind kind;
    task_id task;
    task_id other = {};
    const char* name = nullptr;
};
/// Call this only if an observer listens.
inline void report(runtime& rt, seat& w, const reported_event& e) {
    rt.report.event(w.index, e.kind, e.task, e.other, e.name);
}
using detail::creation;
inline void report_spawned(observer& to, const seat& w, own_task task, const creation& made) {
    w.rt.report_spawned(to, w, task.words(), made);
}
/// Returns what `rounds` further rounds add to the ids of tasks.
inline std::uint64_t ids_of_rounds(std::uint32_t rounds) { return join_word(rounds, 0); }

inline void release_resources(runtime& rt, seat& w, std::uint32_t index) {
    rt.release_resources(w, index);
}

/// Ends a task whose own work and children are complete, after the caller has reported this. Passes
/// the task's failure to its parent, notifies the task's dependents and waiters, and counts the
/// task in its scope. `closed` is true if own_task::close_unknown() has closed the task. Does not
/// drop the task's share of its parent: the module does that.
[[gnu::always_inline]] inline void end_own_task(runtime& rt, seat& w, own_task task, task_id id,
                                                bool closed) {
    slot& s = task.words();
    const std::uint32_t parent = s.parent.load(relaxed);
    const bool failed = s.has(flag_failed);
    const std::uint64_t head =
        closed ? join_word(0, no_edge) : close_and_take(s.successors, generation_of(id.value));
    if (failed) {
        // This is a child's failure, which the task has received as every parent does.
        if (outcome* own = rt.outcomes.take(s)) {
            rt.outcomes.adopt(w.details, parent, own, s.ordinal.load(relaxed));
        }
    }
    if (first_edge(head) != no_edge || (static_cast<std::uint32_t>(head) & waited_bit) != 0) {
        outcome* const cause = failed ? rt.outcomes.share(rt.slots.at(parent)) : nullptr;
        rt.notify_dependents(w, index_of(id.value), head, cause);
        rt.outcomes.drop(cause);
    }
    scope_state* const in = scope_of(s.environment.load(relaxed));
    if (in == nullptr) return;
    using ended = end_of_task;
    ended how = s.has(flag_left_out) ? ended::cancelled : ended::executed;
    if (failed) how = s.runner.load(relaxed) != UINT16_MAX ? ended::failed : ended::cancelled;
    rt.count_end(w, *in, how);
}

/// These run the bodies of a source's tasks, one after the other, in one frame of the thread's
/// stack. See run/body_frame.hpp.
using detail::body_frame;
using detail::body_of;
using detail::run_sequence;
using detail::running_task;

}  // namespace detail::core
BRAID_NAMESPACE_END
