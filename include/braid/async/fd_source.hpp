#pragma once
// fd_source makes a task whenever a descriptor is ready: a pipe, a socket, a terminal, or an event
// of the system.

#include "braid/async/source_task.hpp"
#include "braid/base/export.hpp"
#include "braid/core/scheduler.hpp"

#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN

struct fd_options {
    const char* name = "descriptor";  // also the name of the tasks; must outlive the source
    /// The descriptor stays the program's. It must stay open as long as the source lives: after an
    /// earlier close its number may name another file. It may be in one source at a time; give each
    /// source its own descriptor by dup().
    int descriptor = -1;
    bool readable = true;   // waits until reading would not block
    bool writable = false;  // waits until writing would not block
    source_task task = {};
    std::source_location where = std::source_location::current();
};

/// What the descriptor allows without blocking.
struct fd_event {
    int descriptor = -1;
    bool readable = false;
    bool writable = false;
    /// The other side has gone, or there is an error. Read what is left, then call stop().
    bool hung_up = false;
};

/// Each time the descriptor is ready, a task calls `f`: f(), f(const fd_event&), or either with a
/// task_context& first. The source waits for the descriptor again when that task and its children
/// are complete, so there are never two tasks at a time. What is left unread brings the next task.
/// A descriptor that has hung up is ready again and again: call stop().
///
/// The thread of the timers watches the descriptor, see timer. If the descriptor is closed, is a
/// regular file, or is one more than the system watches, and under a chooser, error() says so and
/// no task comes. Without memory for a task the event stays, and is tried again in 10 ms. A source
/// must be destroyed before its scheduler. Any thread may call; a task of the source may call
/// everything except the destructor. Cost: three calls into the system and two tasks for each
/// event.
class fd_source {
public:
    template <class F>
        requires detail::source_callable<std::decay_t<F>, const fd_event&>
    fd_source(scheduler& s, const fd_options& options, F&& f) : rt_(s.internals()) {
        detail::source_body<const fd_event&> body;
        if (body.emplace(rt_, std::forward<F>(f))) start(options, body);
    }
    /// Calls stop(), then returns when the task that may be open is complete, and helps with it. A
    /// task of the source must not destroy the source, because it would wait for itself: this is
    /// reported, and the memory is not released.
    BRAID_API ~fd_source();
    fd_source(const fd_source&) = delete;
    fd_source& operator=(const fd_source&) = delete;

    /// Ends the source: no further task is made. A task that was made before goes on.
    BRAID_API void stop();
    /// Returns null if the source waits for the descriptor, or was stopped. Otherwise returns one
    /// sentence that says why it does not wait.
    BRAID_API const char* error() const;
    /// Returns the task of the latest event, or the task after it that watches the descriptor
    /// again: when that one is complete, so is the task of the event. Returns an empty id if there
    /// was no event.
    BRAID_API task_id task() const;
    /// Returns for how many events a task was made.
    BRAID_API std::uint64_t events() const;

private:
    struct state;
    BRAID_API void start(const fd_options& options, detail::source_body<const fd_event&>& body);
    void end();

    detail::runtime& rt_;
    state* state_ = nullptr;  // null if there was no memory, or the scheduler has ended
};

BRAID_NAMESPACE_END
