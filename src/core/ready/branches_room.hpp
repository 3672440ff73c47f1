#pragma once
// The branches room has the public branches of joins: thieves ask for them and claim them, and
// owners publish them. The private path, which most joins take, is in braid/fork_join/join.hpp. See
// docs/design/fork-join.md.

#include "core/ready/background_room.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns the size of a fork stack, including the slots that follow it. If tasks have stable ids,
/// the ids of the slots' branches follow the slots.
constexpr std::size_t fork_stack_bytes(bool identified) {
    return sizeof(fork_stack) + (sizeof(fork_slot) + (identified ? sizeof(std::uint64_t) : 0)) *
                                    (fork_stack::depth + fork_stack::spare);
}

/// Represents a branch that a thief has claimed from another thread's joins. `slot` is null if
/// nothing was claimed.
struct claimed_branch {
    fork_slot* slot = nullptr;
    std::uint16_t from = 0;  // the owner's seat
    std::uint32_t by = 0;    // the thief's seat and height, as in fork_slot::state
    explicit operator bool() const { return slot != nullptr; }
};

class branches_room : public background_room {
public:
    using background_room::background_room;

    // ---- the owner
    /// Returns true if other threads may help with the joins of the task that this seat's thread
    /// runs. No thread helps background tasks, so their joins stay private. A seat without a
    /// running task has no joins to help with.
    static bool may_be_helped(const ready_seat& w) {
        return w.kind != seat_kind::background && w.top != nullptr;
    }
    /// Returns the context from which the joins of the running task start. The first call makes the
    /// seat's fork stack. If there is no memory for it, returns a context whose joins no other
    /// thread can help.
    fork_context joins_of_body(ready_seat& w);
    bool join_pushed(ready_seat& w, fork_slot* first, std::uint32_t count);
    /// Makes all private branches of the thread's joins public. The thread calls this before it
    /// does anything other than return to these joins.
    void publish_joins(ready_seat& w);
    /// Makes the branch in that slot private again. Returns false if a thief has the branch.
    static bool take_back_join(const ready_seat& w, const fork_slot* slot) {
        return w.joins->window.take_back(height_of(*w.joins, slot));
    }
    /// Ends the join whose branch is in that slot. The owner then goes on with the joins below it
    /// on the stack.
    static void end_join(const ready_seat& w, fork_slot* slot, bool stolen) {
        fork_stack& stack = *w.joins;
        const std::uint32_t height = height_of(stack, slot);
        if (stolen) {
            stack.top = slot;
            stack.window.forget(height);
        }
        stack.pop_limit = slot;
        // The next join will be the outermost one. Its branches are made public at once, so that a
        // free thread need not ask for them.
        if (height == 0) stack.push_limit.store(nullptr, relaxed);
    }

    // ---- the thief
    /// Claims the oldest public branch of `victim`, if its slot has at least the height `from` and
    /// `wanted(id)` is true for its task. If no branch is public, may ask the victim to publish
    /// one.
    claimed_branch claim_branch(const ready_seat& w, const ready_seat& victim, std::uint32_t from,
                                id_test wanted);
    /// Returns the stable id of the owner's branch in that slot, or 0 if nobody asks for stable
    /// ids.
    static std::uint64_t branch_identity(const ready_seat& owner, const fork_slot& branch) {
        if (owner.branch_ids == nullptr) return 0;
        return owner.branch_ids[height_of(*owner.joins, &branch)];
    }
    /// Returns true if any thread has a public branch. Until it finds one, asks the threads that
    /// may have private branches to publish some.
    bool branches_visible() const;

private:
    static std::uint32_t height_of(const fork_stack& stack, const fork_slot* slot) {
        return static_cast<std::uint32_t>(slot - stack.base);
    }
    void publish_joins(ready_seat& w, std::uint32_t count);
    [[gnu::noinline]] void report_public(const ready_seat& w, const fork_slot& slot) const;
    [[gnu::noinline]] void identify_branches(ready_seat& w, const fork_slot* first,
                                             std::uint32_t count);
};

}  // namespace detail
BRAID_NAMESPACE_END
