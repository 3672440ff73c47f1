#pragma once
// This header lets the body of a task suspend: the body releases its thread, and is called again
// later as the same task. Coroutines (async/co.hpp) are built on this. The body's closure is called
// once at the start and once for each resumption. The closure is not moved or destroyed until a
// call of the closure returns without having suspended.

#include "braid/base/export.hpp"
#include "braid/base/mutex.hpp"
#include "braid/base/policy.hpp"
#include "braid/core/completion.hpp"
#include "braid/core/task.hpp"

#include <cstddef>
#include <exception>

BRAID_NAMESPACE_BEGIN
class code_search;
class event;
class task_context;
struct held_code;
namespace detail {
class runtime;

/// The first object in the storage of a draft_kind::resumable task. It stays in the storage until
/// the task's value replaces it.
struct resumable_body {
    /// Reports the code that the body will run when it resumes, if the code is in the range of the
    /// search. Returns true if it reported code.
    bool (*show_code)(const resumable_body& self, code_search& to, held_code what) = nullptr;
};

struct suspension {
    bool first_is_enough = false;  // the task resumes when the first awaited task is complete
    /// The task resumes at once if its scope is cancelled. Set this only if no awaited work uses
    /// the task's frame.
    bool may_end_early = false;
    bool goes_last = false;  // the task resumes behind the tasks that are ready
};

/// Begins a suspension of the running task. The body must call this once for each suspension before
/// it awaits tasks or completions, and must return soon afterward. The task resumes when everything
/// that it awaits is complete: any thread that may run the task then calls the body again. Only
/// tasks that have a future may suspend.
BRAID_API void begin_suspension(task_context& context, const suspension& how = {});
/// The result of await_task(), which makes a task that has already started wait for `awaited`. The
/// task `awaited` may be complete already, or may complete at any moment. `refused` means that the
/// caller made a mistake, which is reported to the assertion handler: the task awaits itself, the
/// id was never issued, there would be a cycle, or `awaited` needs a resource with a limit of 1
/// that this task holds.
enum class awaiting : std::uint8_t { linked, no_memory, refused };
BRAID_API awaiting await_task(task_context& context, task_id awaited);
/// Returns true if the future belongs to the scheduler of the task. Otherwise calls the assertion
/// handler and returns false.
BRAID_API bool may_await_value_of(task_context& context, const runtime& rt);
/// The party that ends a completion that a body awaits.
enum class ended_by : std::uint8_t {
    outside,   // a device, a file or another process, which has promised to end it
    deadline,  // the deadline of the completion, which is not a failure
    program,   // a task or thread, as with an event or channel; nobody has promised to end it
};
/// Makes a completion, as task_context::defer() does, and makes the running task await the
/// completion. Returns the empty id if there is no memory, or no thread for a timer. In this case
/// nothing stays armed.
BRAID_API completion_id await_outside(task_context& context, completion_options&& with,
                                      ended_by by = ended_by::outside);
/// go_on_in() and go_on_at() set the threads on which the task runs from now on. If the thread `on`
/// does not exist, go_on_at() reports the mistake and returns false.
BRAID_API void go_on_in(task_context& context, task_class as);
BRAID_API bool go_on_at(task_context& context, thread_ref on);
/// Returns the current time of the timers' clock in ns.
BRAID_API std::int64_t clock_of(task_context& context);
/// Marks the start of a call into the library. If a chooser is installed, another thread may run
/// before the function returns.
BRAID_API void point(runtime& rt);
/// Settles a completion that a task awaits, which ends the task's wait. Any thread may call it,
/// inside or outside a task. Returns false if the completion was already settled.
BRAID_API bool complete_awaited(runtime& rt, completion_id id);

/// The outcome of a suspension. After a suspension, the body is called again and gets this outcome
/// from end_suspension().
struct resumption {
    std::exception_ptr error;  // the exception of the first awaited task that failed
    bool cancelled = false;    // an awaited task was cancelled
    bool not_wanted = false;   // the task itself is cancelled
    task_id first;             // with first_is_enough, the first complete task; empty if none is
};
BRAID_API resumption end_suspension(task_context& context);
/// The body calls this when it has learned that the task is cancelled. From this call until the
/// task ends, no cancellation ends a wait that the task begins or a completion that it defers, and
/// end_suspension() does not report the cancellation again. The body can therefore clean up.
BRAID_API void shield(task_context& context);

/// Lets a task wait for an event. The object must be in the frame of the task's coroutine.
class event_wait {
public:
    explicit event_wait(event& awaited) : awaited_(awaited) {}
    /// Takes the event for the task if the event is set, and returns true. Taking an automatic
    /// event clears it. Returns false if the event is not set.
    BRAID_API bool take();
    /// Begins the wait. It must be called within a suspension. Returns false if there is no memory.
    BRAID_API bool begin(task_context& context);
    /// The task calls this when it does not want the event anymore. If the event is set, the next
    /// waiter is woken to take it.
    BRAID_API void hand_on();

private:
    enum class stage : std::uint8_t { entering, entered, asked };
    static bool leave(void* self, completion_id id);

    event& awaited_;
    alignas(8) std::byte record_[56];  // stores a record of the parking lot
    atomic<stage> asked_{stage::entering};
};

}  // namespace detail
BRAID_NAMESPACE_END
