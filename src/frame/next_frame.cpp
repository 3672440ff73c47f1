#include "braid/frame/next_frame.hpp"

#include "frame/frame_state.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

bool wait_for_frame(frame_state* loop, frame_waiter& w, task_context& context,
                    const std::source_location& where) {
    if (loop == nullptr) return false;
    if (!loop->waiting.arm(w, context, loop->options.name, where)) return false;
    bool waits = false;
    {
        const locked lock(loop->waiting_mutex);
        waits = loop->waiting.list(w);
    }
    if (!waits) complete_awaited(loop->rt, w.id);
    return true;
}

void frame_state::release_waiting(std::uint64_t frame) {
    // Those that wait now: one that goes on may be back for the frame after this one.
    std::size_t count = 0;
    {
        const locked lock(waiting_mutex);
        count = waiting.size();
    }
    for (; count != 0; --count) {
        frame_waiter* w = nullptr;
        {
            const locked lock(waiting_mutex);
            w = static_cast<frame_waiter*>(waiting.take());
            if (w != nullptr) w->frame = frame;
        }
        if (w == nullptr) return;  // cancelled
        complete_awaited(rt, w->id);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
