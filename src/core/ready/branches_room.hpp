#pragma once
// Branches of joins that are public: asked for, shown, claimed. The private way, which most joins
// take, is in braid/fork_join/join.hpp. See docs/design/fork-join.md.

#include "core/ready/background_room.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The stack, its slots behind it, and behind those the stable ids of the branches in them, if
/// there are any.
constexpr std::size_t fork_stack_bytes(bool identified) {
    return sizeof(fork_stack) + (sizeof(fork_slot) + (identified ? sizeof(std::uint64_t) : 0)) *
                                    (fork_stack::depth + fork_stack::spare);
}

/// What a thread has claimed of another one's joins. Null: nothing.
struct claimed_branch {
    fork_slot* slot = nullptr;
    std::uint16_t from = 0;  // whose
    std::uint32_t by = 0;    // the thief and its height, as the slot shows them
    explicit operator bool() const { return slot != nullptr; }
};

class branches_room : public background_room {
public:
    using background_room::background_room;

    // ---- the owner
    /// Background threads help background work only; outside tasks there is nothing to help.
    static bool may_be_helped(const ready_seat& w) {
        return w.kind != seat_kind::background && w.top != nullptr;
    }
    /// Where the joins of the task begin that the thread runs.
    fork_context joins_of_body(ready_seat& w);
    bool join_pushed(ready_seat& w, fork_slot* first, std::uint32_t count);
    /// All private joins: the thread does something else than to come back to them.
    void publish_joins(ready_seat& w);
    /// False: a thief has it.
    static bool take_back_join(const ready_seat& w, const fork_slot* slot) {
        return w.joins->window.take_back(height_of(*w.joins, slot));
    }
    /// The owner goes on below the join of that slot.
    static void end_join(const ready_seat& w, fork_slot* slot, bool stolen) {
        fork_stack& stack = *w.joins;
        const std::uint32_t height = height_of(stack, slot);
        if (stolen) {
            stack.top = slot;
            stack.window.forget(height);
        }
        stack.pop_limit = slot;
        // The next join is the outermost: it is public from the start, so that a thread that is
        // free need not ask.
        if (height == 0) stack.push_limit.store(nullptr, relaxed);
    }

    // ---- the thief
    /// The oldest public branch of `victim`, if it lies at `from` or above and its task is wanted.
    claimed_branch claim_branch(const ready_seat& w, const ready_seat& victim, std::uint32_t from,
                                id_test wanted);
    /// The stable id of the owner's branch in that slot. 0: nobody asks for it.
    static std::uint64_t branch_identity(const ready_seat& owner, const fork_slot& branch) {
        if (owner.branch_ids == nullptr) return 0;
        return owner.branch_ids[height_of(*owner.joins, &branch)];
    }
    /// Some branch is public. Asks where there are only private ones.
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
