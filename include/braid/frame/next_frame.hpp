#pragma once
// next_frame() lets a coroutine do a piece of its work in each frame.
//
//   braid::co<> fade(braid::frame_loop& loop, light& l) {
//       for (int i = 0; i < 60; ++i) {
//           co_await braid::next_frame(loop);
//           l.dim();
//       }
//   }

#include "braid/async/await.hpp"
#include "braid/async/waiting_tasks.hpp"
#include "braid/frame/frame_loop.hpp"

#include <cstdint>
#include <source_location>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct frame_waiter : waiting_task {
    std::uint64_t frame = 0;  // set by the thread that completes the waiter
};
/// Adds `w` to the waiters of `loop`. wait_for_frame() must be called within a suspension. Returns
/// false if there is no memory.
BRAID_API bool wait_for_frame(frame_state* loop, frame_waiter& w, task_context& context,
                              const std::source_location& where);

class frame_awaiter : public awaiter {
public:
    frame_awaiter(frame_state* loop, std::source_location where) : frames_(loop), where_(where) {}
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        co_loop& loop = enter(by);
        loop.suspend();
        if (!wait_for_frame(frames_, own_, *loop.context, where_)) loop.refused = true;
    }
    std::uint64_t await_resume() {
        const await_result<std::uint64_t> r = result();
        co_loop::raise(r);
        return r.value.value_or(0);
    }
    await_result<std::uint64_t> result() {
        await_result<std::uint64_t> r{take(), {}};
        if (r) r.value = own_.frame;
        return r;
    }

private:
    frame_state* frames_;
    std::source_location where_;
    frame_waiter own_;
};

}  // namespace detail

/// Suspends the coroutine until advance() begins the next frame. The result of co_await is the
/// number of that frame, or 0 if the loop is destroyed instead. The resumed coroutine runs in
/// parallel with the frame and is not part of the frame.
inline auto next_frame(frame_loop& loop,
                       std::source_location where = std::source_location::current()) {
    return detail::frame_awaiter(loop.internals(), where);
}

BRAID_NAMESPACE_END
