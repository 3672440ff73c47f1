#pragma once
// With readable() and writable(), a coroutine waits until a file descriptor can be read or written.
// The wait does not hold a thread.
//
//   while (true) {
//       co_await braid::readable(pipe);
//       if (read(pipe, buffer, sizeof buffer) <= 0) break;
//   }

#include "braid/async/await.hpp"
#include "braid/async/fd_source.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Holds the state of a task that waits until a file descriptor is ready. The object is stored in
/// the frame of the coroutine.
class fd_wait {
public:
    struct request {
        int descriptor;
        bool writes;
        nanoseconds deadline;
        const char* name;
        std::source_location where;
    };
    explicit fd_wait(const request& r) : request_(r) {}
    /// The object must not be moved after begin().
    fd_wait(fd_wait&& other) noexcept : request_(other.request_) {}

    /// Starts the wait. begin() must be called within a suspension. Returns false if there is no
    /// memory, or no thread for the timer of the deadline.
    BRAID_API bool begin(task_context& context);
    /// Ends the wait. end() must be called after the suspension. The returned event says whether
    /// the descriptor can be read or written.
    BRAID_API fd_event end();

private:
    struct state;

    request request_;
    state* state_ = nullptr;  // points into bytes_ from begin() to end()
    alignas(8) std::byte bytes_[144];
};

class fd_awaiter : public awaiter {
public:
    explicit fd_awaiter(const fd_wait::request& r) : wait_(r) {}
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        co_loop& loop = enter(by);
        loop.suspend();
        if (!wait_.begin(*loop.context)) loop.refused = true;
    }
    fd_event await_resume() {
        const await_result<fd_event> r = result();
        co_loop::raise(r);
        return r.value.value_or(fd_event{});
    }
    await_result<fd_event> result() {
        const fd_event came = wait_.end();
        await_result<fd_event> r{take(), {}};
        if (r) r.value = came;
        return r;
    }

private:
    fd_wait wait_;
};

}  // namespace detail

/// `co_await readable(descriptor)` waits until reading would not block or the other side has hung
/// up. The co_await returns an fd_event. Pipes, sockets, terminals and processes (by pidfd_open())
/// can be awaited, as with fd_source. A descriptor must have only one wait or source at a time, and
/// must stay open until the wait ends. No thread of the program waits, because the scheduler's
/// timer thread watches the descriptor. On Windows only sockets can be awaited: pass
/// `static_cast<int>(socket)`. The cast loses nothing, because a handle has 32 significant bits.
///
/// The co_await throws a completion_error if the descriptor is closed or is a regular file, if the
/// operating system cannot watch one more descriptor, if another source or wait already watches the
/// descriptor, or if the scheduler has a chooser. The what() of the error is a sentence with the
/// reason. `deadline` is the time from now until the wait fails with a completion_error of code
/// deadline_passed. While the scheduler drains, the wait continues. `name` must be a literal or
/// outlive the wait. Cost: one completion and two system calls.
inline auto readable(int descriptor, nanoseconds deadline = no_limit, const char* name = "readable",
                     std::source_location where = std::source_location::current()) {
    return detail::fd_awaiter({descriptor, false, deadline, name, where});
}
/// Like readable(), but waits until writing would not block.
inline auto writable(int descriptor, nanoseconds deadline = no_limit, const char* name = "writable",
                     std::source_location where = std::source_location::current()) {
    return detail::fd_awaiter({descriptor, true, deadline, name, where});
}

BRAID_NAMESPACE_END
