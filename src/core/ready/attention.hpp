#pragma once
// What a thread that runs one task after another must not miss.

#include "core/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Between two looks of a thread that finds nothing. Short: what somebody publishes waits as long.
/// One pause takes 10 to 45 ns.
inline void pause_between_looks() {
    active_policy::relax();
    active_policy::relax();
}

/// There may be tasks that were given to this thread (direct.cpp).
inline bool direct_work(const runtime& rt, const worker& w) {
    return w.box.size.load(relaxed) != 0 || (rt.masked_for.load(relaxed) & w.mask) != 0;
}

/// Something that comes before a further task of `level` that the thread has found. relaxed, all of
/// it: a thread that changes these waits for nothing but the end of some task.
inline bool wanted_elsewhere(const runtime& rt, const worker& w, unsigned level) {
    constexpr auto high = static_cast<unsigned>(priority_level::high);
    return (rt.high_ready.load(relaxed) > 0 && level != high) || direct_work(rt, w) ||
           (w.wait_over != nullptr && w.wait_over->load(relaxed)) || rt.frozen().on(relaxed) ||
           (w.kind == seat_kind::worker && w.number >= rt.active_workers(relaxed)) ||
           (w.kind == seat_kind::reserve && rt.too_many_reserves());
}

}  // namespace detail
BRAID_NAMESPACE_END
