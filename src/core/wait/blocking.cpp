// Blocking regions, polls that run needed work, and reports of waits to observers.
#include "core/run/helper_floats.hpp"
#include "core/wait/search.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

bool wait_room::begin_blocking(wait_seat& w) {
    // Completes the tasks that are pending. If this thread was completing tasks, `completing` stays
    // set: tasks that end in the region are completed after it, or in a wait within it.
    w.completing = complete_meanwhile(w);
    flush_scope_ends(w);
    share_run_next(w);
    publish_joins(w);
    w.blocking_since = report.task_clock();
    w.elsewhere_before = w.report.elsewhere;
    const bool stood_in = release_permit(w);
    w.blocks.store(true, relaxed);
    if (stood_in && serial != nullptr) {
        w.outside_gate = true;
        serial->leave(w.index);
    }
    return stood_in;
}

void wait_room::end_blocking(wait_seat& w, bool stood_in) {
    if (!stood_in) {
        // If the permit is released, an outer region or wait has released it, and this region has
        // changed nothing. An outer region resets `blocks` itself.
        if (!w.permit_released) w.blocks.store(false, relaxed);
        return;
    }
    w.blocks.store(false, relaxed);
    if (serial != nullptr) {
        serial->note_unchosen();
        serial->enter(w.index);
        w.outside_gate = false;
    }
    w.report.elsewhere = w.elsewhere_before + (report.task_clock() - w.blocking_since);
    take_permit_back(w);
}

void wait_room::let_another_go_on() const {
    const seats_seat* const w = bound();
    if (w == nullptr) return serial->note_unchosen();
    serial->preempt(w->index);
}

bool wait_room::help_once(wait_seat& w, task_id needed) {
    // seq_cst: as in wait_loop::begin().
    const bool inside = is_own(w) || w.inside.exchange(true, seq_cst);
    const bool helped = !held_back(w) && run_one_needed(w, needed);
    if (!inside) w.inside.store(false, release);  // pairs with freeze()
    return helped;
}

bool wait_room::run_one_needed(wait_seat& w, task_id needed) {
    const wait_target target{.task = needed};
    const task_id id = work_search(*this, w, target, help::needed).find();
    if (!id) return false;
    leave_search(w);
    seat_counters::add(w.report.counters.helped);
    if (report.observed()) {
        report.event(w.index, event_kind::helped,
                     w.top != nullptr ? slots.id_of(w.top->slot) : task_id{}, id);
    }
    helper_floats floats;
    floats.use(w, float_control());
    w.report.stamp = active_policy::coarse_now();
    const bool completes = complete_meanwhile(w);
    run(w, id);
    w.completing = completes;
    return true;
}

void wait_room::report_event(event_kind kind, const event& e) const {
    const seats_seat* const w = bound();
    const bool in_task = w != nullptr && w->top != nullptr;
    report.watcher().on_event({.kind = kind,
                               .seat = w != nullptr ? w->index : std::uint16_t{UINT16_MAX},
                               .task = in_task ? slots.id_of(w->top->slot) : task_id{},
                               .object = &e});
}

void wait_room::report_taken(const wait_target& target) const {
    if (target.signal != nullptr && report.observed()) {
        report_event(event_kind::event_taken, *target.signal);
    }
}

}  // namespace detail
BRAID_NAMESPACE_END
