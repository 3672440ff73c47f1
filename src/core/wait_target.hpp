#pragma once

#include "braid/core/fork_stack.hpp"
#include "braid/core/task.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

class event;
class scope;

namespace detail {

/// What a wait is for. Exactly one of the four.
struct wait_target {
    task_id task = {};
    event* signal = nullptr;
    scope* all_of = nullptr;
    fork_slot* job = nullptr;     // of the calling thread's fork stack, stolen
    bool run_everything = false;  // as a worker would (work_until)
};

/// For a thread that gives up its seat: a reserve was started or woken, there are enough of them
/// at work already (or in waits of their own), or none can be had.
enum class stand_in : std::uint8_t { started, enough, refused };

}  // namespace detail
BRAID_NAMESPACE_END
