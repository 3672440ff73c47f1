// The background class: threads of its own that run only when nothing else wants the core, so it
// never delays frame work. Long and blocking by nature, so one lock serves it well.
#include "core/ready/lists.hpp"
#include "core/runtime.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// The system refuses a thread for what is queued. A thread of the class that runs a task comes
/// back for it; where there is none, or all of them wait, it would lie there for ever (I1).
void make_frame_work(runtime& rt, worker& w) {
    while (true) {
        task_id id;
        {
            const std::lock_guard lock(rt.background.mutex);
            if (rt.background.threads > rt.background.waiting) return;
            id = rt.take_background([](auto) { return true; });
        }
        if (!id) return;
        slot& s = rt.slot_at(id);
        s.level.store(static_cast<std::uint8_t>(priority_level::low), relaxed);
        // It may take as long as background work takes, without a warning.
        s.flags.fetch_or(flag_quiet, relaxed);
        // release: as in inherit_priority(), see level_of().
        s.flags.fetch_and(static_cast<std::uint16_t>(~(flag_background | flag_category)), release);
        rt.enqueue(w, index_of(id.value));
    }
}

}  // namespace

void runtime::enqueue_background(worker& w, std::uint32_t index) {
    worker* sleeper = nullptr;
    {
        const std::lock_guard lock(background.mutex);
        append(background.ready[level_of(slot_at(index))], index, index);
        if (background.idle_count != 0) sleeper = background.idle[--background.idle_count];
    }
    if (sleeper != nullptr) {
        notify(sleeper->index);
    } else {
        start_background(w);
    }
}

/// One thread more, if the class may have one: a background thread that waits does not count,
/// for it may wait for the very task that is queued.
void runtime::start_background(worker& w) {
    unsigned number = 0;
    {
        const std::lock_guard lock(background.mutex);
        const unsigned allowed =
            static_cast<unsigned>(std::max(1, options().background_threads)) + background.waiting;
        if (background.threads >= allowed) return;
        number = background.threads++;
    }
    seats_seat* const added = add_seat(seat_kind::background, number, "background");
    if (added != nullptr && start_or_vacate(*added)) return;
    {
        const std::lock_guard lock(background.mutex);
        --background.threads;
    }
    make_frame_work(*this, w);
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
            // Nobody gives work to a thread that is not in this list, so a notification
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
