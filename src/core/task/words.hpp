#pragma once
// The words of a slot that several threads change, and everything that is done to them:
//
//   open         {generation, shares of open work}: own work, children, the builder
//   successors  {generation, somebody waits, first edge | closed}
//   waits_for    predecessors that are not over, and one for the builder
//
// P1  A change through an id is a CAS that checks the generation; "closed" and 0 shares are final
//     for a generation, so a stale id changes nothing (I3). Only a holder of a share adds plainly.
// P2  The thread that drops the last share has seen what all shares wrote, and closes; a thread
//     that finds the list closed, or a later generation, has seen what the task wrote (I2).
// P3  An edge is in the list before it is closed, and then the closing thread drops the
//     successor's count; or it is not, and then the builder hears "over". Never both.
// Free functions over the words, so that a model checker compiles exactly these.

#include "core/task/slot.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// By the slot's only user: a new generation with `shares` of open work and an empty list.
template <class Word>
void open_words(Word& open, Word& successors, std::uint32_t generation, std::uint32_t shares) {
    open.store(join_word(generation, shares), relaxed);
    // release: pairs with the acquires below; a later generation says "over" about all earlier
    // ones, so it hands on what they wrote (P2).
    successors.store(join_word(generation, no_edge), release);
}

/// The task never was, or nobody knew its id: no list to walk.
template <class Word>
void close_unused(Word& successors, std::uint32_t generation) {
    successors.store(join_word(generation, list_closed), release);  // as in open_words()
}

/// The lower half of `open` counts shares in these bits. What is above is a completion's (see
/// life/completion_word.hpp); no other task has that many open children.
inline constexpr std::uint32_t share_bits = (1U << 27) - 1;

/// One more share through an id. False: the task is complete.
template <class Word>
bool add_open_work(Word& open, std::uint32_t generation) {
    std::uint64_t seen = open.load(relaxed);
    do {
        if (generation_of(seen) != generation || (index_of(seen) & share_bits) == 0) return false;
        // relaxed: the count orders nothing by itself; the last decrement does.
    } while (!open.compare_exchange_weak(seen, seen + 1, relaxed, relaxed));
    return true;
}

/// True: it was the last share; the caller completes the task.
template <class Word>
bool drop_open_work(Word& open) {
    // acq_rel: release what this share wrote; the last one acquires all others (P2).
    return index_of(open.fetch_sub(1, acq_rel)) == 1;
}

/// Drops the share if no other is left. False: there are others, and nothing has changed.
template <class Word>
bool drop_only_open_work(Word& open) {
    std::uint64_t seen = open.load(relaxed);
    return index_of(seen) == 1 && open.compare_exchange_strong(seen, seen - 1, acq_rel, relaxed);
}

/// Over, if nobody else can know the task's id: without a read-modify-write. False: it has, or had,
/// children or a waiter; nothing has changed.
template <class Word>
bool close_unknown(Word& open, Word& successors, std::uint32_t generation) {
    // acquire: what children that completed have written. relaxed: nobody else writes it.
    if (open.load(acquire) != join_word(generation, 1) ||
        successors.load(relaxed) != join_word(generation, no_edge)) {
        return false;
    }
    open.store(join_word(generation, 0), relaxed);
    close_unused(successors, generation);
    return true;
}

/// True: nothing holds the successor back any more; the caller makes it ready.
template <class Count>
bool drop_wait(Count& waits_for) {
    // acquire, release: as below. Nobody adds to a count of which one share is left; see
    // push_edge().
    if (waits_for.load(acquire) == 1) {
        waits_for.store(0, release);
        return true;
    }
    // acq_rel: the last predecessor, or the builder, has seen all of them (I2).
    return waits_for.fetch_sub(1, acq_rel) == 1;
}

/// Puts `edge` into a predecessor's list, counted in the successor's `waits_for`; `next` is the
/// edge's link. False: the predecessor is complete and nothing was changed.
template <class Word, class Count>
bool push_edge(Word& successors, std::uint32_t generation, Count& waits_for, std::uint32_t edge,
               Count& next) {
    std::uint64_t head = successors.load(acquire);
    // Counted before it is visible: the predecessor may complete at once.
    waits_for.fetch_add(1, relaxed);
    do {
        if (generation_of(head) != generation || is_closed(head)) {
            waits_for.fetch_sub(1, relaxed);  // the builder's own count keeps it above 0
            return false;
        }
        next.store(first_edge(head), relaxed);
        // release: pairs with close_and_take(), which sees the whole edge. acquire: as state_in().
    } while (!successors.compare_exchange_weak(
        head, join_word(generation, edge | (static_cast<std::uint32_t>(head) & waited_bit)),
        release, acquire));
    return true;
}

/// Does it for a predecessor that nobody else knows yet.
template <class Word, class Count>
void push_first_edge(Word& successors, std::uint32_t generation, Count& waits_for,
                     std::uint32_t edge, Count& next) {
    next.store(no_edge, relaxed);
    // acquire, release: nobody adds to a count of which one share is left, and what was dropped
    // before is handed on (I2).
    if (waits_for.load(acquire) == 1) {
        waits_for.store(2, release);
    } else {
        waits_for.fetch_add(1, relaxed);
    }
    successors.store(join_word(generation, edge), release);  // pairs with close_and_take()
}

/// Leaves word that somebody waits. False: the task is complete.
template <class Word>
bool mark_waited(Word& successors, std::uint32_t generation) {
    std::uint64_t head = successors.load(acquire);  // as in state_in()
    do {
        if (generation_of(head) != generation || is_closed(head)) return false;
    } while (!successors.compare_exchange_weak(head, head | waited_bit, acquire, acquire));
    return true;
}

/// The task completes: closes the list for good and returns its last head.
template <class Word>
std::uint64_t close_and_take(Word& successors, std::uint32_t generation) {
    // acq_rel: release pairs with state_in(); acquire pairs with push_edge().
    return successors.exchange(join_word(generation, list_closed), acq_rel);
}

template <class Word>
task_state state_in(const Word& successors, std::uint32_t generation) {
    // acquire: pairs with close_and_take(); "done" shows what the task wrote (P2).
    const std::uint64_t head = successors.load(acquire);
    if (generation > generation_of(head)) return task_state::unknown;
    return generation == generation_of(head) && !is_closed(head) ? task_state::open
                                                                 : task_state::done;
}

/// The failure_flags of a complete task. 0: it succeeded, is open, or a later task has its slot.
template <class Word, class Flags>
std::uint16_t failure_in(const Word& successors, const Flags& flags, std::uint32_t generation) {
    const std::uint64_t over = join_word(generation, list_closed);
    // acquire: as state_in(). Its flags were set before.
    if (successors.load(acquire) != over) return 0;
    // acquire: pairs with mark_failure(). A failure of a later task shows that task's generation.
    const std::uint16_t failure = flags.load(acquire) & failure_flags;
    return failure == 0 || successors.load(relaxed) != over ? 0 : failure;
}

}  // namespace detail
BRAID_NAMESPACE_END
