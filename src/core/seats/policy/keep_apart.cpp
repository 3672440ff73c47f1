// This policy lets a thread wake on another core than that of the thread that wakes it. The
// benchmark row fanout.64x2.cold asked for it. This row runs a loop after 2 ms of sleep, and the
// loop's two threads shared a core. See docs/design/policies.md.
#include "core/seats/placement_room.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Keeps a sleeper off the core of the calling thread, which is about to wake it. Linux wakes a
/// thread on the core where it slept, or on the core of its waker. If the cores share no cache
/// (virtual machines), or if all other cores run threads of the idle class, Linux considers no
/// other core. The two threads then share one core for milliseconds. The sleeper stays off the
/// waker's core until it has run for a while; see settle(). If it sleeps again before that, the
/// next wake from the same core costs no system call.
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

/// Records on which cores the thread may run. This is done before each sleep, because the program
/// may change the cores. It is not done while the thread is kept off a core, because its set of
/// cores is then the scheduler's own.
void placement_room::note_cores(seats_seat& w) const {
    if (!may_be_moved(w)) return go_anywhere(w);
    const locked lock(w.cores_mutex);
    if (w.kept_off == UINT32_MAX) w.cores = platform::own_cores();
    // Sets the time of the wake already now. A waker may keep this thread off a core although the
    // thread then sees work and does not sleep. settle() must undo that, too.
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
    return own && serial == nullptr && w.request.pin_to_cpu < 0 &&
           active_workers_.load(relaxed) < cores_;
}

}  // namespace detail
BRAID_NAMESPACE_END
