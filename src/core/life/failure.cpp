// What became of a task that failed or was cancelled, and who is told. Cold: one lock for all.
#include "braid/core/error.hpp"
#include "braid/core/scope.hpp"
#include "core/seat_lease.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN

const char* task_cancelled::what() const noexcept { return "braid: the task was cancelled"; }
const char* broken_promise::what() const noexcept {
    return "braid: the task ended without a value";
}

namespace detail {

void fail_task(task_context& context, std::exception_ptr error) {
    runtime::fail(context, std::move(error));
}

outcome* runtime::new_outcome(std::exception_ptr error, const char* task) {
    void* bytes = memory.allocate(sizeof(outcome), alignof(outcome), memory_tag::detail);
    if (bytes == nullptr) return nullptr;
    auto* result = ::new (bytes) outcome;
    result->error = std::move(error);
    result->task = task != nullptr ? task : "";
    return result;
}

void runtime::report_unobserved(const char* task, std::exception_ptr error) {
    unobserved.fetch_add(1, relaxed);
    if (options.unobserved_exception.function != nullptr) {
        options.unobserved_exception.function(options.unobserved_exception.user, task,
                                              std::move(error));
    } else {
        log(log_level::error, "%s: task '%s' threw and nobody was left to receive it", options.name,
            task);
    }
}

outcome* runtime::keep(outcome* result) {
    const std::lock_guard lock(failure_mutex);
    ++result->references;
    return result;
}

void runtime::drop(outcome* result) {
    if (result == nullptr) return;
    {
        const std::lock_guard lock(failure_mutex);
        if (--result->references != 0) return;
    }
    if (result->error != nullptr && !result->observed) {
        report_unobserved(result->task, result->error);
    }
    result->~outcome();
    memory.release(result, sizeof(outcome), alignof(outcome), memory_tag::detail);
}

void runtime::forget(outcome* result) {
    {
        const std::lock_guard lock(failure_mutex);
        if (result->references > 1) {
            --result->references;
            return;
        }
    }
    drop(result);
}

outcome* runtime::take_outcome(const slot& s) {
    const std::lock_guard lock(failure_mutex);
    detail_block* d = detail_of(s);
    if (d == nullptr) return nullptr;
    d->result_ordinal = 0;
    return std::exchange(d->result, nullptr);
}

outcome* runtime::share_outcome(const slot& s) {
    outcome* const result = outcome_of(s);
    return result != nullptr ? keep(result) : nullptr;
}

outcome* runtime::outcome_of(const slot& s) {
    const std::lock_guard lock(failure_mutex);
    const detail_block* d = detail_of(s);
    if (d != nullptr && d->result != nullptr) return d->result;
    // It failed, and there was no memory to say how: as if it were cancelled.
    return s.has(flag_failed) ? &unrecorded : nullptr;
}

void runtime::record_failure(worker& w, std::uint32_t index, std::exception_ptr error,
                             std::uint32_t ordinal, const char* by) {
    const slot& s = slots[index];
    const task_environment* environment = s.environment.load(relaxed);
    if (error != nullptr && environment != nullptr && environment->within != nullptr &&
        environment->within->policy_ == on_failure::cancel) {
        environment->within->cancel();
    }
    if (by == nullptr) by = s.name;
    if (outcome* result = new_outcome(error, by)) return adopt(w, index, result, ordinal);
    // No memory: successors are cancelled and waits throw all the same, and the handler has it. An
    // empty task is one that was refused for want of memory itself: its parent has not failed.
    if (!s.has(flag_empty)) slots[index].flags.fetch_or(flag_failed, relaxed);
    if (error != nullptr) report_unobserved(by != nullptr ? by : "", std::move(error));
}

/// Takes over one reference. The failure of the earliest creation wins, an error before a mere
/// cancellation; ordinal 0 is the task's own, or what a predecessor handed on.
void runtime::adopt(worker& w, std::uint32_t index, outcome* result, std::uint32_t ordinal) {
    slot& s = slots[index];
    outcome* loser = result;
    {
        const std::lock_guard lock(failure_mutex);
        detail_block* d = make_detail(w, s);
        const auto wins = [&](const outcome& other) {
            const bool has_error = result->error != nullptr;
            if (has_error != (other.error != nullptr)) return has_error;
            return ordinal < d->result_ordinal;
        };
        if (d != nullptr && (d->result == nullptr || wins(*d->result))) {
            loser = d->result;
            d->result = result;
            d->result_ordinal = ordinal;
        }
        // Also without memory for a place to keep it: then the handler hears of it by drop().
        s.flags.fetch_or(flag_failed, relaxed);
    }
    drop(loser);
}

void runtime::pass_on(worker& w, slot& s, outcome* result, std::uint32_t parent) {
    if (parent != no_index) {
        adopt(w, parent, keep(result), s.ordinal.load(relaxed));
        return;
    }
    const task_environment* environment = s.environment.load(relaxed);
    if (environment == nullptr || environment->within == nullptr) return;
    const std::lock_guard lock(failure_mutex);
    std::exception_ptr& first = environment->within->first_failure_;
    if (first != nullptr || result->error == nullptr || result->observed) return;
    first = result->error;
    result->observed = true;
}

void runtime::raise(outcome* result) {
    if (result == nullptr) return;
    std::exception_ptr error;
    {
        const std::lock_guard lock(failure_mutex);
        result->observed = true;
        error = result->error;
    }
    [[maybe_unused]] const char* task = result->task;
    drop(result);
#if BRAID_HAS_EXCEPTIONS
    if (error != nullptr) std::rethrow_exception(error);
    throw task_cancelled{};
#else
    if (error != nullptr) {
        log(log_level::error, "%s: task '%s' threw; this build has no exceptions to forward it",
            options.name, task);
        std::terminate();
    }
#endif
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
        const auto* e = rt_.slots[w->top->slot].environment.load(relaxed);
        if (e != nullptr) environment_ = *e;
    }
    environment_.within = this;
}

scope::~scope() {
    BRAID_EXPECT(rt_.options.assertion, detail::runtime::scope_done(*this),
                 "wait for a scope before it is destroyed");
    if (first_failure_ != nullptr) rt_.report_unobserved("scope", first_failure_);
}

void scope::cancel() { cancelled_.store(true, release); }

void scope::wait(help policy) { wait_for(forever, policy); }

bool scope::wait_for(nanoseconds timeout, help policy) {
    const detail::long_call call(rt_);
    if (!rt_.wait_here({.all_of = this}, timeout, policy, nullptr)) return false;
    std::exception_ptr error;
    {
        const std::lock_guard lock(rt_.failure_mutex);
        error = std::exchange(first_failure_, nullptr);
    }
#if BRAID_HAS_EXCEPTIONS
    if (error != nullptr) std::rethrow_exception(error);
#else
    if (error != nullptr) std::terminate();
#endif
    return true;
}

scope_account scope::account() const {
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
