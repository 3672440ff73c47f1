#pragma once
// One task in two cache lines. docs/design/slot.md has its states, and says which thread may touch
// which word when.

#include "braid/base/policy.hpp"
#include "braid/core/closure.hpp"
#include "braid/core/task.hpp"
#include "core/task/await_words.hpp"

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
/// A slot that has used this generation is retired and never wraps (I3).
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
    flag_posted = 1 << 0,    // nobody was given the id
    flag_detailed = 1 << 1,  // its detail_block says where it runs, what it uses, or its owner
    flag_empty = 1 << 2,     // no work of its own
    flag_never_waits = 1 << 3,
    flag_quiet = 1 << 4,  // no long-task warning
    flag_background = 1 << 5,
    flag_cancel = 1 << 6,     // a predecessor failed, or the builder gave up: do not run
    flag_failed = 1 << 7,     // it failed or was cancelled; its outcome, if it has one, is set
    flag_finally = 1 << 8,    // runs in a discarding shutdown, too: has only after_any edges,
                              // or runs_always() was called
    flag_category = 1 << 9,   // level is a category, looked up in the table
    flag_shared = 1 << 10,    // the closure stays for the children, until completion
    flag_own_kind = 1 << 11,  // see task_kind
    flag_error = 1 << 12,     // the outcome has an exception, or else it is a mere cancellation
    flag_built = 1 << 13,     // a builder may cancel it while it runs
    // A task with flag_own_kind serves no children by its closure, so the bit of flag_shared has
    // another meaning there: the task completes without having run.
    flag_left_out = flag_shared
};
/// A slot remembers these flags of a task that did not succeed, until a later task uses the slot.
inline constexpr std::uint16_t failure_flags = flag_cancel | flag_failed | flag_error;
/// Sets some of the failure_flags. Returns all flags that were set before.
template <class Flags>
std::uint16_t mark_failure(Flags& flags, std::uint16_t with) {
    // release: pairs with failure_in(). A thread that asks about an earlier task of this slot and
    // sees the flag sees this generation, too.
    return flags.fetch_or(with, release);
}

/// A task with flag_own_kind has a task_kind in place of `invoke`. Examples are a ticket of a batch
/// and a node of a graph.
struct task_kind {
    /// Runs the task. If `more` is true, it may also run other tasks of its kind that it knows of.
    void (*run)(runtime& rt, whole_seat& w, std::uint32_t index, bool more);
    /// Called when the task and its children have ended. If it is null, the task completes as other
    /// tasks do.
    void (*ended)(runtime& rt, whole_seat& w, std::uint32_t index);
};

/// A free slot has the values below, except in the words that every task sets (storage, invoke,
/// name, open, successors, environment, next, flags, level and module) and in `ordinal`. Few tasks
/// change the other words, and clean() puts their values back.
struct alignas(64) slot {
    // The runner's cache line is written while the task is built and read by the thread that runs
    // it.
    std::byte storage[closure_bytes];
    union {
        closure_fn invoke = nullptr;
        const task_kind* kind;
    };
    const char* name = nullptr;

    // The others' cache line. All but `module` are atomic, because a searcher with a stale id may
    // read any of them at any time. The searcher trusts what it read only after it has claimed the
    // task by an id with the task's generation.
    alignas(64) atomic<std::uint64_t> open{0};  // {generation, open work}
    atomic<std::uint64_t> successors{join_word(0, list_closed)};
    atomic<const task_environment*> environment{nullptr};
    atomic<std::uint32_t> waits_for{0};
    atomic<std::uint32_t> parent{UINT32_MAX};
    atomic<std::uint32_t> predecessors{no_edge};  // edges into this task
    atomic<std::uint32_t> next{0};                // link of the list that the slot is in
    atomic<std::uint32_t> jump{UINT32_MAX};       // an ancestor; makes climbing O(log depth)
    atomic<std::uint32_t> ordinal{0};             // creation order below the parent
    atomic<std::uint32_t> births{0};              // children made so far
    atomic<std::uint32_t> detail{UINT32_MAX};     // a detail_block, which only few tasks have
    atomic<std::uint16_t> depth{0};
    atomic<std::uint16_t> runner{UINT16_MAX};  // the seat that runs or has run it
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

    // ---- words with another meaning in one phase, under the name that they have in that phase

