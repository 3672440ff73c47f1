#pragma once
// Public branches of joins are asked for, published and claimed here. The private path, which most
// joins take, is in braid/fork_join/join.hpp. See docs/design/fork-join.md.

#include "core/ready/background_room.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns the size of a fork stack with its slots behind it. If tasks have stable ids, the ids of
/// the branches in the slots lie behind the slots.
constexpr std::size_t fork_stack_bytes(bool identified) {
    return sizeof(fork_stack) + (sizeof(fork_slot) + (identified ? sizeof(std::uint64_t) : 0)) *
                                    (fork_stack::depth + fork_stack::spare);
}

/// Represents a branch that a thread has claimed of another thread's joins. `slot` is null if
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
    /// Returns true if other threads may help with the joins of this seat's task. No thread helps
    /// background tasks, so their joins stay private. Outside tasks there is nothing to help.
    static bool may_be_helped(const ready_seat& w) {
        return w.kind != seat_kind::background && w.top != nullptr;
    }
    /// Returns the context at which the joins of the running task start. Makes the seat's stack of
    /// joins at the first call. If there is no memory for it, returns a context whose joins no
    /// other thread can help.
    fork_context joins_of_body(ready_seat& w);
    bool join_pushed(ready_seat& w, fork_slot* first, std::uint32_t count);
    /// Makes all private joins public. The thread calls this before it does anything but come back
    /// to them.
    void publish_joins(ready_seat& w);
    /// Makes the branch in that slot private again. Returns false if a thief has the branch.
    static bool take_back_join(const ready_seat& w, const fork_slot* slot) {
        return w.joins->window.take_back(height_of(*w.joins, slot));
    }
    /// Ends the join of that slot. The owner goes on with the joins below it.
    static void end_join(const ready_seat& w, fork_slot* slot, bool stolen) {
        fork_stack& stack = *w.joins;
        const std::uint32_t height = height_of(stack, slot);
        if (stolen) {
            stack.top = slot;
            stack.window.forget(height);
        }
        stack.pop_limit = slot;
        // The next join is the outermost one. It is public from the start, so that a free thread
        // need not ask for it.
        if (height == 0) stack.push_limit.store(nullptr, relaxed);
    }

    // ---- the thief
    /// Claims the oldest public branch of `victim`, if it lies at `from` or above and `wanted(id)`
    /// is true for its task. If no branch is public, may ask the victim for one.
    claimed_branch claim_branch(const ready_seat& w, const ready_seat& victim, std::uint32_t from,
                                id_test wanted);
    /// Returns the stable id of the owner's branch in that slot, or 0 if nobody asks for stable
    /// ids.
    static std::uint64_t branch_identity(const ready_seat& owner, const fork_slot& branch) {
        if (owner.branch_ids == nullptr) return 0;
        return owner.branch_ids[height_of(*owner.joins, &branch)];
    }
    /// Returns true if some branch is public. Asks the threads that may have only private branches
    /// to publish some.
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
