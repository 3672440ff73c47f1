// braid::wait_all(): one wait for several tasks. It waits for one of them after the other, while
// the needs of all that are left count. What fails meanwhile is received by a record for each task.
#include "braid/core/error.hpp"
#include "braid/core/scheduler.hpp"
#include "core/control/seat_lease.hpp"
#include "core/task/words.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// A step of the recursion below has as many records in its frame: most waits are for few tasks.
constexpr std::size_t records_a_step = 8;

class wait_for_all {
public:
    wait_for_all(runtime& rt, task_ids ids, nanoseconds timeout, help policy)
        : rt_(rt),
          ids_(ids),
          policy_(policy),
          is_look_(timeout <= nanoseconds{0}),
          deadline_(timeout == no_limit ? INT64_MAX : deadline_after(now(), timeout)) {}

    bool run() { return receive_from(0); }
    /// The failure to throw. The caller owns it. Null: none failed.
    outcome* take_failure() { return std::exchange(failure_, nullptr); }

private:
    std::int64_t now() const {
        return rt_.serial() != nullptr ? rt_.serial()->now() : active_policy::now();
    }

    /// Recursion, so that the records need no memory but the stack, and not more than there are
    /// ids.
    [[gnu::noinline]] bool receive_from(std::size_t first) {
        if (first >= ids_.size) return wait_for_each();
        wait_record records[records_a_step];
        bool entered[records_a_step] = {};
        const std::size_t count = std::min(ids_.size - first, records_a_step);
        for (std::size_t i = 0; i < count; ++i)
            entered[i] = enter(records[i], ids_.data[first + i]);
        const bool over = receive_from(first + count);
        for (std::size_t i = count; i-- != 0;) {
            if (entered[i] && rt_.lot().leave(records[i])) receive(records[i].result);
        }
        return over;
    }

    /// False: it is complete.
    bool enter(wait_record& record, task_id id) {
        if (!id || !rt_.is_open(id)) return false;
        const whole_seat* const w = rt_.bound();
        record.limited = deadline_ != INT64_MAX;
        if (w != nullptr) record.depth = static_cast<std::uint16_t>(std::min(w->depth, 65535U));
        return rt_.lot().enter(record, id.value, w != nullptr ? w->index : no_seat, [&] {
            return mark_waited(rt_.slot_at(id).successors, generation_of(id.value));
        });
    }

    /// From the last id to the first, since what a thread made last lies where it takes it first.
    bool wait_for_each() {
        bool waited = false;
        for (std::size_t i = ids_.size; i-- != 0;) {
            const task_id id = ids_.data[i];
            if (!id || !rt_.is_open(id)) continue;
            const nanoseconds left = time_left();
            // Without time one wait looks, and runs a piece of work at most.
            if (left == nanoseconds{0} && (waited || !is_look_)) return false;
            waited = true;
            const task_ids others(ids_.data, i);
            outcome* received = nullptr;
            const bool over =
                rt_.wait_here({.task = id, .also = &others}, left, policy_, &received);
            rt_.drop(received);  // its record in receive_from() has it, too
            if (!over) return false;
        }
        return true;
    }

    nanoseconds time_left() const {
        if (deadline_ == INT64_MAX) return no_limit;
        return nanoseconds{std::max<std::int64_t>(deadline_ - now(), 0)};
    }

    /// From the last id to the first. An error counts before a mere cancellation. The handler for
    /// unobserved exceptions gets those that are not thrown.
    void receive(outcome* result) {
        if (result == nullptr) return;
        if (failure_ == nullptr || result->error != nullptr || failure_->error == nullptr) {
            std::swap(result, failure_);
        }
        rt_.drop(result);
    }

    runtime& rt_;
    const task_ids ids_;
    const help policy_;
    const bool is_look_;
    const std::int64_t deadline_;
    outcome* failure_ = nullptr;
};

}  // namespace
}  // namespace detail

bool wait_all(scheduler& s, task_ids ids, nanoseconds timeout, help policy) {
    detail::runtime& rt = s.internals();  // a task that runs meanwhile may destroy `s`
    if (!BRAID_EXPECT(
            rt.options().assertion, ids.size <= most_awaited,
            "wait_all() takes 256 ids at most: give more tasks a scope and wait for it")) {
        return false;
    }
    for (std::size_t i = 0; i < ids.size; ++i) {
        // One that is refused counts as complete, as in wait().
        (void)BRAID_EXPECT(rt.options().assertion,
                           !ids.data[i] || rt.state_of(ids.data[i]) != task_state::unknown,
                           "wait only for ids that this scheduler has issued");
    }
    const detail::long_call call(rt);
    detail::wait_for_all wait(rt, ids, timeout, policy);
    const bool over = wait.run();
    rt.raise(wait.take_failure());
    return over;
}

BRAID_NAMESPACE_END
