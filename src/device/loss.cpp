// A processor fails: lost, silent for too long, dead, there again.
#include "device/processor_state.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

namespace {
constexpr std::int64_t minute = seconds(60).value;
}

void processor_state::lose() {
    bool died = false;
    {
        const locked lock(lock_);
        died = note_loss(now());
        come_in();
    }
    end_with_loss(died);
}

void processor_state::end_with_loss(bool died) {
    if (died) {
        core::log(rt_, log_level::error,
                  "processor '%s' was lost three times within a minute: what is submitted to it "
                  "runs on the cores until revive()",
                  name());
    }
    how_.give_up();
    look_again();
    go_on();
}

/// True: it is dead from now on.
bool processor_state::note_loss(std::int64_t at) {
    ++counts_.losses;
    buffers_.release_all();
    const auto is_near = [at](std::int64_t t) { return t != INT64_MIN && at - t < minute; };
    const bool second = is_near(lost_at_[0]);
    const bool third = second && is_near(lost_at_[1]);
    lost_at_[1] = lost_at_[0];
    lost_at_[0] = at;
    progress_ = at;
    if (third) {
        away_until_ = 0;
        return !std::exchange(counts_.dead, true);
    }
    const std::int64_t pause =
        braid::detail::saturated_product(options_.back_off.value, second ? 2 : 1);
    away_until_ = pause > 0 ? braid::detail::saturated_sum(at, pause) : 0;
    return false;
}

bool processor_state::revive() {
    if (in_child()) return false;
    {
        const locked lock(lock_);
        if (!std::exchange(counts_.dead, false)) return false;
        lost_at_[0] = lost_at_[1] = INT64_MIN;
        come_in();
    }
    go_on();
    return true;
}

// ---- the alarm ---------------------------------------------------------------------------------

/// When it must be looked at again, if nothing else happens before.
std::int64_t processor_state::next_alarm() const {
    std::int64_t at = how_.next_due();
    if (away_until_ != 0) at = std::min(at, away_until_);
    if (how_.is_busy()) {
        at = std::min(at, braid::detail::saturated_sum(progress_, options_.hang_after.value));
    }
    return at;
}

/// An alarm that comes too early looks again, so that what ends in time arms none. False: no memory
/// or thread for a timer.
bool processor_state::set_alarm() {
    // What is busy from here on has all of hang_after; what never is does not look at the clock.
    if (const bool busy = how_.is_busy(); busy != was_busy_) {
        was_busy_ = busy;
        if (busy) progress_ = now();
    }
    const std::int64_t at = next_alarm();
    if (at >= alarm_at_) return true;
    alarm_at_ = at;
    if (core::sources(rt_).arm(*this, {.deadline = at})) return true;
    alarm_at_ = INT64_MAX;
    return false;
}

void processor_state::look_again() {
    {
        const locked lock(lock_);
        if (set_alarm()) return;
    }
    go_on_without_time();
}

/// There is no timer: all that is awaited has come, so that nothing waits for ever.
void processor_state::go_on_without_time() {
    {
        const locked lock(lock_);
        away_until_ = 0;
    }
    how_.serve(INT64_MAX);
}

void processor_state::arrived(braid::detail::runtime&, braid::detail::whole_seat&,
                              const core::arrival& what) {
    {
        const locked lock(lock_);
        come_in();
        alarm_at_ = INT64_MAX;
        if (away_until_ <= what.now) away_until_ = 0;
    }
    how_.serve(what.now);
    // Only now: an alarm may come so late that all of it has ended with this very call.
    bool hangs = false, died = false;
    {
        const locked lock(lock_);
        hangs = was_busy_ && how_.is_busy() &&
                what.now >= braid::detail::saturated_sum(progress_, options_.hang_after.value);
        if (hangs) {
            died = note_loss(now());
            come_in();
        }
    }
    if (hangs) end_with_loss(died);
    look_again();
    go_on();
}

}  // namespace device::detail
BRAID_NAMESPACE_END
