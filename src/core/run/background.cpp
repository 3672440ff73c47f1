// The background class: threads of its own that run only when nothing else wants the core, so it
// never delays frame work.
#include "core/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

void runtime::run_background_thread(void* seat) {
    worker& w = *static_cast<worker*>(seat);
    w.rt.background_main(w);
}

void runtime::background_main(worker& w) {
    enter_thread(w);
    while (true) {
        rest_if_frozen(w);  // first: it may take the notification of the end
        if (phase(acquire) == life::closed) break;
        if (const task_id id = take_background_or_rest(w)) {
            w.stamp = active_policy::coarse_now();
            run(w, id);
            continue;
        }
        sleep(w, INT64_MAX);
        background_thread_woke(w);
    }
    leave_thread(w);
}

}  // namespace detail
BRAID_NAMESPACE_END
