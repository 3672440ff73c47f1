#pragma once
// How the body of a task suspends: it releases its thread, and is called again later as the same
// task. Coroutines (async/co.hpp) are built on this. The body's closure is called once at the start
// and once for each resumption. It stays where it is until it returns without having suspended.

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

/// Lies at the beginning of the storage of a draft_kind::resumable task, until the storage holds
/// the task's value.
struct resumable_body {
    /// If the search is for the code that the body runs when it goes on, reports that code and
    /// returns true.
    bool (*show_code)(const resumable_body& self, code_search& to, held_code what) = nullptr;
};

struct suspension {
    bool first_is_enough = false;  // the task goes on when the first awaited task is complete
    /// The task goes on at once if its scope is cancelled. Set this only if nothing that the task
    /// awaits reaches into its frame.
    bool may_end_early = false;
    bool goes_last = false;  // the task goes on behind the tasks that are ready
};

/// Begins a suspension of the running task. The task goes on when all that it awaits from here on
/// is complete. Its body must return soon. The body is called again then, by any thread that may
/// run the task. Only tasks that have a future may suspend. The body calls this once for each
/// suspension.
BRAID_API void begin_suspension(task_context& context, const suspension& how = {});
/// The result of await_task(), which adds an edge to a task that has already started. `awaited` may
/// be complete by now, or at any moment. `refused` means a mistake, which is reported: the task
/// awaits itself, the id was never issued, there would be a cycle, or `awaited` needs a resource
/// that this task holds.
enum class awaiting : std::uint8_t { linked, no_memory, refused };
BRAID_API awaiting await_task(task_context& context, task_id awaited);
/// Returns true if the future belongs to the scheduler of the task. Otherwise the mistake is
/// reported.
BRAID_API bool may_await_value_of(task_context& context, const runtime& rt);
/// The one that ends a completion which a body awaits.
enum class ended_by : std::uint8_t {
    outside,   // somebody who has promised to: a device, a file, another process
    deadline,  // its own deadline, which is no failure
    program,   // a task or thread, as with an event or channel; nobody has promised it
};
/// Makes a completion like task_context::defer(), and an edge, so that the running task awaits it.
/// Returns the empty id if there is no memory, or no thread for a timer. Nothing stays armed then.
BRAID_API completion_id await_outside(task_context& context, completion_options&& with,
                                      ended_by by = ended_by::outside);
/// go_on_in() and go_on_at() set where the task goes on from now on. If there is no such thread,
/// go_on_at() reports the mistake and returns false.
BRAID_API bool go_on_in(task_context& context, task_class as);
BRAID_API bool go_on_at(task_context& context, thread_ref on);
/// Returns the time of the timers' clock in ns.
BRAID_API std::int64_t clock_of(task_context& context);
/// Marks the entrance of a call into the library. With a chooser, another thread may go on first.
BRAID_API void point(runtime& rt);
/// Settles a completion that a task awaits, to end that wait. May be called on any thread, in a
/// task or outside. Returns false if the completion was settled before.
BRAID_API bool complete_awaited(runtime& rt, completion_id id);

/// What came of a suspension. The body gets it from end_suspension() when it is called again.
struct resumption {
    std::exception_ptr error;  // of the first awaited task that failed
    bool cancelled = false;    // an awaited task was cancelled
    bool not_wanted = false;   // the task itself is cancelled
    task_id first;             // with first_is_enough: the first that came; empty if none did
};
BRAID_API resumption end_suspension(task_context& context);
/// Called when the body has learned that the task is cancelled. From here on until the task ends,
/// no cancellation ends what the task awaits or defers, and end_suspension() does not report the
/// cancellation again, so that the body can clean up.
BRAID_API void shield(task_context& context);

/// A wait of a task for an event. It lies in the frame of the task's coroutine.
class event_wait {
public:
    explicit event_wait(event& awaited) : awaited_(awaited) {}
    /// Returns true if the event was set, and takes it then.
    BRAID_API bool take();
    /// Begins the wait. Call it within a suspension. Returns false if there is no memory.
    BRAID_API bool begin(task_context& context);
    /// Called when the task does not want the event anymore. If the event is set, the next waiter
    /// gets it.
    BRAID_API void hand_on();

private:
    enum class stage : std::uint8_t { entering, entered, asked };
    static bool leave(void* self, completion_id id);

    event& awaited_;
    alignas(8) std::byte record_[56];  // a record of the parking lot
    atomic<stage> asked_{stage::entering};
};

}  // namespace detail
BRAID_NAMESPACE_END
