#include "core/seats/threads_room.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {
atomic<std::uint64_t> next_serial{1};
}

threads_room::threads_room(const scheduler_options& o, const seat_plan& plan)
    : seats_room(o), plan_(plan), serial_number_(next_serial.fetch_add(1, relaxed)) {
    set_look(plan.look);
}

void threads_room::sit_down(seats_seat& w) {
    bind(w);
    if (options.observer != nullptr) report.seated(w.index, w.kind, w.report);
    if (serial != nullptr) serial->enter(w.index);
}

void threads_room::stand_up(seats_seat& w) {
    if (serial != nullptr) serial->leave(w.index);
    unbind(w);
}

// ---- seats -------------------------------------------------------------------------------------

seats_seat* threads_room::add_seat(seat_kind kind, unsigned number, const char* name) {
    // The number of a worker decides which bit in a task's mask of workers is its own. So a vacant
    // worker's seat fits only if it has this number.
    const auto fits = [&](const seats_seat& w) {
        return kind != seat_kind::worker || w.number == number;
    };
    if (seats_seat* const w = kind != seat_kind::main ? take_vacant(kind, fits) : nullptr) return w;
    const locked lock(seats_mutex_);
    if (!has_room_for_a_seat()) {
        report.log(log_level::error,
                   "%s: all %u seats are taken; lower max_workers, guests or "
                   "max_reserves",
                   options.name, sleepers::capacity);
        return nullptr;
    }
    seats_seat* const w = plan_.make(*this, kind, number, name);
    if (w != nullptr) add_to_seats(*w);
    return w;
}

void threads_room::vacate(seats_seat& w) {
    const locked lock(seats_mutex_);
    w.vacant = true;
}

bool threads_room::start(seats_seat& w) {
    const thread_options& t = options.worker_threads;
    const bool background = w.kind == seat_kind::background;
    w.request = {.name = w.report.name,
                 .stack_bytes = t.stack_bytes,
                 .nice = t.nice,
                 .pin_to_cpu = core_to_pin_to(w),
                 .entry = plan_.run,
                 .argument = &w.whole};
    if (background) w.request.entry = plan_.run_background;
    if (w.kind == seat_kind::source) w.request.entry = plan_.run_source;
    // With a chooser, all other threads wait for the thread that has passed the gate. A background
    // thread of the idle class would make them wait long.
    if (background && serial == nullptr) w.request.scheduling = platform::thread_class::idle;
    if (serial != nullptr) serial->add(w.index);
    w.thread = platform::start_thread(w.request);
    if (w.thread == 0) {
        if (serial != nullptr) serial->leave(w.index);
        if (!std::exchange(w.was_refused, true)) {
            report.log(log_level::error,
                       "%s: the system refused to start thread '%s'; going on without it",
                       options.name, w.report.name);
        }
    }
    return w.thread != 0;
}

bool threads_room::start_or_vacate(seats_seat& w) {
    if (start(w)) return true;
    vacate(w);
    return false;
}

// ---- permits -----------------------------------------------------------------------------------

stand_in threads_room::give_permit_away(seats_seat& w) {
    w.permit_released = true;
    released_permits_.fetch_add(1, seq_cst);
    const stand_in found = start_reserve();
    if (found == stand_in::refused) take_permit_back(w);
    return found;
}

void threads_room::take_permit_back(seats_seat& w) {
    w.permit_released = false;
    released_permits_.fetch_sub(1, seq_cst);
}

/// Returns the seat of an idle reserve thread and sets `idle`; the caller must then notify that
/// thread. If none is idle, starts a new reserve thread and returns its seat. Returns null if none
/// can be had.
seats_seat* threads_room::call_reserve(bool& idle) {
    if (idle_reserve_count_ != 0) {
        idle = true;
        reserves_.fetch_add(1, relaxed);
        return idle_reserves_[--idle_reserve_count_];
    }
    if (reserve_threads_ >= static_cast<unsigned>(std::max(0, options.max_reserves))) {
        return nullptr;
    }
    seats_seat* const added = add_seat(seat_kind::reserve, reserve_threads_, "reserve");
    if (added == nullptr) return nullptr;
    reserves_.fetch_add(1, relaxed);
    if (start_or_vacate(*added)) {
        ++reserve_threads_;
        reserves_started_.fetch_add(1, relaxed);
        return added;
    }
    reserves_.fetch_sub(1, relaxed);
    return nullptr;
}

stand_in threads_room::start_reserve() {
    bool idle = false;
    const seats_seat* called = nullptr;
    {
        const locked lock(reserves_mutex_);
        // seq_cst: pairs with give_permit_away(). If two threads release their permits at the same
        // time, at least one of them sees both releases.
        if (reserves_.load(relaxed) >= released_permits_.load(seq_cst)) return stand_in::enough;
        called = call_reserve(idle);
    }
    if (called != nullptr) {
        if (idle) notify(called->index);
        return stand_in::started;
    }
    reserves_refused_.fetch_add(1, relaxed);
    if (!warned_of_reserves_.exchange(true, relaxed)) {
        report.log(log_level::warning,
                   "%s: no reserve thread can stand in for a wait any more, so waits "
                   "run whatever is ready; raise max_reserves",
                   options.name);
    }
    return stand_in::refused;
}

bool threads_room::retire_reserve(seats_seat& w) {
    const locked lock(reserves_mutex_);
    seats_seat** const end = idle_reserves_ + idle_reserve_count_;
    // The reserve thread is idle already, and woke although no thread called it.
    if (std::find(idle_reserves_, end, &w) != end) return true;
    // seq_cst: pairs with give_permit_away().
    if (reserves_.load(relaxed) <= released_permits_.load(seq_cst)) return false;
    reserves_.fetch_sub(1, relaxed);
    idle_reserves_[idle_reserve_count_++] = &w;
    return true;
}

void threads_room::count_reserves(scheduler_statistics& sum) const {
    sum.reserves_started = reserves_started_.load(relaxed);
    sum.reserves_refused = reserves_refused_.load(relaxed);
}

}  // namespace detail
BRAID_NAMESPACE_END
