#include "core/seats/seats_room.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

void seats_room::add_to_seats(seats_seat& w) {
    seats_[w.index].store(&w, release);  // pairs with seat_at()
    seat_count_.store(unsigned{w.index} + 1, release);
}

bool seats_room::is_present(thread_ref thread) const {
    const seats_seat& w = seat_at(thread.seat);
    return !w.gone.load(acquire) && w.visit.load(relaxed) == thread.visit;
}

scheduler_statistics seats_room::totals() const {
    scheduler_statistics sum;
    const unsigned count = seat_count();
    // Adds up the counts of ended tasks first, and the counts of started ones afterwards. See
    // seat_counters.
    for (unsigned i = 0; i < count; ++i) {
        const seat_counters& c = seat_at(i).report.counters;
        sum.executed += c.executed.load(acquire);
        sum.failed += c.failed.load(acquire);
        sum.cancelled += c.cancelled.load(acquire);
        sum.settled += c.settled.load(acquire);
        sum.resumptions += c.resumptions.load(acquire);
    }
    for (unsigned i = 0; i < seat_count(); ++i) {
        const seat_counters& c = seat_at(i).report.counters;
        sum.created += c.created.load(acquire);
        sum.deferred += c.deferred.load(acquire);
        sum.suspensions += c.suspensions.load(acquire);
        sum.stolen += c.stolen.load(relaxed);
        sum.jobs_stolen += c.jobs_stolen.load(relaxed);
        sum.helped += c.helped.load(relaxed);
        sum.parks += c.parks.load(relaxed);
        sum.spilled += c.spilled.load(relaxed);
        sum.long_tasks += c.long_tasks.load(relaxed);
    }
    sum.wakes = wakes_.load(relaxed);
    sum.unobserved_exceptions = outcomes.unobserved();
    return sum;
}
void seats_room::advance_phase(life to) {
    life seen = phase_.load(acquire);
    // seq_cst: pairs with rest(), which park() calls.
    while (seen < to && !phase_.compare_exchange_weak(seen, to, seq_cst, acquire)) {
    }
}

// ---- which threads sleep -----------------------------------------------------------------------

namespace {

/// Returns true for workers and reserve threads. Such a thread always sleeps again in this
/// scheduler before everything stands still. So it can be relied on to search for deadlocks. A
/// thread of the program may leave for ever.
bool watches_always(const seats_seat& w) {
    return w.kind == seat_kind::worker || w.kind == seat_kind::reserve;
}

}  // namespace

bool seats_room::park(seats_seat& w, std::int64_t deadline, bool waits) {
    sentry& s = watches_always(w) ? own_sentry_ : sentry_of_program_;
    if (serial != nullptr) {
        // With a chooser, time passes only when the chooser says so, and only one thread runs at a
        // time. So the thread searches for deadlocks at once and not after a while.
        if (s.is_wanted() && look_(w) == looked::woke) return true;
        return rest(w, deadline, waits);
    }
    w.at_rest.store(true, seq_cst);  // seq_cst: see pass_sentry_on()
    // A background thread does not search for deadlocks. If other threads take all processor time,
    // its search would hold locks for long.
    const bool may_look = w.kind != seat_kind::background;
    std::int64_t look_at = may_look ? s.take(w.index, deadline) : INT64_MAX;
    while (true) {
        const bool in_time = rest(w, std::min(deadline, look_at), waits);
        if (look_at == INT64_MAX) return in_time;
        if (in_time || look_at >= deadline) {
            s.give_back(w.index);
            w.was_sentry = true;
            return in_time;
        }
        if (!s.is_held_by(w.index)) {
            look_at = INT64_MAX;
            continue;
        }
        w.looking.store(true, relaxed);
        const looked what = look_(w);
        w.looking.store(false, relaxed);
        look_at = s.note(w.index, what);
        if (what == looked::woke) {
            w.was_sentry = true;
            return true;
        }
    }
}

