// Timers and descriptors are armed and disarmed here; source_thread.cpp serves them.
#include "core/outside/outside_room.hpp"

#include "core/seats/gate_pass.hpp"

#include <algorithm>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

outside_room::~outside_room() {
    if (outside_ == nullptr) return;
    outside_->~outside_state();
    memory.release(outside_, sizeof(outside_state), alignof(outside_state), memory_tag::runtime);
}

// ---- the thread --------------------------------------------------------------------------------

/// Starts the source thread if it does not run yet. Returns false if it cannot be started. The
/// reason was logged, or reported to the out-of-memory handler. The next thread that arms something
/// tries again.
bool outside_room::start_sources() {
    if (outside_ != nullptr) return true;
    void* const bytes =
        memory.allocate(sizeof(outside_state), alignof(outside_state), memory_tag::runtime);
    if (bytes == nullptr) return false;
    auto* const state = ::new (bytes) outside_state(memory);
    if (start_thread_of(*state)) {
        outside_ = state;  // the source thread reads it under the lock
        return true;
    }
    state->~outside_state();
    memory.release(bytes, sizeof(outside_state), alignof(outside_state), memory_tag::runtime);
    return false;
}

bool outside_room::start_thread_of(outside_state& s) {
    const char* const refused = serial == nullptr ? s.poller.open() : nullptr;
    if (refused != nullptr) {
        report.log(log_level::error, "%s: there are no timers: %s", options.name, refused);
        return false;
    }
    s.seat = add_seat(seat_kind::source, 0, "source");
    return s.seat != nullptr && start_or_vacate(*s.seat);
}

/// Wakes the source thread if it sleeps until later than `latest`.
void outside_room::wake_if_needed(std::int64_t latest) {
    if (latest < sleeps_until_) wake_source_thread();
}

void outside_room::wake_source_thread() {
    if (outside_ == nullptr || sleeps_until_ == INT64_MIN) return;
    sleeps_until_ = INT64_MIN;  // one wake is enough
    if (serial != nullptr) {
        notify(outside_->seat->index);
    } else {
        outside_->poller.wake();
    }
}

std::uint64_t outside_room::batch_of_others() const {
    const bool mine = outside_ != nullptr && outside_->seat == bound();
    return batches_ % 2 != 0 && !mine ? batches_ : 0;
}

void outside_room::wait_for_batch(std::uint64_t number) {
    if (number == 0) return;
    seats_seat* const self = serial != nullptr ? bound() : nullptr;
    if (self == nullptr) {
        const locked lock(outside_mutex_);
        while (batches_ == number) batch_ended_.wait(outside_mutex_);
        return;
    }
    const gate_pass pass(*this, *self);
    wait_record record;
    const auto goes_on = [&] {
        const locked lock(outside_mutex_);
        return batches_ == number;
    };
    while (lot().enter(record, own_key(&batches_), self->index, goes_on)) {
        // acquire: pairs with parking_lot::wake().
        while (!record.done.load(acquire)) serial->block(self->index, {.waits = true});
        lot().leave(record);
    }
}

// ---- timers of the core ------------------------------------------------------------------------

/// Puts the entry into the wheel. Returns an empty id if there is no memory.
timer_id outside_room::put(const wheel::entry& one) {
    const timer_id id = outside_->timers.arm(one);
    if (id) ++armed_;
    return id;
}

timer_id outside_room::arm_timer(const timer_request& r) {
    const locked lock(outside_mutex_);
    if (stopping_ || !start_sources()) return {};
    const std::int64_t slack = std::max<std::int64_t>(r.slack, 0);
    const timer_id id = put({r.deadline, slack, {r.call, nullptr}});
    if (id) wake_if_needed(saturated_sum(r.deadline, slack));
    return id;
}

bool outside_room::cancel_timer(timer_id id) {
    const locked lock(outside_mutex_);
    if (outside_ == nullptr || !outside_->timers.cancel(id)) return false;
    ++disarmed_;
    return true;
}

