#pragma once
// One word of an event says whether the event is set, and whether a waiter may exist. These are
// free functions over the word, so that a model checker compiles the same code.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::uint32_t event_set = 1, event_awaited = 2;

/// Sets the event. Returns true if a waiter may exist; the caller then wakes the waiters of the
/// event's key. This function does not touch the word again, because a waiter may have destroyed
/// the event by then.
template <class Word>
bool set_event(Word& word) {
    // acq_rel: the release pairs with the acquires below.
    return (word.fetch_or(event_set, acq_rel) & event_awaited) != 0;
}

/// Returns true if the event is set. Also resets the event then, unless `everybody` is true: then
/// the event stays set and lets all waiters pass.
template <class Word>
bool take_event(Word& word, bool everybody) {
    std::uint32_t seen = word.load(acquire);
    if (everybody) return (seen & event_set) != 0;
    while ((seen & event_set) != 0) {
        // acquire: pairs with set_event(). What the setter wrote before is visible now.
        if (word.compare_exchange_weak(seen, seen & ~event_set, acquire, acquire)) return true;
    }
    return false;
}

/// Like take_event(), but if the event is not set, also marks in the word that a waiter may exist.
/// Returns false then.
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
