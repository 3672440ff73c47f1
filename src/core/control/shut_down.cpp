// Ends a scheduler: when all tasks have run or were discarded, its threads leave and its memory is
// freed.
#include "core/control/seat_lease.hpp"
#include "core/run/helper_floats.hpp"

#include <algorithm>
#include <iterator>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace detail {

bool runtime::everything_ended() const {
    const scheduler_statistics ended_first = totals();
    const scheduler_statistics begun = totals();
    return ended_first.ended() + ended_first.settled == begun.created + begun.deferred;
}

bool runtime::at_rest() const {
    // The order of these checks matters: a thread is awake when it counts the end of a task, and
    // sleeps only after it has dealt with all that follows from that end.
    if (!everything_ended()) return false;
    for (unsigned i = 0; i < seat_count(); ++i) {
        const whole_seat& w = seat_at(i);
        if (is_own(w) && !w.at_rest.load(seq_cst)) return false;  // pairs with park()
    }
    return true;
}

namespace {

/// Reports what a shutdown waits for: deadlocks, which it searches for like a sleeping thread, and,
/// once, the completions that are open.
class patience {
public:
    explicit patience(runtime& rt)
        : rt_(rt),
          ends_(deadline_after(active_policy::now(), rt.options.external_patience)),
          sentry_(rt.options.deadlock.after) {}
    void look(whole_seat& w) {
        if (rt_.serial != nullptr) {
            if (sentry_.is_wanted()) look_for_deadlocks(w);
            return;
        }
        const std::int64_t now = active_policy::now();
        if (look_at_ == INT64_MAX) {
            look_at_ = sentry_.take(w.index);
        } else if (now >= look_at_) {
            look_at_ = sentry_.note(w.index, look_for_deadlocks(w));
        }
        if (ends_ != INT64_MAX && now >= ends_) look_at_completions(w, now);
    }

private:
    looked look_for_deadlocks(whole_seat& w) {
        const looked what = rt_.look_for_deadlocks(w);
        complete_held_back(rt_, w);
        return what;
    }
    void look_at_completions(whole_seat& w, std::int64_t now) {
        completion_info rows[16];
        const std::size_t count = rt_.show_completions(w, rows, std::size(rows));
        // The shutdown also waits for completions that are made later, so this checks again if none
        // is open now.
        const nanoseconds again = std::max(rt_.options.external_patience, shortest);
        ends_ = count != 0 ? INT64_MAX : deadline_after(now, again);
        for (const completion_info& c : std::span(rows, std::min(count, std::size(rows)))) {
            rt_.report.log(
                log_level::warning,
                "%s: the shutdown waits for completion '%s' of task '%s', open for %.1f s",
                rt_.options.name, c.name, c.task_name, static_cast<double>(c.age.value) * 1e-9);
        }
        if (count <= std::size(rows)) return;
        rt_.report.log(log_level::warning, "%s: and for %zu completions more", rt_.options.name,
                       count - std::size(rows));
    }

    static constexpr nanoseconds shortest = milliseconds(100);  // between two scans of all slots

    runtime& rt_;
    std::int64_t ends_, look_at_ = INT64_MAX;
    sentry sentry_;
};

}  // namespace

void runtime::shut_down(shutdown how) {
    const life wanted = how == shutdown::drain ? life::draining : life::discarding;
    advance_phase(wanted);
    close_sources();
    whole_seat* const self = bound();
    if (self != nullptr && self->top != nullptr) {
        if (phase() == life::discarding) ask_all(*self);
        return;  // the shutdown has begun; the destructor completes it
    }
    while (frozen().on()) resume();

    if (phase() == life::discarding) ask_all(*seat_lease(*this, nullptr));
    while (!at_rest()) {
        const body_lease seat(*this);
        if (seat) {
            run_until_at_rest(*seat);
        } else {
            parker().park(active_policy::now() + 200'000);
        }
    }
}

void runtime::run_until_at_rest(whole_seat& w) {
    patience outside(*this);
    const std::uint64_t key = phase_key();
    helper_floats floats;
    // Spins first, because the other threads are usually about to find that nothing is left to do.
    const std::int64_t spin_until = active_policy::now() + (serial ? 0 : 50'000);
    while (!at_rest()) {
        if (const task_id id = next_task(w)) {
            floats.use(w, float_control());
            leave_search(w);
            w.report.stamp = active_policy::coarse_now();
            run(w, id);
            continue;
        }
        flush_scope_ends(w);
        outside.look(w);
        if (active_policy::now() < spin_until) {
            for (unsigned n = 0; n < 16; ++n) active_policy::relax();
            continue;
        }
        wait_record record;
        if (!lot().enter(record, key, w.index, [&] { return !at_rest(); })) continue;
        // A thread of the scheduler notifies this one before it sleeps. A task that ends on a
        // thread outside does not, so this sleep has a time-out.
        if (serial) {
            serial->block(w.index, {.looks = true, .waits = true});
        } else {
            w.park.park(active_policy::now() + 200'000);
        }
        lot().leave(record);
    }
}

/// Ends the scheduler if one of its own tasks destroys it. A thread cannot join itself, so another
/// thread does this.
void runtime::end_from_another_thread() {
    shut_down(shutdown::drain);
    ended_in_task_ = true;
    last_request_ = {.name = "braid end",
                     .entry = [](void* rt) { destroy(static_cast<runtime*>(rt)); },
                     .argument = this};
    const platform::thread_handle last = platform::start_thread(last_request_);
    if (last != 0) {
        platform::detach_thread(last);
        return;
    }
    report.log(
        log_level::error,
        "%s: the system refused the thread that would have ended the scheduler; its memory stays",
        options.name);
}

void runtime::destroy(runtime* rt) {
    if (rt->is_childs_copy()) return;
    whole_seat* const self = rt->bound();
    if (self != nullptr && self->top != nullptr) return rt->end_from_another_thread();
    rt->shut_down(shutdown::drain);
    rt->abandon_sources();
    {
        const locked lock(rt->threads_mutex_);
        rt->advance_phase(life::closed);
    }
    // If a task destroys the scheduler, threads of the program may still be on their way out of the
    // wait that ended with the task.
    while (rt->ended_in_task_ && rt->anybody_inside(true)) {
        parker().park(active_policy::now() + 50'000);
    }
    // acquire: pairs with ~settling(). Everything that these threads settled has ended, so they are
    // about to leave their calls.
    while (rt->settling_.load(acquire) != 0) parker().park(active_policy::now() + 50'000);
    rt->join_and_free(self);
}

void runtime::join_and_free(whole_seat* self) {
    end_source_thread();
    for (unsigned i = 0; i < seat_count(); ++i) wake_seat(i);
    if (serial != nullptr && self != nullptr) serial->leave(self->index);
    for (unsigned i = 0; i < seat_count(); ++i) {
        const platform::thread_handle thread = seat_at(i).thread;
        if (thread != 0) platform::join_thread(thread);
    }
    if (self != nullptr) unbind(*self);
    accounted_memory door(options.memory, 0, {});
    door.take_over(memory);
    this->~runtime();
    door.release(this, sizeof(runtime), alignof(runtime), memory_tag::runtime);
}

scheduler_statistics runtime::statistics() const {
    scheduler_statistics sum = totals();
    sum.refused = refused();
    count_reserves(sum);
    count_sources(sum);
    if (serial != nullptr) sum.unchosen = serial->unchosen();
    return sum;
}

}  // namespace detail
BRAID_NAMESPACE_END
