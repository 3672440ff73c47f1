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

/// What the core keeps of a scope.
struct scope_state {
    // Each seat counts in its own shard, so that posting shares no line between threads.
    // "Done" is: all `ended` read first, all `created` read after, and the sums are equal.
    struct alignas(64) shard {
        atomic<std::uint64_t> created{0};
        atomic<std::uint64_t> ended{0};  // bit 63: a waiter sleeps, notify it
        atomic<std::uint64_t> failed{0}, cancelled{0};
    };
    static constexpr unsigned shards = 16;
    /// The first seats have a shard each, the others share the last.
    static constexpr unsigned shard_of(unsigned seat) {
        return seat < shards - 1 ? seat : shards - 1;
    }
    static constexpr std::uint64_t waited_bit = std::uint64_t{1} << 63;

    runtime& rt;
    on_failure policy;
    const char* name;  // null: it has none
    atomic<bool> cancelled{false};
    task_environment environment;
    std::exception_ptr first_failure = nullptr;  // guarded by outcome_room's mutex
    shard counts[shards] = {};
};

}  // namespace detail

/// A set of tasks that are counted, waited for and cancelled together: the cheap way to know
/// that many posted tasks are done. Tasks spawned by its tasks belong to it too. Any thread may
/// add and cancel. wait() before it is destroyed: only there do failures come out.
class scope {
public:
    /// Made inside a task without an environment of its own, a scope has the task's.
    BRAID_API explicit scope(scheduler& s, on_failure policy = on_failure::go_on,
                             const task_environment& environment = {});
    /// `name`: for reports; lives as long as the scope.
    BRAID_API scope(scheduler& s, const char* name, on_failure policy = on_failure::go_on,
                    const task_environment& environment = {});
    /// Returns when every task of the scope has ended, and helps with them. If an exception leaves
    /// the block that the scope was made in, tasks that have not started are cancelled; otherwise a
    /// warning says that wait() was forgotten. A failure that no wait() has rethrown goes to the
    /// unobserved-exception handler. In one of its own tasks it could never return: that is
    /// reported, and std::terminate ends the program.
    BRAID_API ~scope();
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    /// False: refused, as in scheduler::spawn().
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

    /// Tasks that have not started are cancelled; running ones see task_context::cancelled().
    BRAID_API void cancel();
    bool cancelled() const { return state_.cancelled.load(acquire); }

    /// Returns when every task of the scope has ended, running them meanwhile. Rethrows the first
    /// failure, once; the others went to the unobserved-exception handler.
    BRAID_API void wait(help policy = help::needed);
    /// False: the time is up; nothing is lost, wait again.
    BRAID_API bool wait_for(nanoseconds timeout, help policy = help::needed);

    /// Exact once wait() has returned.
    BRAID_API scope_account account() const;

    /// For the core.
    detail::scope_state& internals() { return state_; }
    const detail::scope_state& internals() const { return state_; }

private:
    bool wait_until_ended(nanoseconds timeout, help policy);
    void end_open_tasks();

    detail::scope_state state_;
    const int exceptions_;  // in flight on the thread that made it
};

BRAID_NAMESPACE_END
