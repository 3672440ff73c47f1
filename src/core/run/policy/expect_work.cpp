// A policy: when work comes that the program has announced, workers are already awake. The
// benchmark row fanout.64x2.cold asked for it: there a worker sleeps between two frames and needs
// 20 to 90 µs to wake. The row `braid announced` shows the effect. Without this policy
// scheduler::expect_work() does nothing. See docs/design/policies.md.
#include "core/run/run_room.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

// How long before the announced time a worker wakes (to make up for the timer's delay and for the
// way out of a sleeping core), and how long after the announced time it keeps polling.
constexpr std::int64_t wake_before_ns = 60'000;
constexpr std::int64_t look_after_ns = 200'000;

}  // namespace

void run_room::expect_work(nanoseconds in) {
    std::int64_t at = deadline_after(active_policy::now(), in);
    if (at == INT64_MAX) at = 0;         // 0 means that no work is announced
    at = std::max<std::int64_t>(at, 0);  // the time may be before the clock's start
    // seq_cst: this store comes before the check for sleepers. A thread that announces its sleep
    // after that check sees the new time.
    expected_at_.store(at, seq_cst);
    notify_of_expected_work(at);
}

/// Wakes one thread that fell asleep before the announcement. That thread wakes the next one.
void run_room::notify_of_expected_work(std::int64_t at) {
    if (!asleep().anybody_asleep()) return;
    for (unsigned i = 0; i < seat_count(); ++i) {
        const ready_seat* w = &seat_at(i);
        if (w->expected_at.load(relaxed) == at) continue;
        if (!asleep().asleep(i, searcher::idle) || !asleep().take(i)) continue;
        notify(i);
        return;
    }
}

run_room::rest_plan run_room::plan_rest(run_seat& w) {
    const std::int64_t expected = expected_at_.load(seq_cst);  // pairs with expect_work()
    if (w.expected_at.load(relaxed) != expected) {
        w.expected_at.store(expected, relaxed);
        notify_of_expected_work(expected);
    }
    if (expected == 0 || serial) return {.expected = expected};
    const std::int64_t now = active_policy::now();
    if (now < expected - wake_before_ns) {
        return {.expected = expected, .until = expected - wake_before_ns};
    }
    return {.expected = expected, .polls = now < expected + look_after_ns};
}

}  // namespace detail
BRAID_NAMESPACE_END