// ---- sources of the program --------------------------------------------------------------------

void outside_room::attach(outside_source& s) {
    const locked lock(outside_mutex_);
    enlist(s);
}

bool outside_room::attach_to_watch(outside_source& s) {
    const locked lock(outside_mutex_);
    if (!make_watchable(s)) return false;
    enlist(s);
    return true;
}

/// Gives the source a place among the watched sources, which it has until it is unlinked. Returns
/// false if there is no memory.
bool outside_room::make_watchable(outside_source& s) {
    if (s.tag_ == 0) s.tag_ = watched_.add(s);
    return s.tag_ != 0;
}

void outside_room::enlist(outside_source& s) {
    s.attached_ = true;
    outside_source*& first = list_of(s);
    s.next_ = first;
    if (first != nullptr) first->before_ = &s;
    first = &s;
}

void outside_room::detach(outside_source& s) {
    std::uint64_t others = 0;
    {
        const locked lock(outside_mutex_);
        take_from_wheel(s);
        unlink(s);
        others = batch_of_others();
    }
    wait_for_batch(others);  // O1
}

void outside_room::detach_arrived(outside_source& s) {
    const locked lock(outside_mutex_);
    unlink(s);
}

void outside_room::unlink(outside_source& s) {
    s.attached_ = false;
    stop_watching(s);
    if (s.tag_ != 0) watched_.remove(std::exchange(s.tag_, 0));
    (s.before_ != nullptr ? s.before_->next_ : list_of(s)) = s.next_;
    if (s.next_ != nullptr) s.next_->before_ = s.before_;
    s.next_ = s.before_ = nullptr;
}

/// Puts the source into the wheel. Returns false if there is no memory.
bool outside_room::put_source(outside_source& s, std::int64_t deadline, std::int64_t slack) {
    s.armed_ = put({deadline, slack, {{.stable_id = s.stable_id_}, &s}});
    if (!s.armed_) return false;
    // No task has this id, because no slot has the index no_index.
    s.wait_ = {armed_ << 32 | no_index};
    report_wait(event_kind::deferred, s);
    return true;
}

void outside_room::report_wait(event_kind kind, const outside_source& s) const {
    // The alarm of a processor ends no wait, so it is not reported. The processor's submissions are
    // reported instead.
    if (!report.observed() || is_part_of_task(s)) return;
    const spawn_facts facts{.where = s.where_};
    const seats_seat* const w = bound();
    report.watcher().on_event({.kind = kind,
                               .seat = w != nullptr ? w->index : std::uint16_t{UINT16_MAX},
                               .other = s.wait_,
                               .name = s.name_,
                               .facts = &facts});
}

bool outside_room::take_from_wheel(outside_source& s) {
    s.period_ = 0;
    s.wanted_ = false;
    const timer_id id = std::exchange(s.armed_, {});
    if (!id || !outside_->timers.cancel(id)) return false;
    ++disarmed_;
    report_wait(event_kind::settled, s);
    return true;
}

bool outside_room::arm(outside_source& s, const timing& when) {
    const locked lock(outside_mutex_);
    if (has_ended_for(s) || !s.attached_ || !start_sources()) return false;
    take_from_wheel(s);
    // The clock has no times below 0. A source with such a deadline is due now.
    const std::int64_t deadline = std::max<std::int64_t>(when.deadline, 0);
    const std::int64_t slack = std::max<std::int64_t>(when.slack, 0);
    if (!put_source(s, deadline, slack)) return false;
    s.period_ = std::max<std::int64_t>(when.period, 0);
    s.wanted_ = true;
    wake_if_needed(saturated_sum(deadline, slack));
    return true;
}

bool outside_room::postpone(outside_source& s, std::int64_t deadline) {
    const locked lock(outside_mutex_);
    if (!s.wanted_) return false;
    // If the source is armed, it was given another time meanwhile, and comes at that time.
    return s.armed_ || put_source(s, deadline, 0);
}

