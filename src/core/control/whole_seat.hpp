#pragma once
// A seat has the scheduler's data for one thread: a worker, or any other thread that takes part.
// One thread at a time uses a seat, and no seat is freed before the scheduler. Each room defines
// its part of a seat; whole_seat has all parts.

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
