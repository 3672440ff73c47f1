// A policy: a thread wakes on another core than the one that wakes it. Asked for by
// fanout.64x2.cold, a loop after 2 ms of sleep, whose two threads shared a core. See
// docs/design/policies.md.
#include "core/seats/placement_room.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Linux wakes a thread where it slept or where its waker runs. Where cores share no cache (virtual
/// machines), or all others run threads of the idle class, it looks no further, and the two share
/// one core for milliseconds. So the sleeper is kept off the waker's core, until it has run for a
/// while; one that soon sleeps again is still kept off the next time, at no cost.
void placement_room::keep_apart(seats_seat& sleeper) const {
    if (!may_be_moved(sleeper)) return;
    const std::uint32_t here = platform::current_core();
    const locked lock(sleeper.cores_mutex);
    if (sleeper.kept_off == here) return;
    const platform::core_set others = sleeper.cores.without(here);
    if (!others.empty() && platform::set_cores(sleeper.thread_number, others)) {
        sleeper.kept_off = here;
    }
}

/// Read each time: the program may change it.
void placement_room::note_cores(seats_seat& w) const {
    if (!may_be_moved(w)) return go_anywhere(w);
    const locked lock(w.cores_mutex);
    if (w.kept_off == UINT32_MAX) w.cores = platform::own_cores();
    // It may be taken for a sleeper, and kept off, although it sees work and does not sleep.
    w.woke = active_policy::coarse_now();
}

void placement_room::go_anywhere(seats_seat& w) {
    w.woke = INT64_MAX;
    const locked lock(w.cores_mutex);
    const std::uint32_t core = std::exchange(w.kept_off, UINT32_MAX);
    // Unless the program has set others since.
    if (core != UINT32_MAX && platform::own_cores() == w.cores.without(core)) {
        platform::set_cores(0, w.cores);
    }
}

bool placement_room::may_be_moved(const seats_seat& w) const {
    const bool own = w.kind == seat_kind::worker || w.kind == seat_kind::reserve;
    return own && serial_ == nullptr && w.request.pin_to_cpu < 0 &&
           active_workers_.load(relaxed) < cores_;
}

}  // namespace detail
BRAID_NAMESPACE_END
