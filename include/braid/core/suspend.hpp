#pragma once
// How a body gives its thread back and is called again later, as the same task: the ground of
// coroutines (async/co.hpp). The body's closure is called once at the start and once for each
// resumption, and stays where it is until it returns without having suspended.

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

/// Stands first in the storage of a draft_kind::resumable task, until that holds its value.
struct resumable_body {
    /// Reports the code that it runs when it goes on, if that is searched for: true.
    bool (*show_code)(const resumable_body& self, code_search& to, held_code what) = nullptr;
};

struct suspension {
    bool first_is_enough = false;  // of the tasks that are awaited
    /// If the task's scope is cancelled it goes on at once. Only where nothing that it awaits
    /// reaches into its frame.
    bool may_end_early = false;
    bool goes_last = false;  // behind the tasks that are ready
};

/// The running task goes on when all that it awaits from here on is complete: its body returns
/// soon, and is called again then, by any thread that may run it. Only tasks that have a future
/// may. Called by the body, once for each suspension.
BRAID_API void begin_suspension(task_context& context, const suspension& how = {});
/// An edge after the start. The task may be complete by now, or at any moment. False: refused.
/// Reported where it is a mistake (the task itself, an id that was never issued, a cycle, a
/// resource that this task holds); otherwise no memory.
enum class awaiting : std::uint8_t { linked, no_memory, refused };
BRAID_API awaiting await_task(task_context& context, task_id awaited);
/// False, and reported: that future is another scheduler's than the task.
BRAID_API bool may_await_value_of(task_context& context, const runtime& rt);
/// Who ends what a body awaits by a completion.
enum class ended_by : std::uint8_t {
    outside,   // somebody who has promised it: a device, a file, another process
    deadline,  // its own, which is no failure
    program,   // another task or thread, as with an event or a channel: nobody has promised it
};
/// defer(), and an edge. Empty: no memory, and nothing is armed.
BRAID_API completion_id await_outside(task_context& context, completion_options&& with,
                                      ended_by by = ended_by::outside);
/// Where it goes on from now on. False, and reported: there is no such thread.
BRAID_API bool go_on_in(task_context& context, task_class as);
BRAID_API bool go_on_at(task_context& context, thread_ref on);
/// In ns; of timers.
BRAID_API std::int64_t clock_of(task_context& context);
/// At the entrance of a call: with a chooser another thread may go on first.
BRAID_API void point(runtime& rt);
/// Away from a coroutine that ends a wait of another one.
BRAID_API bool complete_awaited(runtime& rt, completion_id id);

/// What came of it, asked by the body when it is called again.
struct resumption {
    std::exception_ptr error;  // of the first that failed
    bool cancelled = false;    // one was cancelled
    bool not_wanted = false;   // the task itself is cancelled
    task_id first;             // where the first was enough; empty: none came
};
BRAID_API resumption end_suspension(task_context& context);
/// The body has learned that it is not wanted any more. From here on until the task ends no
/// cancellation ends what it awaits or defers, and end_suspension() does not say it again: it
/// cleans up.
BRAID_API void shield(task_context& context);

/// A wait of a task for an event; lies in its coroutine's frame.
class event_wait {
public:
    explicit event_wait(event& awaited) : awaited_(awaited) {}
    /// True: the event was set, and is taken.
    BRAID_API bool take();
    /// Within a suspension. False: no memory.
    BRAID_API bool begin(task_context& context);
    /// The task does not want it any more: who waits after it has it.
    BRAID_API void hand_on();

private:
    enum class stage : std::uint8_t { entering, entered, asked };
    static bool leave(void* self, completion_id id);

    event& awaited_;
    alignas(8) std::byte record_[56];  // of the parking lot
    atomic<stage> asked_{stage::entering};
};

}  // namespace detail
BRAID_NAMESPACE_END
