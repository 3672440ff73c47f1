#pragma once

#include "braid/core/fork_stack.hpp"
#include "braid/core/task.hpp"
#include "core/seats/parking_lot.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

class event;

namespace detail {
class task_room;
class wait_list;
struct scope_state;

/// What a wait is for: exactly one of `task`, `signal`, `all_of` and `branch`.
struct wait_target {
    task_id task = {};
    wait_list* list = nullptr;  // in which the task is one of several
    event* signal = nullptr;
    scope_state* all_of = nullptr;
    fork_slot* branch = nullptr;  // of the calling thread's fork stack, stolen
    bool run_everything = false;  // as a worker would (work_until)

    /// The key under which the thread that ends the wait wakes it.
    std::uint64_t key() const {
        if (task) return task.value;
        if (branch != nullptr) return branch_key(branch);
        return signal != nullptr ? address_key(signal) : scope_key(all_of);
    }
    /// Under the lock of the key's bucket: leaves word that somebody waits. False: what is awaited
    /// came about, and an automatic event is taken.
    bool arm(const task_room& tasks) const;
    /// After a wake: what woke this wait is its own. An automatic event goes to one waiter only.
    bool take() const;
};

}  // namespace detail
BRAID_NAMESPACE_END
