#pragma once
// A slot holds one task in two cache lines. docs/design/slot.md lists the states of a task, and
// says which thread may read or write which word in each state.

#include "braid/base/policy.hpp"
#include "braid/core/closure.hpp"
#include "braid/core/task.hpp"
#include "core/slots/await_words.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

// ---- ids: generation in the upper half, slot index in the lower ------------------------------

constexpr std::uint32_t index_of(std::uint64_t id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t generation_of(std::uint64_t id) {
    return static_cast<std::uint32_t>(id >> 32);
}
constexpr std::uint64_t join_word(std::uint32_t generation, std::uint32_t low) {
    return std::uint64_t{generation} << 32 | low;
}
/// The highest generation. A slot that has used it is retired, so that generations never wrap (I3).
inline constexpr std::uint32_t last_generation = UINT32_MAX;

// ---- successors word: {generation, waited bit, index of the first edge} ----------------------

inline constexpr std::uint32_t no_edge = 0x7fff'fffe;
inline constexpr std::uint32_t list_closed = 0x7fff'ffff;
inline constexpr std::uint32_t waited_bit = 0x8000'0000;
constexpr std::uint32_t first_edge(std::uint64_t head) {
    return static_cast<std::uint32_t>(head) & ~waited_bit;
}
constexpr bool is_closed(std::uint64_t head) { return first_edge(head) == list_closed; }

enum slot_flag : std::uint16_t {
    flag_posted = 1 << 0,    // no caller was given the id of the task
    flag_detailed = 1 << 1,  // its detail_block names its threads, resources or owners
    flag_empty = 1 << 2,     // the task has no body
    flag_never_waits = 1 << 3,
    flag_quiet = 1 << 4,  // no long-task warning
    flag_background = 1 << 5,
    flag_cancel = 1 << 6,     // do not run: a predecessor failed, or the builder gave up
    flag_failed = 1 << 7,     // the task failed or was cancelled; its outcome, if any, is set
    flag_finally = 1 << 8,    // also runs in a discarding shutdown: has only after_any edges,
                              // or runs_always() was called
    flag_category = 1 << 9,   // `level` is a category, whose level is in a table
    flag_shared = 1 << 10,    // the closure stays until completion, for the children
    flag_own_kind = 1 << 11,  // see task_kind
    flag_error = 1 << 12,     // the failure is an exception, not a mere cancellation
    flag_built = 1 << 13,     // made by a builder, which may cancel it while it runs
    // A task with flag_own_kind never shares its closure with children, so it uses the bit of
    // flag_shared for something else: the task completes without having run.
    flag_left_out = flag_shared
};
/// The flags that say how a task failed. They stay in the slot after the task is complete, until
/// another task uses the slot.
inline constexpr std::uint16_t failure_flags = flag_cancel | flag_failed | flag_error;
/// Sets some of the failure_flags. Returns all flags that were set before.
template <class Flags>
std::uint16_t mark_failure(Flags& flags, std::uint16_t with) {
    // release: pairs with failure_in(). A thread that asks about an earlier task of this slot and
    // reads this flag also reads the new generation.
    return flags.fetch_or(with, release);
}

/// The functions that run a task with flag_own_kind. Such a task has a task_kind in place of
/// `invoke`. Examples are a ticket of a batch and a node of a graph.
struct task_kind {
    /// Runs the task. If `more` is true, the function may also run other tasks of the same kind
    /// that it knows of.
    void (*run)(runtime& rt, whole_seat& w, std::uint32_t index, bool more);
    /// Called when the task and its children have ended. If it is null, the task completes as other
    /// tasks do.
    void (*ended)(runtime& rt, whole_seat& w, std::uint32_t index);
};

/// One task. In a free slot, every word has its initial value below, except `ordinal` and the words
/// that every task sets (storage, invoke, name, open, successors, environment, next, flags, level
/// and module). Few tasks change the other words, and clean() resets those.
struct alignas(64) slot {
    // The runner's cache line is written while the task is built and read by the thread that runs
    // it.
    std::byte storage[closure_bytes];
    union {
        closure_fn invoke = nullptr;
        const task_kind* kind;
    };
    const char* name = nullptr;

    // The others' cache line is for all other threads. All of its words but `module` are atomic,
    // because a thread with a stale id may read them at any time. Such a thread may rely on what it
    // read only after it has claimed the task by an id of this generation.
    alignas(64) atomic<std::uint64_t> open{0};  // {generation, shares of open work}
    atomic<std::uint64_t> successors{join_word(0, list_closed)};
    atomic<const task_environment*> environment{nullptr};
    atomic<std::uint32_t> waits_for{0};
    atomic<std::uint32_t> parent{UINT32_MAX};
    atomic<std::uint32_t> predecessors{no_edge};  // edges into this task
    atomic<std::uint32_t> next{0};                // link of the list that the slot is in
    atomic<std::uint32_t> jump{UINT32_MAX};       // an ancestor, for a climb in O(log depth)
    atomic<std::uint32_t> ordinal{0};             // place among the parent's children, oldest first
    atomic<std::uint32_t> births{0};              // children made so far
    atomic<std::uint32_t> detail{UINT32_MAX};     // a detail_block, which only few tasks have
    atomic<std::uint16_t> depth{0};
    atomic<std::uint16_t> runner{
        UINT16_MAX};  // the seat that runs or ran it; UINT16_MAX if suspended or not yet run
    atomic<std::uint16_t> flags{0};
    atomic<std::uint8_t> level{0};
    std::uint8_t module = 0;

    void prefetch() const {
        __builtin_prefetch(this, 1);
        __builtin_prefetch(&open, 1);
    }
    std::uint32_t generation() const { return generation_of(open.load(relaxed)); }
    bool has(std::uint16_t flag) const { return (flags.load(relaxed) & flag) != 0; }
    std::uint16_t mark(std::uint16_t with) { return mark_failure(flags, with); }

    // ---- words that mean something else in one phase, by the name that they have in that phase

    /// Returns the index of this slot. Valid only between open and publish: the task is in no list
    /// in this phase, so `next` holds the index.
    std::uint32_t own_index() const { return next.load(relaxed); }
    void set_own_index(std::uint32_t index) { next.store(index, relaxed); }
    /// Returns true if observers were already notified that the task is ready. Valid only between
    /// open and publish. In this phase the builder has a share of `waits_for`, so 0 is free to mean
    /// that observers were notified.
    bool ready_is_reported() const { return waits_for.load(relaxed) == 0; }
    void set_ready_reported() { waits_for.store(0, release); }  // as in publish()
    /// Returns the link of the list of tasks that the thread has to complete. Valid once the last
    /// share of the task is gone. `births` holds this link, and not `next`: a node of a graph may
    /// be in another list by `next` at that time, as the ticket of another node
    /// (graph/ready_ranks.hpp).
    std::uint32_t next_to_complete() const { return births.load(relaxed); }
    void set_next_to_complete(std::uint32_t index) { births.store(index, relaxed); }
    /// Removes the task's environment, so that the scope does not count the end of this task. Call
    /// it before the task's own work is done.
    void leave_uncounted() { environment.store(nullptr, relaxed); }
    /// Destroys the object in the storage. The object is a callable that has not run, a callable
    /// that its run has left there, or the value of a future.
    void destroy_stored() { invoke(storage, nullptr); }

    void clean() {
        waits_for.store(0, relaxed);
        predecessors.store(no_edge, relaxed);
        parent.store(UINT32_MAX, relaxed);
        jump.store(UINT32_MAX, relaxed);
        births.store(0, relaxed);
        detail.store(UINT32_MAX, relaxed);
        depth.store(0, relaxed);
        runner.store(UINT16_MAX, relaxed);
    }
};
/// Returns the slot that the draft has reserved. Valid between open and publish.
inline slot& slot_of(const draft& d) { return *static_cast<slot*>(d.storage); }
inline std::uint32_t index_of(const draft& d) { return slot_of(d).own_index(); }

static_assert(sizeof(slot) == 128, "a task is two cache lines");
static_assert(offsetof(slot, open) == 64, "the runner's line and the others' line are apart");

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

/// The failure of a task that failed, or the failure by which a task was cancelled. References are
/// counted. If nobody has received the error when the last reference is dropped, the handler for
/// unobserved exceptions gets it.
struct outcome {
    std::uint32_t references = 1;  // outcome_room's mutex guards all members
    bool observed = false;
    bool stands_in = false;    // `error` replaces one that was delivered; see cancel_with()
    std::exception_ptr error;  // null for a cancellation without an error
    const char* task = nullptr;
};

/// The resources that a task uses, in the order of their ids.
struct resource_list {
    static constexpr unsigned most = 8;

    resource* of[most] = {};
};

/// The data that only few tasks need: the threads that may run the task, owning handles, a failure,
/// a stable id, a suspension. Each task that suspends has a block. Fewer tasks use resources, so
/// their list is a separate object.
struct detail_block {
    // Completion is one holder, and each owning handle is another. The last holder to release the
    // task recycles the slot.
    atomic<std::uint32_t> holders{0};
    atomic<std::uint16_t> seat{UINT16_MAX};  // may be read with a stale id, too
    std::uint16_t visit = 0;
    atomic<bool> direct{false};  // goes to the inbox of a thread that may run it; read like `seat`
    atomic<bool> has_value{false};  // the slot's storage holds a value, which `invoke` destroys
    std::uint8_t resource_count = 0, resources_held = 0;
    std::uint32_t resources = UINT32_MAX;  // index of a resource_list, if resource_count is not 0
    std::uint64_t workers = 0;
    detail::outcome* result = nullptr;  // guarded by outcome_room's mutex
    std::uint64_t stable_id = 0;        // 0 if there is none
    // Counts the tasks that the task has created; their stable ids depend on the count. Only the
    // thread that runs the task uses the count. If several threads create tasks for one task, each
    // of these threads has a `creator` of its own.
    std::uint64_t creations = 0;
    std::uint32_t result_ordinal = 0;

    // ---- for a task that suspends; see life/suspensions_room.hpp
    bool resumable = false;  // the slot's storage begins with a resumable_body, or holds the value
    // True from the first suspension on. The body is then called again even if the task is
    // cancelled. relaxed, like `first_is_enough`: another thread checks that what it has read
    // belongs to the wait that it means.
    atomic<bool> was_suspended{false};
    // Set by the body when it knows that the task is cancelled, and cleans up. From then on, its
    // awaits end as if the task were not cancelled.
    atomic<bool> shielded{false};
    atomic<bool> first_is_enough{false};  // the first complete task ends the wait
    atomic<bool> may_end_early{false};    // a cancelled scope ends the wait; relaxed, too
    bool goes_last = false;               // the task resumes behind the tasks that are ready
    bool listed = false;  // the task is in suspension_lists; guarded by a share of waits_for
    atomic<std::uint32_t> waits{0};  // counts waits, so that a search notices a new one
    atomic<std::uint64_t> came{0};   // the first predecessor; see await_words.hpp
    // Links of the list in suspension_lists, guarded by the lock of the list. Once a cancellation
    // has removed the task from the list, the links belong to the cancelling thread, and `before`
    // is the number of shares of waits_for that it has to drop.
    std::uint32_t next = UINT32_MAX, before = UINT32_MAX;
};

}  // namespace detail
BRAID_NAMESPACE_END
