#pragma once
// One word decides which party ends a completion: a party outside the scheduler, a deadline, a
// cancellation or a shutdown. It is the slot's word `open`, which in other tasks only counts open
// work. In a completion it holds {generation, open | asked | purpose | shielded | shares}:
//
//   armed      open, 1 share           the share belongs to the party that will settle it
//   asked      open, asked, + 1 share  the completion is in a queue, or its hint is being called
//   read       + 1 share               for each thread that reads the completion's data
//   settled    1 share or more         the winner writes the result
//   finished   0 shares                the rest of its end runs where user code may run
//
// A child of a completion holds a share, like the child of any task. The purpose says whether
// defer() made the completion or a body awaits it. The purpose stays in the word until the slot is
// used again, so that it can be read with nothing but an id.
//
// C1  One CAS clears `open` and checks the generation. So exactly one party settles the completion,
//     and an id of an earlier generation changes nothing.
// C2  A completion is asked at most once: one CAS sets `asked` while the completion is open.
// C3  The thread that drops the last share finishes the completion. It sees the result and all that
//     the hint did (drop: acq_rel). A thread that finds the completion settled sees what was
//     written before the settling (claim: release).
// C4  A slot is in at most one queue. It waits there to be asked, while the share of the question
//     is counted, or to be finished, after the last share was dropped.
// The operations are free functions over the word, so that the model checker compiles this very
// code.

#include "core/slots/words.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::uint32_t completion_open = 1U << 31;
inline constexpr std::uint32_t completion_asked = 1U << 30;
inline constexpr std::uint32_t completion_deferred = 1U << 29;  // made by defer()
inline constexpr std::uint32_t completion_awaited = 1U << 28;   // a body awaits it
// A body awaits the completion, and other tasks or user threads end it, as with an event or a
// channel.
inline constexpr std::uint32_t completion_inside = completion_deferred | completion_awaited;
inline constexpr std::uint32_t completion_shielded = 1U << 27;  // cancellations do not ask it
inline constexpr std::uint32_t completion_shares = share_bits;
static_assert(completion_shares < completion_shielded);

/// Arms the completion: from now on it may be settled and asked. Call it last, when all other data
/// of the completion is written and no other thread uses the slot. `as` is completion_deferred,
/// completion_awaited or completion_inside, with or without completion_shielded. `shares` is 1 for
/// the party that will settle the completion, or 2 if the caller needs a share, too.
template <class Word>
void arm_completion(Word& open, std::uint32_t generation, std::uint32_t as,
                    std::uint32_t shares = 1) {
    // seq_cst: as in completion_lists::ask_all(). As a release, the store pairs with each CAS
    // below.
    open.store(join_word(generation, completion_open | as | shares), seq_cst);
}

/// The state of the completion that an id names, as the word shows it.
enum class completion_now : std::uint8_t {
    another_task,
    armed,
    settled,  // what was written before the settling is visible
    gone,     // settled, and its slot was used again; orders nothing
};
template <class Word>
completion_now state_of_completion(const Word& open, std::uint32_t generation) {
    // acquire: pairs with claim_completion() and claim_and_drop_completion().
    const std::uint64_t word = open.load(acquire);
    if (generation_of(word) != generation) return completion_now::gone;
    if ((index_of(word) & (completion_deferred | completion_awaited)) == 0) {
        return completion_now::another_task;
    }
    return (index_of(word) & completion_open) != 0 ? completion_now::armed
                                                   : completion_now::settled;
}

/// Returns true if the completion is open and needs no task to end it: it ends by itself, or a
/// party outside the program's tasks ends it.
template <class Word>
bool is_promised(const Word& open) {
    const std::uint32_t low = index_of(open.load(acquire));  // pairs with arm_completion()
    const std::uint32_t what = low & completion_inside;
    return (low & completion_open) != 0 && what != 0 && what != completion_inside;
}

/// Claims the right to settle an open completion. Returns true to exactly one caller (C1). That
/// caller writes the result and then calls drop_completion().
template <class Word>
bool claim_completion(Word& open, std::uint32_t generation) {
    std::uint64_t seen = open.load(relaxed);
    do {
        if (generation_of(seen) != generation || (index_of(seen) & completion_open) == 0) {
            return false;
        }
        // acquire: pairs with arm_completion(). release: pairs with state_of_completion(). The
        // drop releases the result.
    } while (!open.compare_exchange_weak(seen, seen & ~std::uint64_t{completion_open}, acq_rel,
                                         relaxed));
    return true;
}

/// Claims the completion and drops its last share by one CAS. Does nothing and returns false if
/// there is another share, or the completion was asked. If it returns true, the caller finishes the
/// completion (C3).
template <class Word>
bool claim_and_drop_completion(Word& open, std::uint32_t generation) {
    std::uint64_t seen = open.load(relaxed);
    constexpr std::uint32_t what = completion_deferred | completion_awaited | completion_shielded;
    if ((seen & ~std::uint64_t{what}) != join_word(generation, completion_open | 1)) return false;
    // acquire: pairs with arm_completion(), and with the drops of the threads that have read the
    // completion's data. release: pairs with state_of_completion().
    return open.compare_exchange_strong(seen, seen & ~std::uint64_t{completion_open | 1}, acq_rel,
                                        relaxed);
}

/// Takes a share of an open completion, and sets the bits of `as`. Returns false if the completion
/// is not open, or if a bit of `as` or `without` is set already. Until the caller's
/// drop_completion() the completion is not finished. Its data stays valid, and only the party that
/// settles it writes its result.
template <class Word>
bool hold_completion(Word& open, std::uint32_t generation, std::uint32_t as = 0,
                     std::uint32_t without = 0) {
    std::uint64_t seen = open.load(relaxed);
    do {
        const std::uint32_t low = index_of(seen);
        if (generation_of(seen) != generation || (low & completion_open) == 0 ||
            (low & (as | without)) != 0) {
            return false;
        }
        // acquire: pairs with arm_completion().
    } while (!open.compare_exchange_weak(seen, (seen | as) + 1, acquire, relaxed));
    return true;
}

/// Called by a cancellation. Returns true if the caller must ask the completion (C2). The share
/// that this takes is dropped once the hint has answered.
template <class Word>
bool ask_completion(Word& open, std::uint32_t generation) {
    return hold_completion(open, generation, completion_asked, completion_shielded);
}
/// Works like ask_completion(), but is called at the deadline, which may ask a shielded completion,
/// too.
template <class Word>
bool ask_late_completion(Word& open, std::uint32_t generation) {
    return hold_completion(open, generation, completion_asked);
}

/// Drops shares. Returns true if no share is left; the caller then finishes the completion (C3).
template <class Word>
bool drop_completion(Word& open, std::uint32_t shares = 1) {
    // An open completion still has the share of the party that will settle it. So a completion
    // without shares is settled.
    return (index_of(open.fetch_sub(shares, acq_rel)) & completion_shares) == shares;
}

}  // namespace detail
BRAID_NAMESPACE_END
