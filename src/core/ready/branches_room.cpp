#include "core/ready/branches_room.hpp"

#include "core/task/stable_ids.hpp"

#include <memory>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

std::uint32_t joins_private(const fork_stack& stack) {
    return static_cast<std::uint32_t>(stack.top - stack.pop_limit);
}

void ask(fork_stack& stack) { ask_for_branches(stack.push_limit, stack.asked); }

}  // namespace

// ---- the owner ---------------------------------------------------------------------------------

fork_context branches_room::joins_of_body(ready_seat& w) {
    if (w.joins == nullptr) {
        void* bytes = memory.allocate(fork_stack_bytes(identified()), alignof(fork_stack),
                                      memory_tag::worker);
        if (bytes == nullptr) return serial_context();
        auto* first =
            reinterpret_cast<fork_slot*>(static_cast<std::byte*>(bytes) + sizeof(fork_stack));
        std::uninitialized_default_construct_n(first, fork_stack::depth + fork_stack::spare);
        w.joins = ::new (bytes) fork_stack(&w.whole, first, fork_stack::depth);
        w.joins->identified = identified();
        if (identified()) {
            constexpr std::uint32_t all = fork_stack::depth + fork_stack::spare;
            w.branch_ids = reinterpret_cast<std::uint64_t*>(first + all);
            std::uninitialized_value_construct_n(w.branch_ids, all);
        }
        w.shown_joins.store(w.joins, release);  // pairs with a thief's acquire in claim_branch()
        // The check is needed, because in the body of a refused fork_join() the thread's innermost
        // task may be no task of this seat.
        if (w.top != nullptr && current_task() == w.top) set_current_joins(w.joins);
    }
    return fork_access::at(w.joins->top);
}

[[gnu::always_inline]] inline void branches_room::publish_joins(ready_seat& w,
                                                                std::uint32_t count) {
    fork_stack& stack = *w.joins;
    const running_task* task = w.top;
    for (fork_slot* slot = stack.pop_limit + count; slot-- != stack.pop_limit;) {
        while (task->joins_from > slot) task = task->below;
        slot->state.store(0, relaxed);
        slot->task.store(task->slot, relaxed);
        if (report.observed()) report_public(w, *slot);
    }
    stack.pop_limit += count;
    stack.window.publish(count);
    if (asleep().should_wake()) wake_one();
    if (serial) serial->preempt(w.index);
}

bool branches_room::join_pushed(ready_seat& w, fork_slot* first, std::uint32_t count) {
    fork_stack& stack = *w.joins;
    const bool named = stack.identified;
    const bool all_public =
        named || report.observed();  // a chooser or an observer sees each branch
    if (first + count > stack.end) return false;
    answer_request(stack.push_limit, stack.asked, all_public ? nullptr : stack.end);
    if (!may_be_helped(w)) return true;
    stack.top = first + count;
    if (named) identify_branches(w, first, count);
    const std::uint32_t all = joins_private(stack);
    publish_joins(w, all_public ? all : (all + 1) / 2);
    return true;
}

void branches_room::report_public(const ready_seat& w, const fork_slot& slot) const {
    report.forked(w.index, slots.id_of(slot.task.load(relaxed)), slot, branch_identity(w, slot));
}

/// Gives stable ids to the branches of a join. The whole join counts as one creation of its
/// creator. The branches are distinguished by their place in the join. The first part of the join
/// still counts as that creator, because it runs on this thread before anything that follows.
void branches_room::identify_branches(ready_seat& w, const fork_slot* first, std::uint32_t count) {
    std::uint64_t* const ids = w.branch_ids + height_of(*w.joins, first);
    const std::uint64_t join = next_identity(w);
    // The leftmost branch lies in the highest slot.
    for (std::uint32_t i = 0; i != count; ++i) ids[i] = stable_ids::join(join, count - 1 - i);
}

void branches_room::publish_joins(ready_seat& w) {
    if (w.joins == nullptr || !may_be_helped(w)) return;
    if (const std::uint32_t count = joins_private(*w.joins)) publish_joins(w, count);
}

// ---- the thief ---------------------------------------------------------------------------------

claimed_branch branches_room::claim_branch(const ready_seat& w, const ready_seat& victim,
                                           std::uint32_t from, id_test wanted) {
    // acquire: pairs with joins_of_body().
    fork_stack* const joins = victim.shown_joins.load(acquire);
    if (joins == nullptr) return {};
    fork_stack& stack = *joins;
    const fork_window::word seen = stack.window.look();
    const std::uint32_t at = fork_window::tail(seen);
    if (fork_window::empty(seen)) {
        // No branch is public. If the victim is within joins, it may have private branches, so this
        // asks for them.
        const std::uint32_t split = fork_window::split(seen);
        if (split >= from && split != 0) ask(stack);
        return {};
    }
    if (at < from) return {};
    // relaxed: the owner wrote the task before it made the branch public, and look() has seen that
    // the branch is public.
    fork_slot& branch = stack.base[at];
    const task_id task = slots.id_of(branch.task.load(relaxed));
    if (!wanted(task.value) || !stack.window.claim(seen)) return {};
    const std::uint32_t height = w.joins != nullptr ? height_of(*w.joins, w.joins->top) : 0;
    const std::uint32_t by = fork_slot::taken | std::uint32_t{w.index} << fork_slot::seat_shift |
                             height << fork_slot::height_shift;
    // relaxed: this is a hint that shows the owner which thief it should help.
    branch.state.fetch_or(by, relaxed);
    return {&branch, victim.index, by};
}

bool branches_room::branches_visible() const {
    const unsigned count = seat_count();
    for (unsigned i = 0; i < count; ++i) {
        fork_stack* const joins = seat_at(i).shown_joins.load(acquire);  // as in claim_branch()
        if (joins == nullptr) continue;
        const fork_window::word seen = joins->window.look();
        if (!fork_window::empty(seen)) return true;
        if (fork_window::split(seen) != 0) ask(*joins);
    }
    return false;
}

}  // namespace detail
BRAID_NAMESPACE_END