bool outside_room::disarm(outside_source& s) {
    bool was_armed = false;
    std::uint64_t others = 0;
    {
        const locked lock(outside_mutex_);
        was_armed = take_from_wheel(s);
        stop_watching(s);
        others = batch_of_others();
    }
    wait_for_batch(others);  // O1
    return was_armed;
}

const char* outside_room::watch(outside_source& s, int descriptor,
                                platform::descriptor_events wanted) {
    if (serial != nullptr) {
        return "a scheduler with a chooser waits for no descriptor: no seed decides what comes";
    }
    const locked lock(outside_mutex_);
    if (has_ended_for(s) || !s.attached_) return "the scheduler is shut down";
    if (!start_sources()) return "there is no thread that could wait for descriptors";
    stop_watching(s);
    if (!make_watchable(s)) return "there is no memory to wait for one more descriptor";
    const char* const refused = outside_->poller.add(descriptor, wanted, s.tag_);
    if (refused == nullptr) s.descriptor_ = descriptor;
    return refused;
}

const char* outside_room::watch_again(outside_source& s, platform::descriptor_events wanted) {
    const locked lock(outside_mutex_);
    if (s.descriptor_ < 0) return nullptr;  // the source was disarmed meanwhile
    return outside_->poller.arm_again(s.descriptor_, wanted, s.tag_);
}

void outside_room::rest(outside_source& s) {
    const locked lock(outside_mutex_);
    if (s.descriptor_ < 0) return;  // the source was disarmed meanwhile
    s.rests_ = true;
    if (rests_until_ == INT64_MAX) rests_until_ = saturated_sum(clock(), rest_ns);
}

void outside_room::stop_watching(outside_source& s) {
    s.rests_ = false;
    if (s.descriptor_ < 0) return;
    outside_->poller.remove(std::exchange(s.descriptor_, -1));
    s.tag_ = watched_.renew(s.tag_);
}

// ---- the end -----------------------------------------------------------------------------------

void outside_room::close_sources() {
    std::uint64_t others = 0;
    {
        const locked lock(outside_mutex_);
        closed_ = true;
        if (outside_ == nullptr) return;
        for (outside_source* s = sources_[0]; s != nullptr; s = s->next_) s->wanted_ = false;
        disarmed_ += outside_->timers.take_if(
            [](const armed_call& c) { return c.source != nullptr && !is_part_of_task(*c.source); },
            [this](const wheel::entry& e) {
                e.payload.source->armed_ = {};
                e.payload.source->period_ = 0;
                report_wait(event_kind::settled, *e.payload.source);
            });
        for (outside_source* s = sources_[1]; s != nullptr; s = s->next_) stop_watching(*s);
        others = batch_of_others();
    }
    wait_for_batch(others);
}

void outside_room::abandon_sources() {
    bool reported = false;
    while (true) {
        outside_source* one = nullptr;
        {
            const locked lock(outside_mutex_);
            for (outside_source* const first : sources_) one = first != nullptr ? first : one;
        }
        if (one == nullptr) return;
        if (!std::exchange(reported, true)) {
            BRAID_EXPECT(options.assertion, false,
                         "destroy timers and other sources before their scheduler");
        }
        one->abandon();
    }
}

void outside_room::end_source_thread() {
    const locked lock(outside_mutex_);
    stopping_ = true;
    wake_source_thread();
}

void outside_room::count_sources(scheduler_statistics& sum) const {
    const locked lock(outside_mutex_);
    sum.timers_armed = armed_;
    sum.timers_fired = fired_;
    sum.timers_cancelled = disarmed_;
    sum.source_wakes = wakes_outside_;
}

bool outside_room::anything_may_come() const {
    const locked lock(outside_mutex_);
    const bool is_at_work = batches_ % 2 != 0;
    return is_at_work || armed_ != fired_ + disarmed_ ||
           std::any_of(std::begin(sources_), std::end(sources_),
                       [](const outside_source* s) { return s != nullptr; });
}

}  // namespace detail
BRAID_NAMESPACE_END
