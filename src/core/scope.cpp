#include "braid/core/scope.hpp"

#include "core/control/seat_lease.hpp"

#include <exception>

BRAID_NAMESPACE_BEGIN

scope::scope(scheduler& s, on_failure policy, const task_environment& environment)
    : scope(s, nullptr, policy, environment) {}

scope::scope(scheduler& s, const char* name, on_failure policy, const task_environment& environment)
    : state_{.rt = s.internals(), .policy = policy, .name = name, .environment = environment},
      exceptions_(std::uncaught_exceptions()) {
    const detail::runtime& rt = state_.rt;
    const detail::whole_seat* w = rt.bound();
    const bool inherits = environment.allocator == nullptr && environment.trace_id == 0;
    if (inherits && w != nullptr && w->top != nullptr) {
        const auto* e = rt.slots.at(w->top->slot).environment.load(relaxed);
        if (e != nullptr) state_.environment = *e;
    }
    state_.environment.within = this;
}

scope::~scope() {
    if (!detail::runtime::scope_done(state_)) end_open_tasks();
    if (state_.first_failure != nullptr)
        state_.rt.outcomes.report_unobserved("scope", state_.first_failure);
}

/// Waits for the scope's open tasks, because they use this object until they have ended. Ends the
/// program if the wait would never end.
void scope::end_open_tasks() {
    detail::runtime& rt = state_.rt;
    const char* const name = rt.options.name;
    if (std::uncaught_exceptions() > exceptions_) {
        cancel();
    } else {
        rt.report.log(
            log_level::warning,
            "%s: a scope is destroyed before its tasks have ended, and waits for them; call "
            "wait(), which also rethrows what fails",
            name);
    }
    if (wait_until_ended(no_limit, help::needed)) return;
    rt.report.log(
        log_level::error,
        "%s: a scope is destroyed in one of its own tasks, which would wait for itself; the "
        "program ends. Destroy it where it was made",
        name);
    std::terminate();
}

void scope::cancel() {
    state_.rt.point();
    state_.cancelled.store(true, release);  // pairs with cancelled()
    const detail::seat_lease seat(state_.rt, nullptr);
    state_.rt.cancel_waits_of(*seat, state_);
}

void scope::wait(help policy) { wait_for(no_limit, policy); }

bool scope::wait_until_ended(nanoseconds timeout, help policy) {
    const detail::long_call call(state_.rt);
    return state_.rt.wait_here({.all_of = &state_}, timeout, policy, nullptr);
}

bool scope::wait_for(nanoseconds timeout, help policy) {
    if (!wait_until_ended(timeout, policy)) return false;
    std::exception_ptr error = state_.rt.outcomes.take_offered(state_.first_failure);
#if BRAID_HAS_EXCEPTIONS
    if (error != nullptr) std::rethrow_exception(error);
#else
    if (error != nullptr) std::terminate();
#endif
    return true;
}

scope_account scope::account() const {
    state_.rt.point();
    scope_account sum;
    std::uint64_t ended = 0;
    for (const detail::scope_state::shard& part : state_.counts) {
        ended += part.ended.load(acquire) & ~detail::scope_state::waited_bit;
        sum.failed += part.failed.load(relaxed);
        sum.cancelled += part.cancelled.load(relaxed);
    }
    for (const detail::scope_state::shard& part : state_.counts) {
        sum.created += part.created.load(acquire);
    }
    sum.executed = ended - sum.failed - sum.cancelled;
    return sum;
}

BRAID_NAMESPACE_END
