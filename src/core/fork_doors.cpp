// The doors by which braid/fork_join enters the core.
#include "base/platform/thread_end.hpp"
#include "base/standard_error.hpp"
#include "core/control/seat_lease.hpp"
#include "core/task/stable_ids.hpp"

#include <cstring>
#include <exception>
#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

// ---- outside tasks ------------------------------------------------------------------------------

namespace {

/// Joins that nobody can help. None fits into the stack, so each uses the same slots.
struct serial_joins {
    fork_slot slots[fork_stack::spare];
    fork_stack stack{nullptr, slots, 0};
};

/// A thread's own, until it ends.
struct kept_joins {
    serial_joins joins;
    platform::thread_end_step end;

    void give_back() noexcept { delete this; }
};
using joins_outside_tasks = platform::thread_owned<kept_joins>;

/// The body of a fork_join() that found no seat.
class unseated_body {
public:
    unseated_body() : outer_(std::exchange(this_thread_state.unseated_joins, &joins_.stack)) {}
    ~unseated_body() { this_thread_state.unseated_joins = outer_; }
    unseated_body(const unseated_body&) = delete;
    unseated_body& operator=(const unseated_body&) = delete;

    fork_context context() { return fork_access::at(joins_.stack.base); }

private:
    serial_joins joins_;
    fork_stack* const outer_;
};

/// Apart from enter_fork_join(), which is nested: its frame has no room for joins that are seldom
/// needed.
[[gnu::noinline]] void run_unseated(void (*body)(void* data, fork_context context), void* data) {
    unseated_body here;
    body(data, here.context());
}

}  // namespace

fork_context serial_context() {
    if (fork_stack* const joins = this_thread_state.unseated_joins) {
        return fork_access::at(joins->base);
    }
    kept_joins* own = joins_outside_tasks::get();
    if (own == nullptr) {
        own = new (std::nothrow) kept_joins;
        if (own == nullptr) {
            standard_error::say(nullptr, log_level::error,
                                "there is no memory for the joins of this thread; the program "
                                "ends");
            std::terminate();
        }
        // Returns false if the thread is at its end. Then they are never freed.
        static_cast<void>(joins_outside_tasks::set(*own));
    }
    return fork_access::at(own->joins.stack.base);
}

void enter_fork_join(scheduler& s, const char* name, void (*body)(void* data, fork_context context),
                     void* data) {
    runtime& rt = s.internals();
    running_task* const running = current_task();
    if (running != nullptr && &running->context.internals().rt == &rt) {
        return body(data, rt.joins_of_body(*running->context.internals().seat));
    }
    const body_lease seat(rt);
    if (seat) return rt.run_here(*seat, name, body, data);
    run_unseated(body, data);
}

// ---- the doors ---------------------------------------------------------------------------------

bool fork_pushed(fork_stack& stack, fork_slot* first, std::uint32_t count) {
    whole_seat* w = stack.owner;
    return w != nullptr && w->rt.join_pushed(*w, first, count);
}
bool fork_popped(fork_stack& stack, fork_slot* slot) {
    return stack.owner->rt.join_popped(*stack.owner, slot);
}
void fork_run_unstolen(fork_slot& slot, fork_slot& result) {
    // The slot itself is for the joins of the part.
    result.run = slot.run;
    result.stack = slot.stack;
    std::memcpy(result.payload, slot.payload, sizeof result.payload);
    whole_seat& w = *slot.stack->owner;
    creator part{};
    if (w.rt.identified()) runtime::enter(w, part, runtime::branch_identity(w, slot));
    const bool threw = result.run(result, fork_access::at(&slot));
    if (w.rt.identified()) runtime::leave(w, part);
    result.state.store(threw ? fork_slot::finished | fork_slot::failed : fork_slot::finished,
                       relaxed);
    fork_drop_unstolen(slot);
}
void fork_drop_unstolen(fork_slot& slot) {
    whole_seat& w = *slot.stack->owner;
    if (!w.rt.observed()) return;
    w.rt.report_branch(w, event_kind::joined, w.rt.id_of(w.top->slot), slot);
}
std::uint64_t fork_next_identity(const fork_stack& stack) {
    return stack.owner->rt.next_identity(*stack.owner);
}
bool fork_splits(const fork_stack& stack) {
    const whole_seat& w = *stack.owner;
    static constexpr alternative whole_or_half[] = {{0}, {1}};
    if (w.rt.serial() == nullptr || w.outside_gate) return true;
    if (!branches_room::may_be_helped(w)) return true;  // there is nobody to share it with
    if (w.rt.serial()->choose(decision_kind::split, whole_or_half, 2) != 0) return true;
    // That of the join which is left out, so that what follows keeps its own.
    static_cast<void>(w.rt.next_identity(w));
    return false;
}
void enter_creator(const fork_stack& stack, creator& as, std::uint64_t of, std::uint64_t part) {
    runtime::enter(*stack.owner, as, stable_ids::join(of, part));
}
void leave_creator(const fork_stack& stack, const creator& as) { runtime::leave(*stack.owner, as); }
void fork_lost(fork_stack& stack, std::exception_ptr error) {
    runtime& rt = stack.owner->rt;
    const char* name = rt.slot_at(stack.owner->top->slot).name;
    rt.report_unobserved(name != nullptr ? name : "", std::move(error));
}

}  // namespace detail
BRAID_NAMESPACE_END
