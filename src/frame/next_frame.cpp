#include "braid/frame/next_frame.hpp"

#include "frame/frame_state.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

bool wait_for_frame(frame_state* loop, frame_waiter& w, task_context& context,
                    const std::source_location& where) {
    if (loop == nullptr) return false;
    if (!loop->waiting.arm(w, context, loop->options.name, where)) return false;
    if (!loop->waiting.list(w)) complete_awaited(loop->rt, w.id);
    return true;
}

void frame_state::release_waiting(std::uint64_t frame) {
    // Those that wait now: one that goes on may be back for the frame after this one.
    for (std::size_t count = waiting.size(); count != 0; --count) {
        auto* const w = static_cast<frame_waiter*>(waiting.take());
        if (w == nullptr) return;  // cancelled
        w->frame = frame;
        complete_awaited(rt, w->id);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
