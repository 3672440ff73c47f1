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

}  // namespace detail
BRAID_NAMESPACE_END
