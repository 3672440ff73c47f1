// What became of a task that failed or was cancelled, and who hears of it. Cold: one lock for all.
#include "braid/core/error.hpp"
#include "braid/core/scope.hpp"
#include "core/seat_lease.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN

namespace detail {

void fail_task(task_context& context, std::exception_ptr error) {
    runtime::fail(context, std::move(error));
}

void runtime::record_failure(worker& w, std::uint32_t index, std::exception_ptr error,
                             std::uint32_t ordinal, const char* by) {
    const slot& s = slot_at(index);
    const task_environment* environment = s.environment.load(relaxed);
    if (error != nullptr && environment != nullptr && environment->within != nullptr &&
        environment->within->policy_ == on_failure::cancel) {
        environment->within->cancel();
    }
    if (by == nullptr) by = s.name;
    if (outcome* result = new_outcome(error, by)) return adopt(w, index, result, ordinal);
    // No memory: successors are cancelled and waits throw all the same, and the handler has it. An
    // empty task is one that was refused for want of memory itself: its parent has not failed.
    if (!s.has(flag_empty)) slot_at(index).flags.fetch_or(flag_failed, relaxed);
    if (error != nullptr) report_unobserved(by != nullptr ? by : "", std::move(error));
}

void runtime::pass_on(worker& w, const slot& s, outcome& result, std::uint32_t parent) {
    if (parent != no_index) {
        adopt(w, parent, share(&result), s.ordinal.load(relaxed));
        return;
    }
    const task_environment* environment = s.environment.load(relaxed);
    if (environment == nullptr || environment->within == nullptr) return;
    offer(result, environment->within->first_failure_);
}

bool runtime::scope_cancelled(const slot& s) const {
    const task_environment* environment = s.environment.load(relaxed);
    return environment != nullptr && environment->within != nullptr &&
           environment->within->cancelled();
}

}  // namespace detail

// ---- scope -------------------------------------------------------------------------------------

scope::scope(scheduler& s, on_failure policy, const task_environment& environment)
    : rt_(s.internals()), policy_(policy), environment_(environment) {
    const detail::worker* w = rt_.bound();
    const bool inherits = environment.allocator == nullptr && environment.trace_id == 0;
    if (inherits && w != nullptr && w->top != nullptr) {
        const auto* e = rt_.slot_at(w->top->slot).environment.load(relaxed);
        if (e != nullptr) environment_ = *e;
    }
    environment_.within = this;
}

scope::~scope() {
    BRAID_EXPECT(rt_.options().assertion, detail::runtime::scope_done(*this),
                 "wait for a scope before it is destroyed");
    if (first_failure_ != nullptr) rt_.report_unobserved("scope", first_failure_);
}

void scope::cancel() {
    rt_.point();
    cancelled_.store(true, release);
}

void scope::wait(help policy) { wait_for(forever, policy); }

bool scope::wait_for(nanoseconds timeout, help policy) {
    const detail::long_call call(rt_);
    if (!rt_.wait_here({.all_of = this}, timeout, policy, nullptr)) return false;
    std::exception_ptr error = rt_.take_offered(first_failure_);
#if BRAID_HAS_EXCEPTIONS
    if (error != nullptr) std::rethrow_exception(error);
#else
    if (error != nullptr) std::terminate();
#endif
    return true;
}

scope_account scope::account() const {
    rt_.point();
    scope_account sum;
    std::uint64_t ended = 0;
    for (const shard& part : shard_) {
        ended += part.ended.load(acquire) & ~waited_bit;
        sum.failed += part.failed.load(relaxed);
        sum.cancelled += part.cancelled.load(relaxed);
    }
    for (const shard& part : shard_) sum.created += part.created.load(acquire);
    sum.executed = ended - sum.failed - sum.cancelled;
    return sum;
}

BRAID_NAMESPACE_END
