// The source thread sleeps until something is due, and serves what is due in batches.
#include "core/outside/outside_room.hpp"

#include "core/task/stable_ids.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct outside_room::due_item {
    armed_call what;
    arrival how;
};

struct outside_room::due_batch {
    static constexpr unsigned most = 64;
    due_item items[most];
    unsigned count = 0;
    bool more = false;                        // the batch was full, so more may be due
    platform::poller::arrival arrived[most];  // events whose sources were not found yet
    unsigned arrivals = 0;
};

void outside_room::serve_sources(seats_seat& w) {
    outside_state* state = nullptr;
    {
        const locked lock(outside_mutex_);  // waits until the starting thread has set outside_
        state = outside_;
    }
    due_batch b;
    std::int64_t until = 0;
    while (true) {
        switch (plan_step(b, until)) {
            case next_step::serve:
                serve(w, b);
                break;
            case next_step::sleep:
                sleep_outside(w, *state, b, until);
                break;
            case next_step::end:
                return;
        }
    }
}

outside_room::next_step outside_room::plan_step(const due_batch& b, std::int64_t& until) {
    const locked lock(outside_mutex_);
    if (stopping_) return next_step::end;
    until = std::min(outside_->timers.next_wake(), rests_until_);
    const std::int64_t now = clock();
    if (b.arrivals != 0 || b.more || until <= now) return next_step::serve;
    sleeps_until_ = until;
    until = stretched(now, until);
    return next_step::sleep;
}

/// Returns the time at which the next sleep is to end. This is later than `until` if short sleeps
/// follow each other. A sleep costs some 10 us of the processor, and ends about 10 us too late. If
/// timers come at shorter intervals than that, it is cheaper to serve several of them together. So
/// the first short sleep is exact, and further short sleeps in a row last 50 us.
std::int64_t outside_room::stretched(std::int64_t now, std::int64_t until) {
    constexpr std::int64_t briefly = 50'000;
    const bool brief = until - now < briefly;
    if (brief && slept_briefly_ && serial == nullptr) until = now + briefly;
    slept_briefly_ = brief;
    return until;
}

void outside_room::sleep_outside(seats_seat& w, outside_state& state, due_batch& b,
                                 std::int64_t until) {
    // seq_cst for both stores: a wait that polls because no reserve thread is left checks `at_rest`
    // of the other threads.
    w.at_rest.store(true, seq_cst);
    if (serial != nullptr) {
        serial->block(w.index, {.deadline = until});
    } else {
        b.arrivals = state.poller.wait(until, b.arrived, due_batch::most);
    }
    w.at_rest.store(false, seq_cst);
    const locked lock(outside_mutex_);
    sleeps_until_ = INT64_MIN;
    ++wakes_outside_;
}

void outside_room::serve(seats_seat& w, due_batch& b) {
    enter_batch(w);
    {
        const locked lock(outside_mutex_);
        ++batches_;
        b.count = 0;
        take_arrived(b);
        take_due(b);
        take_rested(b);
    }
    if (serial != nullptr) {
        serve_in_chosen_order(w, b);
    } else {
        for (unsigned i = 0; i < b.count; ++i) call(w, b.items[i]);
    }
    {
        const locked lock(outside_mutex_);
        ++batches_;
    }
    batch_ended_.notify_all();
    if (serial != nullptr) notify_all_at(own_key(&batches_));
    leave_batch(w);
}

/// Calls the items of the batch in the order that the chooser decides, because nothing else decides
/// which one comes first.
void outside_room::serve_in_chosen_order(seats_seat& w, due_batch& b) {
    alternative list[due_batch::most];
    while (b.count != 0) {
        for (unsigned i = 0; i < b.count; ++i) list[i] = {b.items[i].what.call.stable_id};
        const std::size_t first = serial->choose(decision_kind::arrival, list, b.count);
        const due_item one = b.items[first];
        std::copy(b.items + first + 1, b.items + b.count, b.items + first);
        --b.count;
        call(w, one);
    }
}

