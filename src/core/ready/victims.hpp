#pragma once
// Whom a thread that has nothing to do looks at, and in which order.

#include "core/runtime.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

template <class F>
bool runtime::any_victim(const worker& w, std::uint32_t& last, F&& f) const {
    const unsigned count = seat_count();
    // acquire: pairs with find_places(). A chooser's decisions depend on nothing but its seed.
    const topology* const machine = serial() ? nullptr : places();
    const unsigned levels = machine != nullptr ? machine->levels : 0;
    const std::uint32_t here = levels != 0 ? platform::current_core() : 0;
    for (unsigned d = 0; d <= levels; ++d) {
        for (unsigned n = 0; n < count; ++n) {
            if (++last >= count) last = 0;
            worker* const victim = &seat_at(last);
            if (victim == &w) continue;
            if (levels != 0 &&
                std::min(levels, machine->distance(here, victim->core.load(relaxed))) != d) {
                continue;
            }
            if (f(*victim)) return true;
        }
    }
    return false;
}

}  // namespace detail
BRAID_NAMESPACE_END
