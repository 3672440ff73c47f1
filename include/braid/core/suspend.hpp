#pragma once
// How a body gives its thread back and is called again later, as the same task: the ground of
// coroutines (async/co.hpp). The body's closure is called once at the start and once for each
// resumption, and stays where it is until it returns without having suspended.

#include "braid/base/export.hpp"
#include "braid/core/task.hpp"

#include <exception>

BRAID_NAMESPACE_BEGIN
class task_context;
namespace detail {

/// The running task goes on when all that it awaits from here on is complete: its body returns
/// soon, and is called again then, by any thread that may run it. Only tasks that have a future
/// may. Called by the body, once for each suspension.
BRAID_API void begin_suspension(task_context& context);
/// An edge after the start. The task may be complete by now, or at any moment. False: refused, and
/// reported where it is a mistake (the task itself, an id that was never issued, a cycle), or no
/// memory; the caller goes on with what is awaited so far.
BRAID_API bool await_task(task_context& context, task_id awaited);

/// What came of it, asked by the body when it is called again.
struct resumption {
    std::exception_ptr error;  // of the first that failed
    bool cancelled = false;    // one was cancelled, or the task is not wanted any more
};
BRAID_API resumption end_suspension(task_context& context);

}  // namespace detail
BRAID_NAMESPACE_END