void outside_room::call(seats_seat& w, const due_item& one) {
    outside_source* const s = one.what.source;
    if (s == nullptr) return one.what.call.due(w.rt, w.whole, one.what.call.word, one.how);
    if (s->stable_id_ == 0) return s->arrived(w.rt, w.whole, one.how);
    // A task that the source makes gets a stable id, which depends on the source's stable id and on
    // the number of earlier arrivals.
    creator as;
    task_room::enter(w, as, stable_ids::join(s->stable_id_, s->arrivals_++));
    s->arrived(w.rt, w.whole, one.how);
    task_room::leave(w, as);
}

// ---- what is due -------------------------------------------------------------------------------

void outside_room::take_due(due_batch& b) {
    const std::int64_t now = clock();
    wheel::entry one;
    while (b.count < due_batch::most && outside_->timers.take_due(now, one)) {
        due_item& item = b.items[b.count++];
        item = {one.payload, {.deadline = one.deadline, .now = now}};
        ++fired_;
        outside_source* const s = one.payload.source;
        if (s == nullptr) continue;
        s->armed_ = {};
        item.how.wait = s->wait_;
        report_wait(event_kind::settled, *s);
        if (s->period_ != 0) come_again(one, item.how);
    }
    b.more = b.count == due_batch::most;
}

/// Arms a periodic source again. Its next deadline is the first deadline plus a multiple of the
/// period, so that delays do not add up. The wheel has room for it, because the source has just
/// been removed from the wheel (O2).
void outside_room::come_again(const wheel::entry& one, arrival& how) {
    outside_source& s = *one.payload.source;
    const std::int64_t late = (how.now - one.deadline) / s.period_;
    how.missed = static_cast<std::uint64_t>(late);
    const std::int64_t next = saturated_sum(one.deadline, saturated_product(late + 1, s.period_));
    if (!put_source(s, next, one.slack) || !report.observed()) return;
    // Observers see the wait for the next tick as a successor of the wait for this tick.
    report.watcher().on_event({.kind = event_kind::edge, .task = s.wait_, .other = how.wait});
}

/// Adds to the batch the sources whose descriptors had an event. The poller may report a descriptor
/// that is not watched any more; no source has its tag then.
void outside_room::take_arrived(due_batch& b) {
    for (unsigned i = 0; i < b.arrivals; ++i) {
        outside_source* const s = watched_.find(b.arrived[i].tag);
        if (s == nullptr) continue;
        b.items[b.count++] = {{.call = {}, .source = s}, {.events = b.arrived[i].events}};
    }
    b.arrivals = 0;
}

/// Adds to the batch the sources whose rest (see rest()) has ended. A source for which the batch
/// has no room comes in the next batch.
void outside_room::take_rested(due_batch& b) {
    if (rests_until_ == INT64_MAX || clock() < rests_until_) return;
    constexpr auto descriptors = static_cast<unsigned>(outside_source::kind::descriptor);
    outside_source* s = sources_[descriptors];
    for (; s != nullptr && b.count < due_batch::most; s = s->next_) {
        if (!std::exchange(s->rests_, false)) continue;
        b.items[b.count++] = {{.call = {}, .source = s}, {.rested = true}};
    }
    if (s == nullptr) rests_until_ = INT64_MAX;
}

// ---- safepoints --------------------------------------------------------------------------------

/// Starts a batch, but waits first while a safepoint lasts. During a batch the source thread makes
/// tasks, as a user thread does inside a call. So a safepoint treats it like such a thread: it
/// waits for the end of the batch, and then lets no batch start.
void outside_room::enter_batch(seats_seat& w) {
    unseated& outside = without_seat();
    while (!begin_batch(w)) {
        if (serial != nullptr) serial->leave(w.index);
        {
            const locked lock(outside.lock);
            while (outside.shut_out.load(relaxed)) outside.returned.wait(outside.lock);
        }
        if (serial != nullptr) serial->enter(w.index);
    }
}

/// Starts a batch. Returns false while a safepoint shuts out the threads of the program.
bool outside_room::begin_batch(seats_seat& w) {
    unseated& outside = without_seat();
    const locked lock(outside.lock);
    w.leased = !outside.shut_out.load(relaxed);  // the lock guards it
    return w.leased;
}

void outside_room::leave_batch(seats_seat& w) {
    const locked lock(without_seat().lock);
    w.leased = false;
    without_seat().returned.notify_all();
}

}  // namespace detail
BRAID_NAMESPACE_END
