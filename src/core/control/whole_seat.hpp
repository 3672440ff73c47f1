#pragma once
// A seat: what one participating thread owns, a worker or any other. Each is used by one thread at
// a time and is never freed before the scheduler. Each room has its part; this is the whole.

#include "core/wait/wait_seat.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct alignas(64) whole_seat : wait_seat {
    whole_seat(runtime& owner, std::uint16_t seat, seat_kind k)
        : wait_seat(owner, *this, seat, k) {}
};

}  // namespace detail
BRAID_NAMESPACE_END
