// Bodies that give their thread back: finds the running task and goes to life/.
#include "braid/core/suspend.hpp"

#include "braid/core/task_context.hpp"
#include "core/control/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

whole_seat& seat_of(task_context& context) { return *context.internals().seat; }

}  // namespace

void begin_suspension(task_context& context) {
    running_task& running = *seat_of(context).top;
    running.suspended = true;
    context.internals().rt.begin_suspension(running.slot);
}

bool await_task(task_context& context, task_id awaited) {
    whole_seat& w = seat_of(context);
    return context.internals().rt.await_task(w, w.top->slot, awaited);
}

resumption end_suspension(task_context& context) {
    resumption came;
    came.error =
        context.internals().rt.take_awaited_failure(seat_of(context).top->slot, came.cancelled);
    return came;
}

}  // namespace detail
BRAID_NAMESPACE_END
