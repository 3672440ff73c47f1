#pragma once

#include "braid/core/fork_stack.hpp"
#include "braid/core/task.hpp"
#include "core/seats/parking_lot.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

class event;

namespace detail {
class slot_table;
class wait_list;
struct scope_state;

/// Describes what a wait is for. Exactly one of `task`, `signal`, `all_of` and `branch` is set.
struct wait_target {
    task_id task = {};
    wait_list* list = nullptr;  // all tasks of the wait, if `task` is one of several
    event* signal = nullptr;
    scope_state* all_of = nullptr;
    fork_slot* branch = nullptr;  // a stolen branch of the calling thread's fork stack
    bool run_everything = false;  // the waiter runs everything, as a worker does (work_until)

    /// Returns the key under which the thread that ends the wait wakes the waiter.
    std::uint64_t key() const {
        if (task) return task.value;
        if (branch != nullptr) return branch_key(branch);
        return signal != nullptr ? address_key(signal) : scope_key(all_of);
    }
    /// Called with the lock of the key's bucket held. Marks the target, so that the thread that
    /// ends the wait wakes the key. Returns false if the target is complete or set already, so
    /// there is nothing to wait for. In that case an automatic event has been taken.
    bool arm(const slot_table& slots) const;
    /// Called after a wake. Returns true if this waiter may return. Returns false if another waiter
    /// has taken an automatic event first, because such an event lets only one waiter through.
    bool take() const;
};

}  // namespace detail
BRAID_NAMESPACE_END
