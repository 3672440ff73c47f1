// What is done around each body: the thread and searchers see what runs.
#include "core/run/run_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// Null: the task has none.
fork_stack* joins_of(const running_task* task) {
    return task != nullptr ? static_cast<const ready_seat*>(task->seat)->joins : nullptr;
}

}  // namespace

running_task* run_room::begin_body(run_seat& w, running_task& body, task_id shown_as) {
    running_task* const outer = current_task();
    if (w.joins != nullptr) body.joins_from = w.joins->top;
    w.top = &body;
    body.seat = &w;
    set_current_task(&body, w.joins);
    if (w.depth < run_seat::shown_depth) {
        shown_frame& frame = w.frames[w.depth];
        frame.awaited.store(0, relaxed);
        frame.task.store(shown_as.value, relaxed);
    }
    // release: pairs with a searcher's acquire; the frames below `shown` are filled in.
    w.shown.store(++w.depth, release);
    return outer;
}

void run_room::end_body(run_seat& w, const running_task& body, running_task* outer) {
    w.shown.store(--w.depth, release);
    w.top = body.below;
    set_current_task(outer, joins_of(outer));
}

}  // namespace detail
BRAID_NAMESPACE_END
