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
        std::uint32_t expected = empty;
        if (!state_.compare_exchange_strong(expected, parked, relaxed, relaxed)) {
            // acquire: pairs with the release in notify(). What the wakers wrote before they
            // notified is visible after park() returns. An exchange, not a store: the caller
            // would look at the world before the store is done, and a second notify() that came
            // in between would be overwritten unseen.
            state_.exchange(empty, acquire);
            return true;
        }
        bool in_time = true;
        while (true) {
            Policy::wait(state_, parked, deadline_ns);
            expected = notified;
            if (state_.compare_exchange_strong(expected, empty, acquire, relaxed)) break;
            if (deadline_ns != INT64_MAX && Policy::now() >= deadline_ns) {
                // acquire: a notify() that came in between is taken along, not lost.
                in_time = state_.exchange(empty, acquire) == notified;
                break;
            }
        }
        return in_time;
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

    /// Any thread. True while the owner sleeps, and nobody has notified it.
    bool is_parked() const {
        // acquire: as is_notified().
        return state_.load(acquire) == parked;
    }

private:
    static constexpr std::uint32_t empty = 0, notified = 1, parked = 2;
    typename Policy::template atomic<std::uint32_t> state_{empty};
};

using parker = basic_parker<active_policy>;

BRAID_NAMESPACE_END
