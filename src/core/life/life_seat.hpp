#pragma once
// The seat's part of this room: what its thread has ended and not dealt with yet.

#include "core/ready/ready_room.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct scope_state;

struct life_seat : ready_seat {
    using ready_seat::ready_seat;

    bool completing = false;
    std::uint32_t to_complete = no_index;   // slots whose open work is done, newest first
    scope_state* scope_ended_in = nullptr;  // tasks that ended there,
    std::uint64_t scope_ends = 0;           // how many of them are not counted there yet
    pool_cache completion_extras;
};

}  // namespace detail
BRAID_NAMESPACE_END
