// freeze() and resume(): every thread of the scheduler rests between two tasks.
#include "core/seat_lease.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

bool is_own(const worker& w) {
    return w.kind == seat_kind::worker || w.kind == seat_kind::reserve ||
           w.kind == seat_kind::background;
}

}  // namespace

void runtime::freeze() {
    worker* const self = bound();
    const bool gives_turn = turn != nullptr && self != nullptr;
    while (!frozen.take(self != nullptr ? self->index : no_seat)) {
        // Two at once would wait for each other to rest: the later one rests until resume().
        if (self != nullptr && is_own(*self)) {
            rest_if_frozen(*self);
            continue;
        }
        if (gives_turn) turn->leave(self->index);
        frozen.wait_until_over();
        if (gives_turn) turn->enter(self->index);
    }
    if (gives_turn) turn->leave(self->index);  // or the others would never come to rest
    for (unsigned i = 0; i < seat_count.load(acquire); ++i) {
        const worker* w = seats[i].load(acquire);
        parker here;
        while (is_own(*w) && w != self && !w->at_rest.load(seq_cst)) {
            here.park(active_policy::now() + 50'000);
        }
    }
    if (gives_turn) turn->enter(self->index);
}

void runtime::resume() {
    if (!frozen.release()) return;
    lot.wake(
        frozen.key(), UINT32_MAX, [](wait_record&) { return true; },
        [this](unsigned seat) { notify(seat); });
}

}  // namespace detail
BRAID_NAMESPACE_END
