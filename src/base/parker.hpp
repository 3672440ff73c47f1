#pragma once
// One thread sleeps here; anybody may wake it. A wake-up that comes first is kept (one of them),
// so "look, then park" loses nothing as long as the waker changes the world before it notifies.
//
//            notify                    notify: wake the sleeper
//   empty ───────────► notified      parked ───────────► notified
//     ▲ park: take it      │            ▲ park: nothing there
//     └────────────────────┘            └──── empty

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN

template <class Policy>
class basic_parker {
public:
    /// Owner only. Returns after a notify() (one since the last park is enough), at the deadline
    /// (monotonic ns), or early; the caller looks again in each case. False: the deadline passed.
    bool park(std::int64_t deadline_ns = INT64_MAX) {
        return park(deadline_ns, [] {});
    }
    /// Calls `woke()` before it takes the notification: who reads that there is none, and then what
    /// woke() has written, does not miss a thread that is on its way out.
    template <class Woke>
    bool park(std::int64_t deadline_ns, Woke&& woke) {
        std::uint32_t expected = empty;
        if (!state_.compare_exchange_strong(expected, parked, relaxed, relaxed)) {
            woke();
            // acquire: pairs with the release in notify(). What the wakers wrote before they
            // notified is visible after park() returns. release: pairs with is_notified(). An
            // exchange, not a store: the caller would look at the world before the store is done,
            // and a second notify() that came in between would be overwritten unseen.
            state_.exchange(empty, acq_rel);
            return true;
        }
        while (true) {
            Policy::wait(state_, parked, deadline_ns);
            // relaxed: the exchange acquires.
            if (state_.load(relaxed) != notified && !has_passed(deadline_ns)) continue;
            woke();
            // A notify() that came in between is taken along, not lost.
            return state_.exchange(empty, acq_rel) == notified;
        }
    }

    /// Any thread. Costs 6 ns when nobody is parked, a futex wake (1-3 µs) when somebody is.
    void notify() {
        // release: pairs with the acquires in park().
        if (state_.exchange(notified, release) == parked) Policy::wake_one(state_);
    }

    /// Any thread. True if somebody has notified, and the owner has not come back from park()
    /// since.
    bool is_notified() const {
        // acquire: pairs with the release in notify(). Who has seen since that the notifier sleeps
        // sees its notification here.
        return state_.load(acquire) == notified;
    }

private:
    static bool has_passed(std::int64_t deadline_ns) {
        return deadline_ns != INT64_MAX && Policy::now() >= deadline_ns;
    }

    static constexpr std::uint32_t empty = 0, notified = 1, parked = 2;
    typename Policy::template atomic<std::uint32_t> state_{empty};
};

using parker = basic_parker<active_policy>;

BRAID_NAMESPACE_END
