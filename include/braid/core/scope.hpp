#pragma once

#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"
#include "braid/core/closure.hpp"

#include <cstdint>
#include <exception>

BRAID_NAMESPACE_BEGIN

class scheduler;

enum class on_failure : std::uint8_t {
    go_on,   // the other tasks of the scope still run; wait() rethrows the first failure
    cancel,  // the first failure cancels the scope ("fail-fast")
};

/// Counts the tasks of a scope: how many were created, and how many ended in each way.
struct scope_account {
    std::uint64_t created = 0, executed = 0, failed = 0, cancelled = 0;
};

namespace detail {

/// The internal data of a scope.
struct scope_state {
    // Seats count in separate shards, so that threads that post share no cache line. A reader reads
    // all `ended` counters first and all `created` counters after that. The scope is done if the
    // two sums are equal.
    struct alignas(64) shard {
        atomic<std::uint64_t> created{0};
        atomic<std::uint64_t> ended{0};  // bit 63: a waiter sleeps and must be notified
        atomic<std::uint64_t> failed{0}, cancelled{0};
    };
    static constexpr unsigned shards = 16;
    /// Each of the first 15 seats has a shard of its own, and the other seats share the last shard.
    static constexpr unsigned shard_of(unsigned seat) {
        return seat < shards - 1 ? seat : shards - 1;
    }
    static constexpr std::uint64_t waited_bit = std::uint64_t{1} << 63;

    runtime& rt;
    on_failure policy;
    const char* name;  // null if the scope has no name
    atomic<bool> cancelled{false};
    task_environment environment;
    std::exception_ptr first_failure = nullptr;  // guarded by outcome_table's mutex
    shard counts[shards] = {};
};

}  // namespace detail

/// A set of tasks that are counted, waited for and cancelled together. A scope is the cheap way to
/// wait for many posted tasks. Tasks that are spawned by a task of the scope belong to the scope,
/// too. Any thread may add tasks and cancel the scope. Call wait() before the scope is destroyed,
/// because only wait() and wait_for() rethrow failures.
class scope {
public:
    /// If a scope is made inside a task, and `environment` has no allocator and no trace id, the
    /// scope uses the allocator and the trace id of that task.
    BRAID_API explicit scope(scheduler& s, on_failure policy = on_failure::go_on,
                             const task_environment& environment = {});
    /// `name` is for reports and must live as long as the scope.
    BRAID_API scope(scheduler& s, const char* name, on_failure policy = on_failure::go_on,
                    const task_environment& environment = {});
    /// Waits until every task of the scope has ended, and runs tasks of the scope during the wait.
    /// If an exception leaves the block in which the scope was made while tasks are open, the tasks
    /// that have not started are cancelled. If tasks are open and no exception leaves the block,
    /// the log gets a warning that wait() was forgotten. A failure that no wait() has rethrown goes
    /// to the unobserved-exception handler. A task must not destroy its own scope, because the
    /// destructor could never return. This error is logged, and std::terminate ends the program.
    BRAID_API ~scope();
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    /// Posts a task in this scope. Returns false if the task is refused, for the same reasons as in
    /// scheduler::spawn().
    template <detail::task_callable F>
    bool post(F&& f, std::source_location where = std::source_location::current()) {
        return static_cast<bool>(detail::submit_plain(state_.rt, nullptr, this, nullptr,
                                                      detail::draft_kind::posted, where,
                                                      std::forward<F>(f)));
    }
    template <detail::task_callable F>
    task_id spawn(task_options options, F&& f) {
        options.within = this;
        return detail::submit(state_.rt, nullptr, options, detail::draft_kind::spawned,
                              std::forward<F>(f));
    }

    /// Cancels the tasks of the scope that have not started. In running tasks,
    /// task_context::cancelled() returns true from then on.
    BRAID_API void cancel();
    bool cancelled() const { return state_.cancelled.load(acquire); }

    /// Waits until every task of the scope has ended. The calling thread runs tasks of the scope
    /// during the wait. Rethrows the first failure, once. The other failures go to the
    /// unobserved-exception handler.
    BRAID_API void wait(help policy = help::needed);
    /// Waits as wait() does, but for `timeout` at most. Returns false if the time is up. In this
    /// case the scope is unchanged, and the caller can wait again.
    BRAID_API bool wait_for(nanoseconds timeout, help policy = help::needed);

    /// Returns the counts of the scope. They are exact once wait() has returned.
    BRAID_API scope_account account() const;

    /// Internal access for the core.
    detail::scope_state& internals() { return state_; }
    const detail::scope_state& internals() const { return state_; }

private:
    bool wait_until_ended(nanoseconds timeout, help policy);
    void end_open_tasks();

    detail::scope_state state_;
    const int exceptions_;  // uncaught exceptions of the creating thread at construction
};

BRAID_NAMESPACE_END
