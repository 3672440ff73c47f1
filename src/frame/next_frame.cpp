#include "braid/frame/next_frame.hpp"

#include "frame/frame_state.hpp"

#include <algorithm>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

bool wait_for_frame(frame_state* loop, frame_waiter& w, task_context& context,
                    const std::source_location& where) {
    if (loop == nullptr) return false;
    if (!loop->waiting.arm(w, context, loop->options.name, where)) return false;
    bool listed = false;
    {
        const locked lock(loop->waiting_guard.internals());
        listed = loop->waiting.list(w);
    }
    if (!listed) go_on(w);
    return true;
}

void frame_state::release_waiting(std::uint64_t frame) {
    // Those that wait now: one that goes on may be back for the frame after this one.
    std::size_t left = SIZE_MAX;
    do {
        frame_waiter* w = nullptr;
        {
            const locked lock(waiting_guard.internals());
            left = std::min(left, waiting.size());
            w = static_cast<frame_waiter*>(waiting.take());
        }
        if (w == nullptr) return;
        w->frame = frame;
        go_on(*w);
    } while (--left != 0);
}

}  // namespace detail
BRAID_NAMESPACE_END
