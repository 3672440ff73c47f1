// The functions of the core that braid/fork_join calls.
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

/// Memory for joins with which no other thread can help. Their stack has room for no branch, so all
/// of them use the same slots.
struct serial_joins {
    fork_slot slots[fork_stack::spare];
    fork_stack stack{nullptr, slots, 0};
};

/// The serial joins of one thread, which are freed when the thread ends.
struct kept_joins {
    serial_joins joins;
    platform::thread_end_step end;

    void give_back() noexcept { delete this; }
};
using joins_outside_tasks = platform::thread_owned<kept_joins>;

/// The joins of a fork_join() for which no seat was free, while its body runs.
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

/// Calls of enter_fork_join() can be nested. This is a function of its own, so that their frames do
/// not contain these joins, which are seldom needed.
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
        // A thread whose end has begun never frees them.
        if (!joins_outside_tasks::set(*own)) joins_outside_tasks::hold(*own);
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

// ---- called by joins ----------------------------------------------------------------------------

bool fork_pushed(fork_stack& stack, fork_slot* first, std::uint32_t count) {
    whole_seat* w = stack.owner;
    return w != nullptr && w->rt.join_pushed(*w, first, count);
}
bool fork_popped(fork_stack& stack, fork_slot* slot) {
    return stack.owner->rt.join_popped(*stack.owner, slot);
}
void fork_run_unstolen(fork_slot& slot, fork_slot& result) {
    // The branch is copied, because joins inside the branch use the slot itself.
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
    if (!w.rt.report.observed()) return;
    w.rt.report.branch(w.index, event_kind::joined, w.rt.slots.id_of(w.top->slot), slot);
}
std::uint64_t fork_next_identity(const fork_stack& stack) {
    return stack.owner->rt.next_identity(*stack.owner);
}
bool fork_splits(const fork_stack& stack) {
    const whole_seat& w = *stack.owner;
    static constexpr alternative whole_or_half[] = {{0}, {1}};
    if (w.rt.serial == nullptr || w.outside_gate) return true;
    if (!branches_room::may_be_helped(w)) return true;  // no other thread could take a half
    if (w.rt.serial->choose(decision_kind::split, whole_or_half, 2) != 0) return true;
    // Uses up the stable id of the join that is left out, so that later joins keep theirs.
    static_cast<void>(w.rt.next_identity(w));
    return false;
}
void enter_creator(const fork_stack& stack, creator& as, std::uint64_t of, std::uint64_t part) {
    runtime::enter(*stack.owner, as, stable_ids::join(of, part));
}
void leave_creator(const fork_stack& stack, const creator& as) { runtime::leave(*stack.owner, as); }
void fork_lost(fork_stack& stack, std::exception_ptr error) {
    runtime& rt = stack.owner->rt;
    const char* name = rt.slots.at(stack.owner->top->slot).name;
    rt.outcomes.report_unobserved(name != nullptr ? name : "", std::move(error));
}

}  // namespace detail
BRAID_NAMESPACE_END
