// A policy: a thread wakes on another core than the thread that wakes it. The benchmark row
// fanout.64x2.cold asked for it. This row is a loop after 2 ms of sleep, whose two threads shared a
// core. See docs/design/policies.md.
#include "core/seats/placement_room.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Keeps a sleeper off the core of the calling thread, which is about to wake it. Linux wakes a
/// thread on the core where it slept or on the core of its waker. If cores share no cache (virtual
/// machines), or if all other cores run threads of the idle class, Linux looks no further, and the
/// two threads share one core for milliseconds. The sleeper stays off the waker's core until it has
/// run for a while. A thread that sleeps again before that is still kept off that core at its next
/// wake, at no cost.
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

/// Notes the cores on which the thread may run. A thread that is kept off no core reads them before
/// each sleep, because the program may change them.
void placement_room::note_cores(seats_seat& w) const {
    if (!may_be_moved(w)) return go_anywhere(w);
    const locked lock(w.cores_mutex);
    if (w.kept_off == UINT32_MAX) w.cores = platform::own_cores();
    // The thread counts as woken already: a waker may take it for a sleeper and keep it off a core,
    // although the thread sees work and does not sleep.
    w.woke = active_policy::coarse_now();
}

void placement_room::go_anywhere(seats_seat& w) {
    w.woke = INT64_MAX;
    const locked lock(w.cores_mutex);
    const std::uint32_t core = std::exchange(w.kept_off, UINT32_MAX);
    // Restores the thread's cores, unless the program has set other ones since.
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
