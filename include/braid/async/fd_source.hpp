#pragma once
// fd_source makes a task each time that a descriptor is ready. The descriptor may be a pipe, a
// socket, a terminal, or an event of the system.

#include "braid/async/source_task.hpp"
#include "braid/base/export.hpp"
#include "braid/core/scheduler.hpp"

#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN

struct fd_options {
    const char* name = "descriptor";  // also the name of the tasks; must outlive the source
    /// The descriptor belongs to the program, and the source never closes it. The descriptor must
    /// stay open as long as the source lives, because the system may reuse the number of a closed
    /// descriptor for another file. A descriptor must be in only one source at a time. Use dup() to
    /// give each source its own descriptor.
    int descriptor = -1;
    bool readable = true;   // wait until reading would not block
    bool writable = false;  // wait until writing would not block
    source_task task = {};
    std::source_location where = std::source_location::current();
};

/// What can be done with the descriptor without blocking.
struct fd_event {
    int descriptor = -1;
    bool readable = false;
    bool writable = false;
    /// Set if the other side has hung up, or if there is an error. Read the remaining data, then
    /// call stop().
    bool hung_up = false;
};

/// Each time the descriptor is ready, the source makes a task that calls f() or f(const fd_event&),
/// or either of them with a task_context& in front. The source waits for the descriptor again when
/// this task and its children are complete, so two of these tasks never run at the same time. If
/// `f` leaves data unread, the source makes another task for the data. A descriptor that has hung
/// up is ready again and again. Call stop() to end the tasks.
///
/// The scheduler's timer thread watches the descriptor, see timer. The source makes no tasks, and
/// error() says why, if the descriptor is closed or is a regular file, if the system cannot watch
/// one more descriptor, or if the scheduler has a chooser. The same holds if another source or wait
/// already watches the descriptor, or if there is no memory or thread for it. If there is no memory
/// for a task, the source keeps the event and tries again in 10 ms. A source must be destroyed
/// before its scheduler. Any thread may call the functions of a source. A task of the source may
/// call everything except the destructor. Cost: three system calls and two tasks for each event.
class fd_source {
public:
    template <class F>
        requires detail::source_callable<std::decay_t<F>, const fd_event&>
    fd_source(scheduler& s, const fd_options& options, F&& f) : rt_(s.internals()) {
        detail::source_body<const fd_event&> body;
        if (body.emplace(rt_, std::forward<F>(f))) start(options, body);
    }
    /// Calls stop(), then waits until the last task of the source is complete, and helps with this
    /// task. A task of the source must not destroy the source, because the task would wait for
    /// itself. This mistake is reported, and the memory is not released.
    BRAID_API ~fd_source();
    fd_source(const fd_source&) = delete;
    fd_source& operator=(const fd_source&) = delete;

    /// Ends the source: no further task is made. A task that was made before runs on.
    BRAID_API void stop();
    /// Returns null if the source waits for the descriptor, or was stopped. Otherwise returns a
    /// sentence that says why the source does not wait.
    BRAID_API const char* error() const;
    /// Returns the task of the latest event, or the task that runs after it and watches the
    /// descriptor again. In either case, the task of the event is complete when the returned task
    /// is complete. Returns an empty id if there was no event.
    BRAID_API task_id task() const;
    /// Returns the number of events for which a task was made.
    BRAID_API std::uint64_t events() const;

private:
    struct state;
    BRAID_API void start(const fd_options& options, detail::source_body<const fd_event&>& body);
    void end();

    detail::runtime& rt_;
    state* state_ = nullptr;  // null if there was no memory, or the scheduler has ended
};

BRAID_NAMESPACE_END
