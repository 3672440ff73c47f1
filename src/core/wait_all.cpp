// braid::wait_all(): one wait for several tasks, with a record for each of them.
#include "braid/core/error.hpp"
#include "braid/core/scheduler.hpp"
#include "core/control/seat_lease.hpp"
#include "core/control/settling.hpp"
#include "core/wait/wait_list.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

struct call_of_wait_all {
    runtime& rt;
    task_ids ids;
    nanoseconds timeout;
    help policy;
    bool over = true;
    outcome* failure = nullptr;  // is rethrown at the end

    void wait(wait_list::part* last) {
        wait_list list(last);
        if (!list.advance()) return rt.point();
        {
            const long_call call(rt);  // must end before a handler is called, which may take long
            over = rt.wait_here(list.target(), timeout, policy, nullptr);
        }
        list.take_results([&](outcome* result) { receive(result); });
    }

    /// Receives the failures from the last id to the first and selects the one to throw. An error
    /// counts before a mere cancellation. The handler for unobserved exceptions gets the others.
    void receive(outcome* result) {
        if (failure == nullptr || result->error != nullptr || failure->error == nullptr) {
            std::swap(result, failure);
        }
        rt.outcomes.drop(result);
    }
};

/// Puts the records of some ids on the stack and calls itself for the remaining ids. So it uses
/// only as much of the stack as the ids need.
[[gnu::noinline]] void wait_with_part(call_of_wait_all& call, std::size_t first,
                                      wait_list::part* before) {
    if (first == call.ids.size) return call.wait(before);
    const std::size_t count = std::min(call.ids.size - first, wait_list::records_a_part);
    wait_list::part part{before, {call.ids.data + first, count}, {}};
    for (std::size_t i = 0; i < count; ++i) {
        const task_id id = part.ids.data[i];
        part.records[i].done.store(!id || !call.rt.slots.is_open(id), relaxed);
    }
    wait_with_part(call, first + count, &part);
}

}  // namespace
}  // namespace detail

bool wait_all(scheduler& s, task_ids ids, nanoseconds timeout, help policy) {
    detail::runtime& rt = s.internals();  // a task that runs meanwhile may destroy `s`
    if (!BRAID_EXPECT(
            rt.options.assertion, ids.size <= most_awaited,
            "wait_all() takes 256 ids at most: give more tasks a scope and wait for it")) {
        return false;
    }
    for (std::size_t i = 0; i < ids.size; ++i) {
        // An id that is refused counts as complete, as in wait().
        (void)BRAID_EXPECT(rt.options.assertion,
                           !ids.data[i] || rt.slots.state_of(ids.data[i]) != task_state::unknown,
                           "wait only for ids that this scheduler has issued");
    }
    const detail::runtime::settling stays(rt);  // keeps `rt` alive, also while handlers run
    detail::call_of_wait_all wait{rt, ids, timeout, policy};
    detail::wait_with_part(wait, 0, nullptr);
    rt.outcomes.raise(wait.failure);
    return wait.over;
}

BRAID_NAMESPACE_END
