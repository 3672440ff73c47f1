// A task may start: if it is to run, and has what it needs.
#include "core/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

void runtime::make_ready(worker& w, std::uint32_t index, task_id released_by) {
    slot& s = slot_at(index);
    free_predecessors(w, s);
    if (observed()) report(w, event_kind::ready, id_of(index), released_by);
    queue_ready(w, index);
}

void runtime::queue_ready(worker& w, std::uint32_t index) {
    slot& s = slot_at(index);
    if ((s.flags.load(relaxed) & (flag_empty | flag_cancel)) != 0) {
        end_without_running(w, index);
        return;
    }
    // A node that is not to run waits for nothing: not for a thread, nor for resources.
    if (s.has(flag_own_way) && s.has(flag_failed)) {
        push_ready(w, id_of(index), level_of(s));
        return;
    }
    if (s.has(flag_resources) && !acquire_resources(w, index)) return;
    if (!set_run_next(w, index, w.depth)) enqueue(w, index);
}

}  // namespace detail
BRAID_NAMESPACE_END
