#pragma once
// A task whenever a descriptor has something: a pipe, a socket, a terminal, an event of the
// system's.

#include "braid/async/source_task.hpp"
#include "braid/base/export.hpp"
#include "braid/core/scheduler.hpp"

#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN

struct fd_options {
    const char* name = "descriptor";  // of its tasks, too; outlives the source
    /// Stays the program's, and open as long as the source lives: one that is closed before may be
    /// another file by then. In one source at a time; give each its own by dup().
    int descriptor = -1;
    bool readable = true;   // waits until reading would not block
    bool writable = false;  // waits until writing would not block
    source_task task = {};
    std::source_location where = std::source_location::current();
};

/// What can be done without blocking.
struct fd_event {
    int descriptor = -1;
    bool readable = false;
    bool writable = false;
    /// The other side has gone, or an error waits: read what is left, then stop().
    bool hung_up = false;
};

/// Each time the descriptor has something a task calls `f`: f(), f(const fd_event&), or either with
/// a task_context& first. It is waited for again when that task is complete with its children, so
/// there are never two at a time; what is left unread brings the next one. One that has hung up
/// does so again and again: stop() it.
///
/// The thread is that of the timers, see timer. Where the descriptor is closed, a regular file, or
/// one more than the system watches, and under a chooser, error() says so and nothing comes.
/// Without memory for a task the event waits, and is tried again in 10 ms. A
/// source must be destroyed before its scheduler. Any thread may call; a task of its own all but
/// the destructor. Cost: three calls into the system and two tasks an event.
class fd_source {
public:
    template <class F>
        requires detail::source_callable<std::decay_t<F>, const fd_event&>
    fd_source(scheduler& s, const fd_options& options, F&& f) : rt_(s.internals()) {
        detail::source_body<const fd_event&> body;
        if (body.emplace(rt_, std::forward<F>(f))) start(options, body);
    }
    /// stop(); returns when its task that may be open is complete, and helps with it. Not from
    /// that task, which would wait for itself: that is reported, and memory stays.
    BRAID_API ~fd_source();
    fd_source(const fd_source&) = delete;
    fd_source& operator=(const fd_source&) = delete;

    /// No further task is made; one that was made goes on.
    BRAID_API void stop();
    /// Null: it waits for the descriptor, or was stopped. Else one sentence that says why not.
    BRAID_API const char* error() const;
    /// The task of the latest event; empty: there was none.
    BRAID_API task_id task() const;
    /// For how many a task was made.
    BRAID_API std::uint64_t events() const;

private:
    struct state;
    BRAID_API void start(const fd_options& options, detail::source_body<const fd_event&>& body);
    void end();

    detail::runtime& rt_;
    state* state_ = nullptr;  // null: no memory, or the scheduler has ended
};

BRAID_NAMESPACE_END
