#include "core/seats/gate.hpp"

#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {

void gate::add(unsigned seat) {
    const std::lock_guard lock(mutex_);
    if (running_ == seat) return;
    state_[seat] = state::runnable;
    notified_[seat] = false;
    if (running_ == capacity) pass_on();
}

void gate::await_gate(unsigned seat) {
    while (true) {
        {
            const std::lock_guard lock(mutex_);
            if (running_ == seat) return;
        }
        parkers_[seat].park();
    }
}

void gate::leave(unsigned seat) {
    const std::lock_guard lock(mutex_);
    state_[seat] = state::absent;
    if (running_ == seat) pass_on();
}

bool gate::block(unsigned seat, bool may_time_out, bool waits) {
    {
        const std::lock_guard lock(mutex_);
        if (notified_[seat]) {
            notified_[seat] = false;
            return true;
        }
        timed_out_[seat] = false;
        waits_[seat] = waits;
        state_[seat] = may_time_out ? state::blocked_with_deadline : state::blocked;
        // A thread in a blocking region waits outside the gate, and returns inside it.
        if (running_ == seat || running_ == capacity) pass_on();
    }
    await_gate(seat);
    const std::lock_guard lock(mutex_);
    notified_[seat] = false;
    return !timed_out_[seat];
}

void gate::unblock(unsigned seat) {
    const std::lock_guard lock(mutex_);
    if (state_[seat] == state::blocked || state_[seat] == state::blocked_with_deadline) {
        state_[seat] = state::runnable;
        if (running_ == capacity) pass_on();
    } else {
        notified_[seat] = true;
    }
}

void gate::preempt(unsigned seat) {
    {
        const std::lock_guard lock(mutex_);
        if (running_ != seat) return;
        bool others = false;
        for (unsigned i = 0; i < capacity; ++i) others |= state_[i] == state::runnable;
        constexpr alternative stay_or_go[2] = {{0}, {1}};
        if (!others || choose(decision_kind::preempt, stay_or_go, 2) == 0) return;
        state_[seat] = state::runnable;
        pass_on();
    }
    await_gate(seat);
}

std::size_t gate::pick(decision_kind kind, state wanted, unsigned& seat) {
    alternative list[capacity];
    std::size_t count = 0;
    for (unsigned i = 0; i < capacity; ++i) {
        if (state_[i] == wanted) list[count++] = {i};
    }
    if (count != 0) seat = static_cast<unsigned>(list[choose(kind, list, count)].id);
    return count;
}

void gate::pass_on() {
    running_ = capacity;
    unsigned seat = 0;
    if (pick(decision_kind::next_thread, state::runnable, seat) == 0) {
        // Nobody can go on: time passes until the first wait runs out of it.
        if (pick(decision_kind::time_out, state::blocked_with_deadline, seat) == 0) {
            return report_standstill();
        }
        timed_out_[seat] = true;
    }
    grant(seat);
}

void gate::report_standstill() {
    bool waits = false;
    for (unsigned i = 0; i < capacity; ++i) {
        waits |= state_[i] == state::blocked && waits_[i];
    }
    if (!waits) return;  // nothing to do is no standstill
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
    parkers_[seat].notify();
}

}  // namespace detail
BRAID_NAMESPACE_END
