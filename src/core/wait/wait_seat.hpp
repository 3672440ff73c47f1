#pragma once
// The seat's part of this room: what its thread waits for, and what it gave away for that.

#include "core/run/run_seat.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class wait_list;

struct wait_seat : run_seat {
    using run_seat::run_seat;

    std::int64_t blocking_since = 0, elsewhere_before = 0;  // in blocking()
    task_id needed_for;                      // whose needs `needed` lists; see needed_work
    const wait_list* needed_list = nullptr;  // in which it is one of several
    task_id needed[64];
    unsigned needed_count = 0, known_needed = 0, perhaps_needed = 0;
    // How many frames lie below the task that a wait runs although it does not need it, because
    // nobody else can; 0: there is none. relaxed: others look only at a stack that stays as it is.
    atomic<unsigned> unneeded_from{0};
    // The wait has come to nothing but what gives way for so long that others are let in; it has
    // no stand-in for the rest, or has one. relaxed: a hint.
    atomic<bool> spins{false};
};

}  // namespace detail
BRAID_NAMESPACE_END
