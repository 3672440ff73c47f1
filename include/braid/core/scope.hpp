#pragma once

#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"
#include "braid/core/closure.hpp"

#include <cstdint>
#include <exception>

BRAID_NAMESPACE_BEGIN

class scheduler;

enum class on_failure : std::uint8_t {
    go_on,   // the other tasks of the scope run; wait() reports the first failure
    cancel,  // the first failure cancels the scope ("fail-fast")
};

/// What became of the tasks of a scope.
struct scope_account {
    std::uint64_t created = 0, executed = 0, failed = 0, cancelled = 0;
};

namespace detail {

/// The core's data of a scope.
struct scope_state {
    // Each seat counts in its own shard, so that posting shares no cache line between threads. All
    // `ended` are read first and all `created` after that. The scope is done if the sums are equal.
    struct alignas(64) shard {
        atomic<std::uint64_t> created{0};
        atomic<std::uint64_t> ended{0};  // bit 63 means that a waiter sleeps and is to be notified
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
    const char* name;  // null if it has none
    atomic<bool> cancelled{false};
    task_environment environment;
    std::exception_ptr first_failure = nullptr;  // guarded by outcome_room's mutex
    shard counts[shards] = {};
};

}  // namespace detail

/// A set of tasks that are counted, waited for and cancelled together. It is the cheap way to know
/// that many posted tasks are done. Tasks that its tasks spawn belong to it, too. Any thread may
/// add tasks and cancel. Call wait() before the scope is destroyed, because only wait() and
/// wait_for() rethrow failures.
class scope {
public:
    /// If `environment` has no allocator and no trace id, a scope that is made inside a task has
    /// the allocator and the trace id of that task.
    BRAID_API explicit scope(scheduler& s, on_failure policy = on_failure::go_on,
                             const task_environment& environment = {});
    /// `name` is for reports and must live as long as the scope.
    BRAID_API scope(scheduler& s, const char* name, on_failure policy = on_failure::go_on,
                    const task_environment& environment = {});
    /// Returns when every task of the scope has ended, and helps to run them. If tasks are open
    /// because an exception leaves the block that the scope was made in, those that have not
    /// started are cancelled. If tasks are open without an exception, a warning says that wait()
    /// was forgotten. A failure that no wait() has rethrown goes to the unobserved-exception
    /// handler. In one of the scope's own tasks the destructor could never return: that is
    /// reported, and std::terminate ends the program.
    BRAID_API ~scope();
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    /// Returns false if the task is refused, as in scheduler::spawn().
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

    /// Cancels the tasks of the scope that have not started. Running tasks see it in
    /// task_context::cancelled().
    BRAID_API void cancel();
    bool cancelled() const { return state_.cancelled.load(acquire); }

    /// Returns when every task of the scope has ended, and runs them meanwhile. Rethrows the first
    /// failure, once. The other failures went to the unobserved-exception handler.
    BRAID_API void wait(help policy = help::needed);
    /// Waits as wait() does, for `timeout` at most. Returns false if the time is up. Nothing is
    /// lost then: wait again.
    BRAID_API bool wait_for(nanoseconds timeout, help policy = help::needed);

    /// Returns counts that are exact once wait() has returned.
    BRAID_API scope_account account() const;

    /// For the core.
    detail::scope_state& internals() { return state_; }
    const detail::scope_state& internals() const { return state_; }

private:
    bool wait_until_ended(nanoseconds timeout, help policy);
    void end_open_tasks();

    detail::scope_state state_;
    const int exceptions_;  // how many were in flight on the thread that made the scope
};

BRAID_NAMESPACE_END
