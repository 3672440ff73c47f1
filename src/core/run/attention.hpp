#pragma once
// What a thread that runs one task after another must not miss.

#include "core/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Something that comes before a further task of `level` that the thread has found. relaxed, all of
/// it: a thread that changes these waits for nothing but the end of some task.
inline bool wanted_elsewhere(const runtime& rt, const worker& w, unsigned level) {
    return (rt.urgent_ready() && level != high_level) || rt.direct_work(w) ||
           (w.wait_over != nullptr && w.wait_over->load(relaxed)) || rt.frozen().on(relaxed) ||
           (w.kind == seat_kind::worker && w.number >= rt.active_workers(relaxed)) ||
           (w.kind == seat_kind::reserve && rt.too_many_reserves());
}

}  // namespace detail
BRAID_NAMESPACE_END
