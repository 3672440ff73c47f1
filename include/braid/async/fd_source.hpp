#pragma once
// fd_source makes a task each time that a file descriptor is ready. The descriptor may be a pipe, a
// socket, a terminal, or an event of the operating system.

#include "braid/async/source_task.hpp"
#include "braid/base/export.hpp"
#include "braid/core/scheduler.hpp"

#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN

struct fd_options {
    const char* name = "descriptor";  // also the name of the tasks; must outlive the source
    /// The descriptor belongs to the program, and the source never closes it. The descriptor must
    /// stay open as long as the source lives, because the operating system may reuse the number of
    /// a closed descriptor for another file. A descriptor must be in only one source at a time. Use
    /// dup() to give each source its own descriptor. On Windows the descriptor must be a socket,
    /// as `static_cast<int>(socket)`: a handle has 32 significant bits.
    int descriptor = -1;
    bool readable = true;   // wait until reading would not block
    bool writable = false;  // wait until writing would not block
    source_task task = {};
    std::source_location where = std::source_location::current();
};

/// Describes which operations on the descriptor would not block.
struct fd_event {
    int descriptor = -1;
    bool readable = false;
    bool writable = false;
    /// Set if the other side has hung up, or if there is an error. Read the remaining data, then
    /// call stop().
    bool hung_up = false;
};

/// Each time the descriptor is ready, the source makes a task that calls f() or f(const fd_event&).
/// In both forms, `f` may have a task_context& as its first parameter. The source waits for the
/// descriptor again when this task and its children are complete, so two tasks of the source never
/// run at the same time. If `f` leaves data unread, the source makes another task for the data. A
/// descriptor that has hung up stays ready, and the source makes tasks until stop() is called.
///
/// The scheduler's timer thread watches the descriptor (see class timer). If the descriptor cannot
/// be watched, the source makes no tasks, and error() returns the reason: the descriptor is closed
/// or is a regular file, another source or wait already watches the descriptor, the operating
/// system cannot watch one more descriptor, the scheduler has a chooser, or there is no memory or
/// no thread for the source. If there is no memory for a task, the source keeps the event and tries
/// again in 10 ms. A source must be destroyed before its scheduler. Any thread may call the
/// functions of a source. A task of the source may call all functions except the destructor. Cost:
/// three system calls and two tasks for each event.
class fd_source {
public:
    template <class F>
        requires detail::source_callable<std::decay_t<F>, const fd_event&>
    fd_source(scheduler& s, const fd_options& options, F&& f) : rt_(s.internals()) {
        detail::source_body<const fd_event&> body;
        if (body.emplace(rt_, std::forward<F>(f))) start(options, body);
    }
    /// Calls stop(), then waits until the last task of the source is complete. The calling thread
    /// helps with this task. A task of the source must not destroy the source, because the task
    /// would wait for itself. If it does, the assertion handler is called, and the memory of the
    /// source is not released.
    BRAID_API ~fd_source();
    fd_source(const fd_source&) = delete;
    fd_source& operator=(const fd_source&) = delete;

    /// Ends the source, so that it makes no further tasks. A task that was made before stop()
    /// continues.
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
