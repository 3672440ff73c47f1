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

/// True: this thread has frozen the scheduler, now or before. False: another one has.
bool runtime::take_freeze(const worker* self) {
    const std::lock_guard lock(freeze_mutex);
    const std::uint32_t here = platform::current_thread_number();
    if (freezes != 0 && frozen_by_thread != here) return false;
    ++freezes;
    frozen_by_thread = here;
    frozen_by.store(self != nullptr ? self->index : UINT16_MAX, relaxed);
    frozen.store(true, seq_cst);
    return true;
}

void runtime::freeze() {
    worker* const self = bound();
    const bool gives_turn = turn != nullptr && self != nullptr;
    while (!take_freeze(self)) {
        // Two at once would wait for each other to rest: the later one rests until resume().
        if (self != nullptr && is_own(*self)) {
            rest_if_frozen(*self);
            continue;
        }
        if (gives_turn) turn->leave(self->index);
        {
            std::unique_lock lock(freeze_mutex);
            thawed.wait(lock, [this] { return freezes == 0; });
        }
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
    {
        const std::lock_guard lock(freeze_mutex);
        if (freezes == 0 || --freezes != 0) return;
        frozen.store(false, seq_cst);
        thawed.notify_all();
    }
    lot.wake(
        address_key(&frozen), UINT32_MAX, [](wait_record&) { return true; },
        [this](unsigned seat) { notify(seat); });
}

}  // namespace detail
BRAID_NAMESPACE_END
