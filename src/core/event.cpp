#include "braid/core/event.hpp"

#include "core/event_word.hpp"
#include "core/runtime.hpp"

BRAID_NAMESPACE_BEGIN

event::event(scheduler& s, reset mode) : rt_(s.internals()), mode_(mode) {}

void event::set() {
    detail::runtime& rt = rt_;
    rt.point();
    const unsigned how_many = mode_ == reset::automatic ? 1 : UINT32_MAX;
    // First, or who takes it could be reported before.
    if (rt.observed()) rt.report_event(event_kind::event_set, *this);
    if (!detail::set_event(state_)) return;
    rt.lot().wake(
        detail::address_key(this), how_many, [](detail::wait_record&) { return true; },
        [&](unsigned seat) { rt.notify(seat); });
}

void event::clear() {
    rt_.point();
    state_.fetch_and(~detail::event_set, acq_rel);
}
bool event::is_set() const {
    rt_.point();
    return (state_.load(acquire) & detail::event_set) != 0;
}

namespace detail {

bool runtime::take(event& e) { return take_event(e.state_, e.mode_ == reset::manual); }
bool runtime::take_or_mark(event& e) {
    return take_or_mark_event(e.state_, e.mode_ == reset::manual);
}

}  // namespace detail

BRAID_NAMESPACE_END
