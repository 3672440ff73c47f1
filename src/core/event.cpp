#include "braid/core/event.hpp"

#include "core/control/runtime.hpp"
#include "core/task/event_word.hpp"

BRAID_NAMESPACE_BEGIN

event::event(scheduler& s, reset mode) : state_{s.internals(), mode} {}

void event::set() {
    detail::runtime& rt = state_.rt;
    rt.point();
    const unsigned how_many = state_.mode == reset::automatic ? 1 : UINT32_MAX;
    // First, or who takes it could be reported before.
    if (rt.observed()) rt.report_event(event_kind::event_set, *this);
    if (!detail::set_event(state_.word)) return;
    rt.lot().wake(
        detail::address_key(this), how_many, [](detail::wait_record&) { return true; },
        [&](unsigned seat) { rt.notify(seat); });
}

void event::clear() {
    state_.rt.point();
    state_.word.fetch_and(~detail::event_set, acq_rel);  // pairs with set_event()
}
bool event::is_set() const {
    state_.rt.point();
    return (state_.word.load(acquire) & detail::event_set) != 0;  // pairs with set_event()
}

BRAID_NAMESPACE_END
