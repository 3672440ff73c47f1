#pragma once

#include "core/control/whole_seat.hpp"

#include <cstddef>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The memory of the spare guest's seat and its rings, so that this seat needs no allocation.
struct spare_seat {
    static constexpr std::uint32_t ring = 8;
    alignas(whole_seat) std::byte bytes[sizeof(whole_seat)];
    ready_queue::cell cells[level_count * ring];
};

}  // namespace detail
BRAID_NAMESPACE_END
