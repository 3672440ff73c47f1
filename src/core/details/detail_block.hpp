#pragma once
// The data that only few tasks have.

#include "braid/base/policy.hpp"
#include "braid/core/task.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct outcome;

/// The resources that a task uses, in the order of their ids.
struct resource_list {
    static constexpr unsigned most = 8;

    resource* of[most] = {};
};

/// The data that only few tasks need: the threads that may run the task, owning handles, a failure,
/// a stable id, a suspension. Each task that suspends has a block. Fewer tasks use resources, so
/// their list is a separate object.
struct detail_block {
    // Completion is one holder, and each owning handle is another. The last holder to release the
    // task recycles the slot.
    atomic<std::uint32_t> holders{0};
    atomic<std::uint16_t> seat{UINT16_MAX};  // may be read with a stale id, too
    std::uint16_t visit = 0;
    atomic<bool> direct{false};  // goes to the inbox of a thread that may run it; read like `seat`
    atomic<bool> has_value{false};  // the slot's storage holds a value, which `invoke` destroys
    std::uint8_t resource_count = 0, resources_held = 0;
    std::uint32_t resources = UINT32_MAX;  // index of a resource_list, if resource_count is not 0
    std::uint64_t workers = 0;
    detail::outcome* result = nullptr;  // guarded by outcome_table's mutex
    std::uint64_t stable_id = 0;        // 0 if there is none
    // Counts the tasks that the task has created; their stable ids depend on the count. Only the
    // thread that runs the task uses the count. If several threads create tasks for one task, each
    // of these threads has a `creator` of its own.
    std::uint64_t creations = 0;
    std::uint32_t result_ordinal = 0;  // see outcome_table::adopt(); valid if `result` is not null

    // ---- for a task that suspends; see life/suspensions_room.hpp
    bool resumable = false;  // the slot's storage begins with a resumable_body, or holds the value
    // True from the first suspension on. The body is then called again even if the task is
    // cancelled. relaxed, like `first_is_enough`: another thread checks that what it has read
    // belongs to the wait that it means.
    atomic<bool> was_suspended{false};
    // Set by the body when it knows that the task is cancelled, and cleans up. From then on, its
    // awaits end as if the task were not cancelled.
    atomic<bool> shielded{false};
    atomic<bool> first_is_enough{false};  // the first complete task ends the wait
    atomic<bool> may_end_early{false};    // a cancelled scope ends the wait; relaxed, too
    bool goes_last = false;               // the task resumes behind the tasks that are ready
    bool listed = false;  // the task is in suspension_lists; guarded by a share of waits_for
    atomic<std::uint32_t> waits{0};  // counts waits, so that a search notices a new one
    atomic<std::uint64_t> came{0};   // the first predecessor; see await_words.hpp
    // Links of the list in suspension_lists, guarded by the lock of the list. Once a cancellation
    // has removed the task from the list, the links belong to the cancelling thread, and `before`
    // is the number of shares of waits_for that it has to drop.
    std::uint32_t next = UINT32_MAX, before = UINT32_MAX;
};

}  // namespace detail
BRAID_NAMESPACE_END
