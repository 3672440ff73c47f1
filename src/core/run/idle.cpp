// A thread that finds nothing to do: it polls for a while, announces itself, looks again, sleeps.
#include "core/run/run_room.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

// How long before the announced time a worker wakes (a timer's delay and the way out of a sleeping
// core), and how long after that time it keeps polling.
constexpr std::int64_t wake_before_ns = 60'000;
constexpr std::int64_t look_after_ns = 200'000;

std::int64_t search_before_sleep(parking p) {
    switch (p) {
        case parking::latency:
            return 50'000;
        case parking::balanced:
            return 25'000;
        case parking::power:
            return 0;
    }
    return 0;
}

}  // namespace

/// The thread looks again and again for as long as the program's choice of parking says. True: it
/// has run something.
bool run_room::search(run_seat& w) {
    const bool goes_on = phase(relaxed) == life::running;
    const std::int64_t ns = serial() || !goes_on ? 0 : search_before_sleep(options().idle);
    const std::int64_t until = ns != 0 ? active_policy::now() + ns : 0;
    constexpr unsigned looks_at_clock = 4;
    for (unsigned i = 1; ns != 0; ++i) {
        if (i % looks_at_clock == 0 && active_policy::now() >= until) break;
        pause_between_looks();
        if (const task_id id = next_task(w)) {
            leave_search(w);
            run(w, id, true);
            run_chain(w);
            return true;
        }
        if (steal_branch(w)) return true;
    }
    return false;
}

void run_room::idle(run_seat& w) {
    flush_scope_ends(w);
    note_core(w);
    if (w.search == searcher::none) {
        asleep().begin_search(searcher::idle);
        w.search = searcher::idle;
        if (observed()) report(w, event_kind::searching, {});
    }
    if (search(w)) return;
    const std::int64_t expected = expected_at_.load(seq_cst);
    if (w.expected_at.load(relaxed) != expected) {
        w.expected_at.store(expected, relaxed);
        notify_of_expected_work(expected);
    }
    std::int64_t deadline = INT64_MAX;
    if (expected != 0 && !serial()) {
        const std::int64_t now = active_policy::now();
        if (now < expected - wake_before_ns) {
            deadline = expected - wake_before_ns;
        } else if (now < expected + look_after_ns) {
            pause_between_looks();
            return;  // and poll again
        }
    }
    // The look after the announcement (I5). Everything that could want this thread is looked at.
    const auto wanted = [&] {
        return work_visible() || direct_work_after_announcement(w) ||
               phase(seq_cst) == life::closed || expected_at_.load(seq_cst) != expected;
    };
    before_sleep(w);
    const searcher now = std::exchange(w.search, searcher::none);
    w.search = asleep().rest(w.index, searcher::idle, now, wanted, [&] { sleep(w, deadline); });
    w.stamp = active_policy::coarse_now();
}

void run_room::expect_work(nanoseconds in) {
    std::int64_t at = deadline_after(active_policy::now(), in);
    if (at == INT64_MAX) at = 0;         // never
    at = std::max<std::int64_t>(at, 0);  // before the clock began
    // seq_cst: before the look at who sleeps. A thread that announces a sleep after that sees it.
    expected_at_.store(at, seq_cst);
    notify_of_expected_work(at);
}

/// Wakes one thread that fell asleep before it was said; that one wakes the next.
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

}  // namespace detail
BRAID_NAMESPACE_END
