#pragma once
// Who ends a completion: somebody outside, a cancellation or a shutdown. All of it is decided in
// the word of its slot that counts open work, {generation, open | asked | what it is | shares}:
//
//   armed      open, 1 share           the share of the one who settles it
//   asked      open, asked, + 1 share  that one lies in a queue, or the hint is being asked
//   looked at  + 1 share               for each thread that reads what the completion has
//   settled    1 share or more         the winner writes the result
//   finished   0 shares                what is left ends where user code may run
//
// A child of a completion has a share like any child. What it is stays until the slot is used
// again, so that an id says by itself whether it is of a completion, or of a body's wait.
//
// C1  One CAS takes `open` away, and checks the generation: exactly one settles it; an id of an
//     earlier generation changes nothing.
// C2  It is asked at most once: one CAS sets `asked`, while it is open.
// C3  The one who drops the last share finishes it, and has seen the result and all that the hint
//     did (drop: acq_rel). A thread that finds it settled has seen what came before that (claim:
//     release).
// C4  A slot lies in at most one queue: for the question while that share is counted, or to be
//     finished after the last share has gone.
// Free functions over the word, so that a model checker compiles exactly these.

#include "core/task/words.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::uint32_t completion_open = 1U << 31;
inline constexpr std::uint32_t completion_asked = 1U << 30;
inline constexpr std::uint32_t completion_deferred = 1U << 29;  // by defer()
inline constexpr std::uint32_t completion_awaited = 1U << 28;   // a body waits by it
// A body waits by it for what other tasks and threads of the program do: an event, a channel.
inline constexpr std::uint32_t completion_inside = completion_deferred | completion_awaited;
inline constexpr std::uint32_t completion_shielded = 1U << 27;  // no cancellation asks it
inline constexpr std::uint32_t completion_shares = share_bits;
static_assert(completion_shares < completion_shielded);

/// By the slot's only user, after everything else of the completion was written.
/// `as`: completion_deferred, completion_awaited or completion_inside, and completion_shielded.
/// `shares`: the one who settles has one; the caller may have another.
template <class Word>
void arm_completion(Word& open, std::uint32_t generation, std::uint32_t as,
                    std::uint32_t shares = 1) {
    // seq_cst: as in completion_lists::ask_all(). As a release it pairs with the CAS below.
    open.store(join_word(generation, completion_open | as | shares), seq_cst);
}

/// What the word says of a completion's id.
enum class completion_now : std::uint8_t {
    another_task,
    armed,
    settled,  // what was written before that is visible
    gone,     // settled long ago, and the slot is in other use; orders nothing
};
template <class Word>
completion_now state_of_completion(const Word& open, std::uint32_t generation) {
    // acquire: pairs with the two that claim.
    const std::uint64_t word = open.load(acquire);
    if (generation_of(word) != generation) return completion_now::gone;
    if ((index_of(word) & (completion_deferred | completion_awaited)) == 0) {
        return completion_now::another_task;
    }
    return (index_of(word) & completion_open) != 0 ? completion_now::armed
                                                   : completion_now::settled;
}

/// True for one that is open, and ends by itself or by somebody outside the program's tasks.
template <class Word>
bool is_promised(const Word& open) {
    const std::uint32_t low = index_of(open.load(acquire));  // pairs with arm_completion()
    const std::uint32_t what = low & completion_inside;
    return (low & completion_open) != 0 && what != 0 && what != completion_inside;
}

/// True: the caller settles it (C1), and owes a drop_completion().
template <class Word>
bool claim_completion(Word& open, std::uint32_t generation) {
    std::uint64_t seen = open.load(relaxed);
    do {
        if (generation_of(seen) != generation || (index_of(seen) & completion_open) == 0) {
            return false;
        }
        // acquire: pairs with arm_completion(). release: pairs with state_of_completion(). The
        // result is released by the drop.
    } while (!open.compare_exchange_weak(seen, seen & ~std::uint64_t{completion_open}, acq_rel,
                                         relaxed));
    return true;
}

/// Does it and drops the share, where there is no other. True: the caller finishes (C3).
template <class Word>
bool claim_and_drop_completion(Word& open, std::uint32_t generation) {
    std::uint64_t seen = open.load(relaxed);
    constexpr std::uint32_t what = completion_deferred | completion_awaited | completion_shielded;
    if ((seen & ~std::uint64_t{what}) != join_word(generation, completion_open | 1)) return false;
    // acquire: pairs with arm_completion(), and with the drops of those who have looked. release:
    // pairs with state_of_completion().
    return open.compare_exchange_strong(seen, seen & ~std::uint64_t{completion_open | 1}, acq_rel,
                                        relaxed);
}

/// True: it stays as it is, but for who settles it, until the caller's drop_completion(). False
/// also where one of `as` or `without` is set.
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

/// By a cancellation. True: the caller asks (C2), and owes a drop_completion() when that has been
/// answered.
template <class Word>
bool ask_completion(Word& open, std::uint32_t generation) {
    return hold_completion(open, generation, completion_asked, completion_shielded);
}
/// By its deadline, which is not kept from a shielded one.
template <class Word>
bool ask_late_completion(Word& open, std::uint32_t generation) {
    return hold_completion(open, generation, completion_asked);
}

/// True: it was the last share, and the caller finishes (C3).
template <class Word>
bool drop_completion(Word& open, std::uint32_t shares = 1) {
    // While it is open there is the share of the one who will settle it.
    return (index_of(open.fetch_sub(shares, acq_rel)) & completion_shares) == shares;
}

}  // namespace detail
BRAID_NAMESPACE_END
