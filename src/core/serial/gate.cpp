#include "core/serial/gate.hpp"

#include <algorithm>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {

void gate::add(unsigned seat) {
    const locked lock(mutex_);
    if (running_ == seat) return;
    state_[seat] = state::runnable;
    notified_[seat] = false;
    if (running_ == capacity) pass_on();
}

void gate::await_gate(unsigned seat) {
    while (true) {
        {
            const locked lock(mutex_);
            if (running_ == seat) return;
        }
        parkers_[seat].park();
    }
}

void gate::leave(unsigned seat) {
    const locked lock(mutex_);
    state_[seat] = state::absent;
    if (running_ == seat) pass_on();
}

bool gate::block(unsigned seat, const rest& how) {
    {
        const locked lock(mutex_);
        if (notified_[seat]) {
            notified_[seat] = false;
            return true;
        }
        if (how.deadline <= now_) return false;
        timed_out_[seat] = false;
        rest_[seat] = how;
        state_[seat] = state::blocked;
        // A thread in a blocking region may be outside the gate when it gets here, and then the
        // gate may be open for no seat. It is inside the gate when the function returns.
        if (running_ == seat || running_ == capacity) pass_on();
    }
    await_gate(seat);
    const locked lock(mutex_);
    notified_[seat] = false;
    return !timed_out_[seat];
}

void gate::unblock(unsigned seat) {
    const locked lock(mutex_);
    if (state_[seat] == state::blocked) {
        state_[seat] = state::runnable;
        if (running_ == capacity) pass_on();
    } else {
        notified_[seat] = true;
    }
}

void gate::preempt(unsigned seat) {
    {
        const locked lock(mutex_);
        if (running_ != seat) return;
        const bool others = earliest_deadline() != INT64_MAX || that_are(state::runnable).any();
        constexpr alternative stay_or_go[2] = {{0}, {1}};
        if (!others || choose(decision_kind::preempt, stay_or_go, 2) == 0) return;
        state_[seat] = state::runnable;
        pass_on();
    }
    await_gate(seat);
}

gate::seats gate::that_are(state wanted) const {
    seats all;
    for (unsigned i = 0; i < capacity; ++i) all[i] = state_[i] == wanted;
    return all;
}

/// Returns the seat that the chooser picks, or `capacity` if there is no seat in `among`.
unsigned gate::pick(decision_kind kind, const seats& among) {
    alternative list[capacity];
    std::size_t count = 0;
    for (unsigned i = 0; i < capacity; ++i) {
        if (among[i]) list[count++] = {i};
    }
    return count != 0 ? static_cast<unsigned>(list[choose(kind, list, count)].id) : capacity;
}

std::int64_t gate::earliest_deadline() const {
    std::int64_t earliest = INT64_MAX;
    for (unsigned i = 0; i < capacity; ++i) {
        earliest = std::min(earliest, rest_[i].deadline);
    }
    return earliest;
}

void gate::pass_on() {
    running_ = capacity;
    const seats can_go_on = that_are(state::runnable);
    bool time_passes = can_go_on.none();
    if (!time_passes && earliest_deadline() != INT64_MAX) {
        constexpr alternative stands_or_passes[2] = {{0}, {1}};
        time_passes = choose(decision_kind::clock, stands_or_passes, 2) != 0;
    }
    const unsigned seat =
        time_passes ? let_time_pass() : pick(decision_kind::next_thread, can_go_on);
    if (seat == capacity) return report_standstill();
    if (!time_passes) forget_looks();
    grant(seat);
}

/// Called when the virtual clock may move on. Picks a seat whose deadline is the earliest, or a
/// seat that is to look for work (rest::looks). No deadline passes before an earlier one. A seat
/// looks for work only when no seat can go on, and only once before the next deadline passes,
/// because it might look for ever. If there is no deadline, all such seats may look again. Returns
/// `capacity` if there is no such seat.
unsigned gate::let_time_pass() {
    const std::int64_t earliest = earliest_deadline();
    seats lookers, runs_out;
    if (that_are(state::runnable).none()) lookers = that_are(state::blocked);
    for (unsigned i = 0; i < capacity; ++i) {
        lookers[i] = lookers[i] && rest_[i].looks;
        runs_out[i] = earliest != INT64_MAX && rest_[i].deadline == earliest;
    }
    if ((lookers & ~has_looked_).none() && runs_out.none()) forget_looks();
    const seats looks = lookers & ~has_looked_;
    const unsigned seat = pick(decision_kind::time_out, looks | runs_out);
    if (seat == capacity) return capacity;
    timed_out_[seat] = true;
    if (looks[seat]) {
        has_looked_[seat] = true;
    } else {
        forget_looks();
        now_ = std::max(now_, earliest);
    }
    return seat;
}

void gate::report_standstill() {
    bool waits = false;
    for (unsigned i = 0; i < capacity; ++i) {
        waits |= state_[i] == state::blocked && rest_[i].waits;
    }
    if (!waits) return;  // having nothing to do is no standstill
    if (log_.function != nullptr) {
        char line[160];
        std::snprintf(line, sizeof line,
                      "%s: nobody can go on: every thread under the chooser sleeps, and no wait "
                      "can run out of time",
                      name_);
        log_.function(log_.user, log_level::error, line);
    }
    chooser_.nobody_can_go_on();
}

void gate::grant(unsigned seat) {
    running_ = seat;
    state_[seat] = state::running;
    rest_[seat] = {};
    parkers_[seat].notify();
}

}  // namespace detail
BRAID_NAMESPACE_END
