#include "braid/core/event.hpp"

#include "core/runtime.hpp"

BRAID_NAMESPACE_BEGIN

event::event(scheduler& s, reset mode) : rt_(s.internals()), mode_(mode) {}

void event::set() {
    detail::runtime& rt = rt_;
    const unsigned how_many = mode_ == reset::automatic ? 1 : UINT32_MAX;
    // acq_rel: release pairs with the acquire in try_take(). Last touch of *this: a waiter may
    // have destroyed it by the time the address is woken.
    if ((state_.fetch_or(set_bit, acq_rel) & waited_bit) == 0) return;
    rt.lot.wake(
        detail::address_key(this), how_many, [](detail::wait_record&) { return true; },
        [&](unsigned seat) { rt.notify(seat); });
}

void event::clear() { state_.fetch_and(~set_bit, acq_rel); }

bool event::try_take() {
    std::uint32_t seen = state_.load(acquire);
    if (mode_ == reset::manual) return (seen & set_bit) != 0;
    while ((seen & set_bit) != 0) {
        // acquire: pairs with set(); what the setter wrote before is visible.
        if (state_.compare_exchange_weak(seen, seen & ~set_bit, acquire, acquire)) return true;
    }
    return false;
}

bool event::take_or_mark() {
    std::uint32_t seen = state_.load(acquire);
    while (true) {
        const bool take = (seen & set_bit) != 0;
        if (take && mode_ == reset::manual) return true;
        const std::uint32_t wanted = take ? seen & ~set_bit : seen | waited_bit;
        if (state_.compare_exchange_weak(seen, wanted, acquire, acquire)) return take;
    }
}

BRAID_NAMESPACE_END
