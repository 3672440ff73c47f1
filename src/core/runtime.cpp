#include "core/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// By any thread, with a seat or without.
void runtime::report_event(event_kind kind, const event& e) const {
    const worker* const w = bound();
    const bool in_task = w != nullptr && w->top != nullptr;
    options().observer->on_event({.kind = kind,
                                  .seat = w != nullptr ? w->index : std::uint16_t{UINT16_MAX},
                                  .task = in_task ? id_of(w->top->slot) : task_id{},
                                  .object = &e});
}

void runtime::report_taken(const wait_target& target) const {
    if (target.signal != nullptr && observed()) {
        report_event(event_kind::event_taken, *target.signal);
    }
}

scheduler_statistics runtime::statistics() const {
    scheduler_statistics sum = totals();
    sum.refused = refused.load(relaxed);
    sum.reserves_started = reserves_started.load(relaxed);
    sum.reserves_refused = reserves_refused.load(relaxed);
    if (serial() != nullptr) sum.unchosen = serial()->unchosen();
    return sum;
}

}  // namespace detail
BRAID_NAMESPACE_END
