#pragma once
// When the next tick is due, and how late the last one was. A template over the clock, so that
// tests drive the time, and a chooser does.

#include "braid/base/policy.hpp"
#include "braid/frame/rate_thread.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

template <class Policy>
class basic_rate_schedule {
public:
    /// `period`: 1 ns at least.
    explicit basic_rate_schedule(nanoseconds period, Policy clock = {})
        : clock_(clock), period_(period.value), due_(next_after(clock_.now())) {}

    /// Sleeps until the next tick is due. False: `stop` is not 0 any more.
    bool wait(const typename Policy::template atomic<std::uint32_t>& stop) const {
        while (true) {
            // acquire: pairs with the release of the thread that stops it.
            if (stop.load(acquire) != 0) return false;
            if (clock_.now() >= due_) return true;
            clock_.wait(stop, 0, due_);
        }
    }

    /// The tick that is due now. Ticks whose time has gone by as a whole are left out: they would
    /// come all at once, and each would be late again.
    rate_tick next(rate_counts& counts) {
        const std::int64_t now = clock_.now();
        const std::int64_t late = now - due_;
        const std::int64_t missed = late / period_;
        counts.lateness.add(nanoseconds{late});
        // relaxed: counts of one writer.
        counts.missed.store(counts.missed.load(relaxed) + static_cast<std::uint64_t>(missed),
                            relaxed);
        due_ += missed * period_;
        number_ += static_cast<std::uint64_t>(missed) + 1;
        const rate_tick tick{.number = number_, .due = due_, .began = now};
        due_ = next_after(due_);
        return tick;
    }

private:
    std::int64_t next_after(std::int64_t moment) const {
        return deadline_after(moment, nanoseconds{period_});
    }

    [[no_unique_address]] Policy clock_;
    std::int64_t period_;
    std::int64_t due_;  // on the grid that began with the thread
    std::uint64_t number_ = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
