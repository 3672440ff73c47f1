#pragma once
// The word of an event: set, and whether somebody waits. Free functions over the word, so that a
// model checker compiles exactly these.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::uint32_t event_set = 1, event_awaited = 2;

/// True: somebody may wait, and the caller wakes the event's key. Last touch of the word: a waiter
/// may have destroyed the event by then.
template <class Word>
bool set_event(Word& word) {
    // acq_rel: release pairs with the acquires below.
    return (word.fetch_or(event_set, acq_rel) & event_awaited) != 0;
}

/// True: it was set, and, unless everybody may pass, is not set any more.
template <class Word>
bool take_event(Word& word, bool everybody) {
    std::uint32_t seen = word.load(acquire);
    if (everybody) return (seen & event_set) != 0;
    while ((seen & event_set) != 0) {
        // acquire: pairs with set_event(); what the setter wrote before is visible.
        if (word.compare_exchange_weak(seen, seen & ~event_set, acquire, acquire)) return true;
    }
    return false;
}

/// Does what take_event() does; where that fails, leaves word that somebody waits.
template <class Word>
bool take_or_mark_event(Word& word, bool everybody) {
    std::uint32_t seen = word.load(acquire);
    while (true) {
        const bool take = (seen & event_set) != 0;
        if (take && everybody) return true;
        const std::uint32_t wanted = take ? seen & ~event_set : seen | event_awaited;
        if (word.compare_exchange_weak(seen, wanted, acquire, acquire)) return take;
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
