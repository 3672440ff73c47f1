#pragma once
// The words of a slot that several threads change, and all operations on these words:
//
//   open         {generation, shares of open work}: own work, children, the builder
//   successors   {generation, somebody waits, first edge | closed}
//   waits_for    shares: 1 for each predecessor that is not complete, and 1 for the builder
//
// P1  A change through an id is a CAS that checks the generation. "Closed" and 0 shares are final
//     for a generation, so a stale id changes nothing (I3). Only a thread that has a share may add
//     another one without that check.
// P2  The thread that drops the last share sees what the holders of all shares wrote, and closes
//     the list. A thread that finds the list closed, or finds a later generation, sees what the
//     task wrote (I2).
// P3  An edge is either in the list before the list is closed, or it never gets into the list. In
//     the first case the thread that closes the list drops the edge's share of `waits_for`. In the
//     second case the builder learns that the predecessor is complete. Never both.
// These are free functions over the words, so that a model checker compiles the same code.

#include "core/slots/slot.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Starts a new generation with `shares` of open work and an empty list of successors. The caller
/// must be the only user of the slot.
template <class Word>
void open_words(Word& open, Word& successors, std::uint32_t generation, std::uint32_t shares) {
    open.store(join_word(generation, shares), relaxed);
    // release: pairs with the acquires below. A thread that reads a later generation takes all
    // earlier tasks for complete, so it must see what they wrote (P2).
    successors.store(join_word(generation, no_edge), release);
}

/// Closes the list of a task that was never published, or whose id nobody knew. Such a list is
/// empty, so there is nothing to walk.
template <class Word>
void close_unused(Word& successors, std::uint32_t generation) {
    successors.store(join_word(generation, list_closed), release);  // as in open_words()
}

/// The bits of the lower half of `open` that count shares. The bits above them are flags of a
/// completion (see life/completion_word.hpp). In other tasks they are unused, because no task has
/// that many open children.
inline constexpr std::uint32_t share_bits = (1U << 27) - 1;

/// Adds one share through an id. Returns false if the task is complete.
template <class Word>
bool add_open_work(Word& open, std::uint32_t generation) {
    std::uint64_t seen = open.load(relaxed);
    do {
        if (generation_of(seen) != generation || (index_of(seen) & share_bits) == 0) return false;
        // relaxed: the count orders nothing by itself; the last decrement does.
    } while (!open.compare_exchange_weak(seen, seen + 1, relaxed, relaxed));
    return true;
}

/// Drops a share. Returns true if it was the last one; the caller then completes the task.
template <class Word>
bool drop_open_work(Word& open) {
    // acq_rel: releases what this share's holder wrote; the last drop acquires what all others
    // wrote (P2).
    return index_of(open.fetch_sub(1, acq_rel)) == 1;
}

/// Drops the caller's share if it is the last one. Otherwise changes nothing and returns false.
template <class Word>
bool drop_only_open_work(Word& open) {
    std::uint64_t seen = open.load(relaxed);
    return index_of(seen) == 1 && open.compare_exchange_strong(seen, seen - 1, acq_rel, relaxed);
}

/// Completes the task without a read-modify-write, if no other thread can know its id. Changes
/// nothing and returns false if the task has open children, or has or had a waiter or successor.
template <class Word>
bool close_unknown(Word& open, Word& successors, std::uint32_t generation) {
    // acquire: makes visible what completed children have written. relaxed: nobody else writes the
    // word.
    if (open.load(acquire) != join_word(generation, 1) ||
        successors.load(relaxed) != join_word(generation, no_edge)) {
        return false;
    }
    open.store(join_word(generation, 0), relaxed);
    close_unused(successors, generation);
    return true;
}

