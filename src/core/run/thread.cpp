// The loops of the scheduler's own threads.
#include "core/run/run_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

run_room::run_room(const scheduler_options& o, const seat_plan& plan)
    : completions_room(o, plan), float_control_(platform::float_control()) {}

void run_room::enter_thread(run_seat& w) {
    bind(w);
    platform::set_float_control(float_control_);
    w.stack_low = platform::current_stack().low;
    if (serial) serial->await_gate(w.index);
    w.report.stamp = active_policy::coarse_now();
    if (options.threads.started != nullptr) {
        options.threads.started(options.threads.user, w.report.name);
    }
    {
        const locked lock(w.cores_mutex);
        w.thread_number = platform::current_thread_number();
    }
    w.at_rest.store(false, seq_cst);  // seq_cst: as in sleep()
    if (options.observer != nullptr) report.seated(w.index, w.kind, w.report);
    // Reading the topology takes milliseconds, once in a process. Until it is known, thieves take
    // any victim.
    if (cores() > 2 && w.kind == seat_kind::worker && w.number == 1) {
        find_places(machine_topology());
    }
}

void run_room::leave_thread(run_seat& w) {
    leave_search(w);
    flush_scope_ends(w);
    w.at_rest.store(true, seq_cst);
    if (options.threads.stopping != nullptr) {
        options.threads.stopping(options.threads.user, w.report.name);
    }
    stand_up(w);
}

void run_room::thread_main(run_seat& w) {
    enter_thread(w);
    w.loop_depth = 0;
    while (true) {
        rest_if_frozen(w);  // first: this rest may consume the notification of the end
        complete_what_a_look_ended(w);
        if (phase(acquire) == life::closed) break;
        settle(w);
        const bool surplus =
            w.kind == seat_kind::worker ? w.number >= active_workers(acquire) : retire_reserve(w);
        if (surplus) {
            rest_surplus(w);
            continue;
        }
        const task_id id = next_task(w);
        if (!id) {
            if (!steal_branch(w)) idle(w);
            continue;
        }
        leave_search(w);
        run(w, id, true);
        run_chain(w);
    }
    leave_thread(w);
}

/// Called by a worker beyond the active number, or by a reserve thread that is not needed any more.
/// Runs a task that only this thread may run, or sleeps until the thread is needed again or the
/// scheduler ends.
void run_room::rest_surplus(run_seat& w) {
    leave_search(w);
    flush_scope_ends(w);
    // This reserve thread was started or woken because of some work. The thread that did so may
    // have gone on by now, and may even have left the scheduler. So another thread is woken for
    // that work.
    if (w.kind == seat_kind::reserve && work_visible()) wake_one();
    // Tasks that only this thread may run would wait here for good.
    if (const task_id id = direct_task(w)) {
        run(w, id);
        const auto nothing = [](std::uint64_t) { return false; };
        run_chain(w, nothing, nothing);
    } else {
        sleep(w, INT64_MAX);
    }
}

/// The loop of a background thread. The background class has threads of its own, which run only
/// when nothing else wants the core. So it never delays frame work.
void run_room::background_main(run_seat& w) {
    enter_thread(w);
    while (true) {
        rest_if_frozen(w);  // first: this rest may consume the notification of the end
        if (phase(acquire) == life::closed) break;
        if (const task_id id = take_background_or_rest(w)) {
            w.report.stamp = active_policy::coarse_now();
            run(w, id);
            continue;
        }
        sleep(w, INT64_MAX);
        background_thread_woke(w);
    }
    leave_thread(w);
}

/// The source thread runs no tasks, so it does not rest while the scheduler is frozen.
void run_room::source_main(run_seat& w) {
    enter_thread(w);
    serve_sources(w);
    leave_thread(w);
}

void run_room::rest_if_frozen(run_seat& w) {
    if (!frozen().on()) return;
    // User threads rest only in their waits. There they keep checking whether what they wait for is
    // complete. The thread that has frozen the scheduler does not rest.
    const bool rests = is_own(w) || this_thread_state.module_wait != nullptr;
    if (rests && !frozen().is_by_this_thread()) rest_while_frozen(w);
}

void run_room::rest_while_frozen(run_seat& w) {
    leave_search(w);
    flush_scope_ends(w);
    const std::uint64_t key = frozen().key();
    if (report.observed()) report.event(w.index, event_kind::parked, {});
    wait_record record;
    while (lot().enter(record, key, w.index, [&] { return frozen().on(); })) {
        w.at_rest.store(true, seq_cst);
        while (!record.done.load(acquire)) {  // pairs with parking_lot::wake()
            answer_if_asked(w);
            serial ? serial->block(w.index, {}) : w.park.park();
        }
        w.at_rest.store(false, seq_cst);
    }
    if (report.observed()) report.event(w.index, event_kind::unparked, {});
}

void run_room::rest_held_back(run_seat& w, std::int64_t deadline) {
    leave_search(w);
    flush_scope_ends(w);
    answer_if_asked(w);
    if (report.observed()) report.event(w.index, event_kind::parked, {});
    park(w, deadline, false);
    if (report.observed()) report.event(w.index, event_kind::unparked, {});
    answer_if_asked(w);
}

void run_room::complete_what_a_look_ended(run_seat& w) {
    if (w.to_complete == no_index) return;
    leave_search(w);
    complete_held_back(*this, w);
}

bool run_room::sleep(run_seat& w, std::int64_t deadline) {
    flush_scope_ends(w);  // before anything that may last, because a thread may wait for these ends
    seat_counters::add(w.report.counters.parks);
    if (report.observed()) report.event(w.index, event_kind::parked, {});
    const bool in_time = park(w, deadline, w.wait_over != nullptr);
    answer_if_asked(w);
    rest_if_frozen(w);
    w.report.stamp =
        active_policy::coarse_now();  // the sleep is no part of the next task's duration
    w.woke = w.report.stamp;
    if (report.observed()) report.event(w.index, event_kind::unparked, {});
    return in_time;
}

}  // namespace detail
BRAID_NAMESPACE_END
