// The threads that take part for good: workers, and threads of the program that register.
#include "core/control/runtime.hpp"
#include "core/run/helper_floats.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

void runtime::set_worker_count(unsigned count) {
    const locked lock(threads_mutex_);
    if (phase(acquire) == life::closed) return;
    count = std::min(count, max_workers_);
    unsigned ready_threads = 0;
    for (; ready_threads < count; ++ready_threads) {
        if (ready_threads < started_workers_) continue;
        seats_seat* const w =
            add_seat(seat_kind::worker, ready_threads, options.worker_threads.name);
        if (w == nullptr) break;
        worker_seats_[ready_threads] = w->index;
        // Counts the worker before its thread starts. Otherwise the thread could read the old count
        // and take itself for surplus.
        set_active_workers(std::max(active_workers(relaxed), ready_threads + 1));
        if (!start_or_vacate(*w)) break;
        ++started_workers_;
    }
    set_active_workers(ready_threads);
    for (unsigned i = 0; i < started_workers_; ++i) wake_seat(worker_seats_[i]);
}

thread_ref runtime::worker_thread(unsigned index) const {
    const locked lock(threads_mutex_);
    return index < started_workers_ ? ref_of(seat_at(worker_seats_[index])) : thread_ref{};
}

whole_seat* runtime::add_main(const char* name) {
    if (!BRAID_EXPECT(options.assertion, bound() == nullptr,
                      "this thread takes part in the scheduler already")) {
        return nullptr;
    }
    seats_seat* w = reuse_main_seat(name);
    if (w == nullptr) w = add_seat(seat_kind::main, 0, name);
    if (w == nullptr) return nullptr;
    w->at_rest.store(false, relaxed);
    sit_down(*w);
    return static_cast<whole_seat*>(w);
}

seats_seat* runtime::reuse_main_seat(const char* name) {
    // A seat whose visit numbers are used up is retired, so that an old thread_ref never names
    // another thread.
    seats_seat* const w = take_vacant(seat_kind::main, [](const seats_seat& left) {
        return left.visit.load(relaxed) != UINT16_MAX;
    });
    if (w == nullptr) return nullptr;
    open_box(static_cast<whole_seat&>(*w), name != nullptr ? name : "main");
    return w;
}

void runtime::remove_main(whole_seat& w) {
    // No other thread can run the tasks that are only for this thread, so it runs them before it
    // leaves. Later tasks of this kind are refused.
    helper_floats floats;
    while (true) {
        if (const task_id id = direct_task(w)) {
            floats.use(w, float_control());
            w.report.stamp = active_policy::coarse_now();
            run(w, id);
            continue;
        }
        if (close_box(w)) break;
    }
    leave_search(w);
    flush_scope_ends(w);
    stand_up(w);
    w.at_rest.store(true, seq_cst);
    vacate(w);
}

}  // namespace detail
BRAID_NAMESPACE_END