/// Drops one share of `waits_for`. Returns true if it was the last one; the caller must then make
/// the successor ready.
template <class Count>
bool drop_wait(Count& waits_for) {
    // acquire, release: together they order like the acq_rel below. Once only one share is left, no
    // other thread adds to the count; see push_edge().
    if (waits_for.load(acquire) == 1) {
        waits_for.store(0, release);
        return true;
    }
    // acq_rel: the last predecessor, or the builder, has seen what all of them wrote (I2).
    return waits_for.fetch_sub(1, acq_rel) == 1;
}

/// Puts `edge` into a predecessor's list of successors, and adds a share for it to the successor's
/// `waits_for`. `next` is the edge's link. Changes nothing and returns false if the predecessor is
/// complete.
template <class Word, class Count>
bool push_edge(Word& successors, std::uint32_t generation, Count& waits_for, std::uint32_t edge,
               Count& next) {
    std::uint64_t head = successors.load(acquire);
    // The edge is counted before it is visible, because the predecessor may complete at once.
    waits_for.fetch_add(1, relaxed);
    do {
        if (generation_of(head) != generation || is_closed(head)) {
            waits_for.fetch_sub(1, relaxed);  // the builder's own count keeps it above 0
            return false;
        }
        next.store(first_edge(head), relaxed);
        // release: pairs with close_and_take(), which sees the whole edge. acquire: as in
        // state_in().
    } while (!successors.compare_exchange_weak(
        head, join_word(generation, edge | (static_cast<std::uint32_t>(head) & waited_bit)),
        release, acquire));
    return true;
}

/// Like push_edge(), but for a predecessor that no other thread knows yet.
template <class Word, class Count>
void push_first_edge(Word& successors, std::uint32_t generation, Count& waits_for,
                     std::uint32_t edge, Count& next) {
    next.store(no_edge, relaxed);
    // acquire, release: once only one share is left, no other thread adds to the count. What
    // earlier drops wrote is passed on (I2).
    if (waits_for.load(acquire) == 1) {
        waits_for.store(2, release);
    } else {
        waits_for.fetch_add(1, relaxed);
    }
    successors.store(join_word(generation, edge), release);  // pairs with close_and_take()
}

/// Sets the waited bit, which says that somebody waits for the task. Returns false if the task is
/// complete.
template <class Word>
bool mark_waited(Word& successors, std::uint32_t generation) {
    std::uint64_t head = successors.load(acquire);  // as in state_in()
    do {
        if (generation_of(head) != generation || is_closed(head)) return false;
    } while (!successors.compare_exchange_weak(head, head | waited_bit, acquire, acquire));
    return true;
}

/// Closes the list when the task completes. Returns the head that the list had.
template <class Word>
std::uint64_t close_and_take(Word& successors, std::uint32_t generation) {
    // acq_rel: release pairs with state_in(); acquire pairs with push_edge().
    return successors.exchange(join_word(generation, list_closed), acq_rel);
}

/// Returns the state of the task that has this generation of the slot, or `unknown` if no task has
/// had the generation yet.
template <class Word>
task_state state_in(const Word& successors, std::uint32_t generation) {
    // acquire: pairs with close_and_take(). A thread that reads "done" also sees what the task
    // wrote (P2).
    const std::uint64_t head = successors.load(acquire);
    if (generation > generation_of(head)) return task_state::unknown;
    return generation == generation_of(head) && !is_closed(head) ? task_state::open
                                                                 : task_state::done;
}

/// Returns the failure_flags of a complete task. Returns 0 if the task succeeded, if it is still
/// open, or if a later task uses its slot.
template <class Word, class Flags>
std::uint16_t failure_in(const Word& successors, const Flags& flags, std::uint32_t generation) {
    const std::uint64_t over = join_word(generation, list_closed);
    // acquire: as in state_in(). The task's flags were set before its list was closed.
    if (successors.load(acquire) != over) return 0;
    // acquire: pairs with mark_failure(). If a later task has set the flag, the load below reads
    // the generation of that task.
    const std::uint16_t failure = flags.load(acquire) & failure_flags;
    return failure == 0 || successors.load(relaxed) != over ? 0 : failure;
}

}  // namespace detail
BRAID_NAMESPACE_END