    /// Between open and publish the task is in no list, so its link holds its own index.
    std::uint32_t own_index() const { return next.load(relaxed); }
    void set_own_index(std::uint32_t index) { next.store(index, relaxed); }
    /// Returns true if observers were notified that the task is ready. Called between open and
    /// publish. The builder's count is 1 in this phase, and 0 says that observers were notified.
    bool ready_is_reported() const { return waits_for.load(relaxed) == 0; }
    void set_ready_reported() { waits_for.store(0, release); }  // as in publish()
    /// Returns the link of the list of tasks that the thread has to complete. Called after the last
    /// child has ended. `next` is not free for this link, because a graph's node may lie in a list
    /// by `next` meanwhile, as the ticket of another node (graph/ready_ranks.hpp).
    std::uint32_t next_to_complete() const { return births.load(relaxed); }
    void set_next_to_complete(std::uint32_t index) { births.store(index, relaxed); }
    /// Prevents the scope from counting the end of this task. Call it before the task's own work is
    /// done.
    void leave_uncounted() { environment.store(nullptr, relaxed); }
    /// Destroys the object in the storage. This is the callable, if it has not run or its run has
    /// left it there, or the value that a future reads.
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
/// Returns the slot for which the draft stands between open and publish.
inline slot& slot_of(const draft& d) { return *static_cast<slot*>(d.storage); }
inline std::uint32_t index_of(const draft& d) { return slot_of(d).own_index(); }

static_assert(sizeof(slot) == 128, "a task is two cache lines");
static_assert(offsetof(slot, open) == 64, "the runner's line and the others' line are apart");

/// Makes the successor wait for the predecessor. An edge is in two lists: the predecessor's
/// successors (closed and walked once) and the successor's predecessors (for helping, inheritance
/// and explanations). The thread that makes the successor ready frees the edge, unless it was torn.
struct edge {
    atomic<std::uint32_t> next{0};  // link in the predecessor's list of successors
    atomic<std::uint32_t> next_predecessor{no_edge};
    atomic<std::uint64_t> from{0}, to{0};
    bool any_outcome = false;                // made by after_any
    atomic<std::uint8_t> await{edge_fixed};  // an await_state; edge_fixed while the edge is free
};

/// The outcome of a task that failed or was cancelled by a failure. References are counted. When
/// the last one is dropped, an error that nobody has seen goes to the handler.
struct outcome {
    std::uint32_t references = 1;  // outcome_room's mutex guards all members
    bool observed = false;
    bool stands_in = false;    // for an exception that was delivered before; see cancel_with()
    std::exception_ptr error;  // null if it was cancelled without an error
    const char* task = nullptr;
};

/// The resources that a task uses, in the order of their ids.
struct resource_list {
    static constexpr unsigned most = 8;

    resource* of[most] = {};
};

/// Holds the data that only few tasks need: affinity, an owner, a failure, an identity for the
/// chooser, a suspension. Each task that suspends has a block. Fewer tasks have a list of
/// resources, so that list lies elsewhere.
struct detail_block {
    // One holder is for completion, and one for each owning handle. The last holder recycles the
    // slot.
    atomic<std::uint32_t> holders{0};
    atomic<std::uint16_t> seat{UINT16_MAX};  // searchers with a stale id read it, too
    std::uint16_t visit = 0;
    atomic<bool> direct{false};     // goes to an inbox, by `on` or `workers`; read like `seat`
    atomic<bool> has_value{false};  // it lies in the slot's storage; `invoke` destroys it
    std::uint8_t resource_count = 0, resources_held = 0;
    std::uint32_t resources = UINT32_MAX;  // a resource_list, if resource_count is not 0
    std::uint64_t workers = 0;
    detail::outcome* result = nullptr;  // guarded by outcome_room's mutex
    std::uint64_t stable_id = 0;        // 0 if nobody asks for it
    // Counts what the task has created. Only the running thread uses the count. If several threads
    // create for one task, each of these threads is a creator of its own.
    std::uint64_t creations = 0;
    std::uint32_t result_ordinal = 0;

    // ---- for a task that suspends; see life/suspensions_room.hpp
    bool resumable = false;  // its storage begins with a resumable_body, or holds its value
    // Once this is set, the body is called even if the task is cancelled. relaxed, like
    // `first_is_enough`: other threads check whether what they read belongs to the wait that they
    // mean.
    atomic<bool> was_suspended{false};
    // The body knows that the task is cancelled, and cleans up. The body's awaits end as if the
    // task were not cancelled.
    atomic<bool> shielded{false};
    atomic<bool> first_is_enough{false};  // the first awaited task ends the wait
    atomic<bool> may_end_early{false};    // a cancellation may end the wait; relaxed, too
    bool goes_last = false;               // goes on behind the tasks that are ready
    bool listed = false;                  // is in suspension_lists; guarded by a share of waits_for
    atomic<std::uint32_t> waits{0};       // counts waits, so that searchers notice another wait
    atomic<std::uint64_t> came{0};        // see await_words.hpp
    // Links in suspension_lists, guarded by the lock of the list. Once a cancellation has taken the
    // task out, they belong to that cancellation, and `before` says how many shares of waits_for it
    // has to drop.
    std::uint32_t next = UINT32_MAX, before = UINT32_MAX;
};

}  // namespace detail
BRAID_NAMESPACE_END
