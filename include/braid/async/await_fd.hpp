#pragma once
// A coroutine that reads or writes without a thread: it waits until a descriptor lets it.
//
//   while (true) {
//       co_await braid::readable(pipe);
//       if (read(pipe, buffer, sizeof buffer) <= 0) break;
//   }

#include "braid/async/await.hpp"
#include "braid/async/fd_source.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A wait of a task for a descriptor; lies in its coroutine's frame.
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
    /// Before it begins.
    fd_wait(fd_wait&& other) noexcept : request_(other.request_) {}

    /// Within a suspension. False: no memory.
    BRAID_API bool begin(task_context& context);
    /// After the suspension: what came.
    BRAID_API fd_event end();

private:
    struct state;

    request request_;
    state* state_ = nullptr;  // in bytes_, from begin() to end()
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

/// Until reading would not block, or the other side has gone; gives an fd_event. Pipes, sockets,
/// terminals, processes (by pidfd_open()): what fd_source takes, and one wait or source at a time
/// for each descriptor, which stays open meanwhile. No thread waits; the one of the timers watches.
///
/// Throws a completion_error where the descriptor is closed, a regular file, or one more than the
/// system watches, and under a chooser: what() is the sentence. After `deadline`, from now on, its
/// code is deadline_passed. A wait goes on while the scheduler drains. `name` is a literal or
/// outlives it. Cost: what a completion costs, and two calls into the system.
inline auto readable(int descriptor, nanoseconds deadline = no_limit, const char* name = "readable",
                     std::source_location where = std::source_location::current()) {
    return detail::fd_awaiter({descriptor, false, deadline, name, where});
}
/// Until writing would not block.
inline auto writable(int descriptor, nanoseconds deadline = no_limit, const char* name = "writable",
                     std::source_location where = std::source_location::current()) {
    return detail::fd_awaiter({descriptor, true, deadline, name, where});
}

BRAID_NAMESPACE_END
