// The background class: threads of its own that run only when nothing else wants the core, so it
// never delays frame work. Long and blocking by nature, so one lock serves it well.
#include "core/ready/lists.hpp"
#include "core/runtime.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

void runtime::enqueue_background(std::uint32_t index) {
    worker* sleeper = nullptr;
    {
        const std::lock_guard lock(background.mutex);
        append(background.ready[level_of(slot_at(index))], index, index);
        if (background.idle_count != 0) sleeper = background.idle[--background.idle_count];
    }
    if (sleeper != nullptr) {
        notify(sleeper->index);
    } else {
        start_background();
    }
}

/// One thread more, if the class may have one: a background thread that waits does not count,
/// for it may wait for the very task that is queued.
void runtime::start_background() {
    unsigned number = 0;
    {
        const std::lock_guard lock(background.mutex);
        const unsigned allowed =
            static_cast<unsigned>(std::max(1, options().background_threads)) + background.waiting;
        if (background.threads >= allowed) return;
        number = background.threads++;
    }
    worker* w = add_seat(seat_kind::background, number, "background");
    if (w != nullptr && start(*w, &run_background_thread)) return;
    const std::lock_guard lock(background.mutex);
    --background.threads;
}

void runtime::run_background_thread(void* seat) {
    worker& w = *static_cast<worker*>(seat);
    w.rt.background_main(w);
}

void runtime::background_main(worker& w) {
    enter_thread(w);
    while (true) {
        rest_if_frozen(w);  // first: it may take the notification of the end
        if (phase(acquire) == life::closed) break;
        task_id id;
        {
            const std::lock_guard lock(background.mutex);
            id = take_background([](auto) { return true; });
            // Nobody hands over work to a thread that is not in this list, so a notification
            // that comes before sleep() is for it.
            if (!id) background.idle[background.idle_count++] = &w;
        }
        if (id) {
            w.stamp = active_policy::coarse_now();
            run(w, id);
            continue;
        }
        sleep(w, INT64_MAX);
        const std::lock_guard lock(background.mutex);
        worker** end = background.idle + background.idle_count;
        background.idle_count =
            static_cast<unsigned>(std::remove(background.idle, end, &w) - background.idle);
    }
    leave_thread(w);
}

}  // namespace detail
BRAID_NAMESPACE_END
