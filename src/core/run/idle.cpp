// A thread that finds no work polls for a while, announces its sleep, checks once more, and sleeps.
#include "core/run/run_room.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

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

/// Records that the thread has work again, which ends its gap without work.
void end_gap(run_seat& w) {
    const std::int64_t since = std::exchange(w.without_work_since, 0);
    if (since != 0) w.gaps.note(active_policy::now() - since);
}

}  // namespace

/// Polls for work, for a time that depends on the program's `parking` option. Returns true if the
/// thread has run something.
bool run_room::search(run_seat& w) {
    const bool goes_on = phase(relaxed) == life::running;
    std::int64_t ns = serial || !goes_on ? 0 : search_before_sleep(options.idle);
    // The thread polls for longer only if it takes no core from a thread that has work.
    if (policies::short_gaps && ns != 0 && active_workers(relaxed) < cores()) {
        ns = w.gaps.search_time(ns);
    }
    const std::int64_t began = ns != 0 ? active_policy::now() : 0, until = began + ns;
    if (policies::short_gaps && w.without_work_since == 0) w.without_work_since = began;
    constexpr unsigned looks_at_clock = 4;
    for (unsigned i = 1; ns != 0; ++i) {
        if (i % looks_at_clock == 0 && active_policy::now() >= until) break;
        pause_between_looks();
        if (const task_id id = next_task(w)) {
            if constexpr (policies::short_gaps) end_gap(w);
            leave_search(w);
            run(w, id, true);
            run_chain(w);
            return true;
        }
        if (steal_branch(w)) {
            w.without_work_since = 0;  // the branch has run, so the gap's length is not known
            return true;
        }
    }
    return false;
}

void run_room::idle(run_seat& w) {
    flush_scope_ends(w);
    note_core(w);
    if (w.search == searcher::none) {
        asleep().begin_search(searcher::idle);
        w.search = searcher::idle;
        if (report.observed()) report.event(w.index, event_kind::searching, {});
    }
    if (search(w)) return;
    rest_plan plan;
    if constexpr (policies::expect_work) plan = plan_rest(w);
    if (plan.polls) return pause_between_looks();
    // This is the check after the announcement (I5). It covers everything for which this thread
    // must stay awake.
    const auto wanted = [&] {
        return work_visible() || direct_work_after_announcement(w) ||
               phase(seq_cst) == life::closed || expected_at_.load(seq_cst) != plan.expected;
    };
    before_sleep(w);
    const searcher now = std::exchange(w.search, searcher::none);
    w.search = asleep().rest(w.index, searcher::idle, now, wanted, [&] { sleep(w, plan.until); });
    w.report.stamp = active_policy::coarse_now();
    if (policies::short_gaps && w.search != searcher::none) end_gap(w);
}

}  // namespace detail
BRAID_NAMESPACE_END