void seats_room::pass_sentry_on(seats_seat& from) {
    from.was_sentry = false;
    const unsigned count = seat_count();
    unsigned sleeper = count;
    for (unsigned i = 0; i < count; ++i) {
        const seats_seat& s = seat_at(i);
        if (watches_always(s)) {
            // No thread of the program has to search if a worker or reserve thread is awake,
            // because it sleeps again and then searches, or if one holds the sentry. Neither is
            // true if they all sleep and the last search found no open task.
            if (!s.at_rest.load(seq_cst) || own_sentry_.is_held()) return;
            continue;
        }
        // seq_cst: pairs with park(), which sets `at_rest` before it tries to take the sentry.
        const bool sleeps = s.at_rest.load(seq_cst) && s.inside.load(relaxed);
        if (i != from.index && sleeps) sleeper = i;
    }
    if (sleeper != count) wake_seat(sleeper);
}

bool seats_room::rest(seats_seat& w, std::int64_t deadline, bool waits) {
    // seq_cst, both: pairs with freeze(), which sets `frozen` and then reads `at_rest`.
    w.at_rest.store(true, seq_cst);
    if (phase(seq_cst) != life::running) {
        notify_all_at(phase_key());
        // The thread that ends the scheduler now sees that this thread rests, and closes the
        // scheduler in a moment. Spinning for that moment saves the sleep.
        for (unsigned n = 0; serial == nullptr && n < 256 && phase(relaxed) != life::closed; ++n) {
            active_policy::relax();
        }
    }
    bool in_time = true;
    if (serial != nullptr) {
        in_time = serial->block(w.index, {deadline, w.looks, waits});
    } else if (phase(seq_cst) != life::closed) {
        in_time = w.park.park(deadline);
    }
    w.at_rest.store(false, seq_cst);
    return in_time;
}

void seats_room::notify(unsigned seat) {
    if (seat == no_seat) {
        const locked lock(unseated_.lock);
        unseated_.returned.notify_all();
    } else if (serial != nullptr) {
        serial->unblock(seat);
    } else {
        seat_at(seat).park.notify();
    }
}

void seats_room::notify_all_at(std::uint64_t key) {
    lot_.wake(
        key, UINT32_MAX, [](wait_record&) { return true; },
        [this](unsigned seat) { notify(seat); });
}

unsigned seats_room::choose_sleeper(bool waiters_too, bool asks) {
    if (serial == nullptr || !asks) {
        const unsigned idle_one = asleep_.first_asleep(searcher::idle);
        // A waiter runs only what its wait needs, so it is woken last.
        if (idle_one != sleepers::capacity || !waiters_too) return idle_one;
        return asleep_.first_asleep(searcher::waiter);
    }
    alternative list[sleepers::capacity];
    unsigned found = 0;
    for (unsigned i = 0; i < seat_count(); ++i) {
        if (asleep_.asleep(i, searcher::idle) ||
            (waiters_too && asleep_.asleep(i, searcher::waiter))) {
            list[found++] = {i};
        }
    }
    if (found == 0) return sleepers::capacity;
    return static_cast<unsigned>(list[serial->choose(decision_kind::wake, list, found)].id);
}

bool seats_room::wake_one(bool waiters_too, bool asks) {
    while (true) {
        const unsigned seat = choose_sleeper(waiters_too, asks);
        if (seat == sleepers::capacity) return false;
        // take() fails if the thread has woken by itself, perhaps for something else. The loop then
        // tries the next sleeper.
        if (!asleep_.take(seat)) continue;
        wakes_.fetch_add(1, relaxed);
        if constexpr (policies::keep_apart) keep_apart(seat_at(seat));
        notify(seat);
        return true;
    }
}

void seats_room::wake_seat(unsigned seat) {
    // If the thread is awake, it checks its inbox before it sleeps. A thread that waits with its
    // permit released has set no bit for take(), so it is notified in any case.
    asleep_.take(seat);
    notify(seat);
}

}  // namespace detail
BRAID_NAMESPACE_END
