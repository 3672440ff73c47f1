// The functions by which bodies suspend. Each finds the running task and calls life/.
#include "braid/core/suspend.hpp"

#include "braid/core/task_context.hpp"
#include "core/control/seat_lease.hpp"
#include "core/control/settling.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

runtime& runtime_of_body(task_context& context) { return context.internals().rt; }
whole_seat& seat_of(task_context& context) { return *context.internals().seat; }
std::uint32_t slot_of_body(task_context& context) { return seat_of(context).top->slot; }

}  // namespace

void begin_suspension(task_context& context, const suspension& how) {
    running_task& running = *seat_of(context).top;
    running.suspended = true;
    runtime_of_body(context).begin_suspension(running.slot, how);
}

awaiting await_task(task_context& context, task_id awaited) {
    return runtime_of_body(context).await_task(seat_of(context), slot_of_body(context), awaited);
}

bool may_await_value_of(task_context& context, const runtime& rt) {
    const runtime& own = runtime_of_body(context);
    return BRAID_EXPECT(own.options.assertion, &own == &rt,
                        "the future is another scheduler's: await it in a coroutine of that one");
}

completion_id await_outside(task_context& context, completion_options&& with, ended_by by) {
    return runtime_of_body(context).await_outside(seat_of(context), slot_of_body(context), with,
                                                  by);
}

void go_on_in(task_context& context, task_class as) {
    runtime_of_body(context).go_on_in(slot_of_body(context), as);
}

bool go_on_at(task_context& context, thread_ref on) {
    return runtime_of_body(context).go_on_at(*context.internals().seat, slot_of_body(context), on);
}

std::int64_t clock_of(task_context& context) { return runtime_of_body(context).clock(); }

resumption end_suspension(task_context& context) {
    return runtime_of_body(context).end_suspension(slot_of_body(context));
}

void shield(task_context& context) { runtime_of_body(context).shield(slot_of_body(context)); }

void point(runtime& rt) { rt.point(); }

bool complete_awaited(runtime& rt, completion_id id) {
    whole_seat* const own = rt.bound();
    const runtime::settling call(rt, own);
    rt.point();
    const seat_lease seat(rt, own);
    return rt.settle_completion(*seat, id, {});
}

}  // namespace detail
BRAID_NAMESPACE_END
