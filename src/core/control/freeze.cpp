// freeze() and resume(): every thread of the scheduler rests between two tasks.
#include "core/control/seat_lease.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

void runtime::freeze() {
    whole_seat* const self = bound();
    const bool uses_gate = serial() != nullptr && self != nullptr;
    while (!frozen().take(self != nullptr ? self->index : no_seat)) {
        // Two at once would wait for each other to rest: the later one rests until resume().
        if (self != nullptr && is_own(*self)) {
            rest_if_frozen(*self);
            continue;
        }
        if (uses_gate) serial()->leave(self->index);
        frozen().wait_until_over();
        if (uses_gate) serial()->enter(self->index);
    }
    if (uses_gate) serial()->leave(self->index);  // or the others would never come to rest
    for (unsigned i = 0; i < seat_count(); ++i) {
        const whole_seat* w = &seat_at(i);
        parker here;
        while (is_own(*w) && w != self && !w->at_rest.load(seq_cst)) {
            here.park(active_policy::now() + 50'000);
        }
    }
    if (uses_gate) serial()->enter(self->index);
}

void runtime::resume() {
    if (!frozen().release()) return;
    lot().wake(
        frozen().key(), UINT32_MAX, [](wait_record&) { return true; },
        [this](unsigned seat) { notify(seat); });
}

}  // namespace detail
BRAID_NAMESPACE_END
