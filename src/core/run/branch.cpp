// Branches that other threads have left to this one.
#include "core/run/run_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

bool run_room::run_claimed(run_seat& w, const claimed_branch& claimed) {
    if (!claimed) return false;
    leave_search(w);
    run_branch(w, claimed);
    return true;
}

void run_room::run_branch(run_seat& w, const claimed_branch& claimed) {
    fork_slot& branch = *claimed.slot;
    const std::uint32_t index = branch.task.load(relaxed);
    const task_id id = id_of(index);
    running_task body{
        index,
        w.top,
        {},
        task_context(w.rt, w.whole, slot_at(index).has(flag_posted) ? task_id{} : id)};
    const std::int64_t began = task_clock();
    const std::int64_t outer_elsewhere = w.elsewhere;
    running_task* const outer = begin_body(w, body, id);
    if (observed()) report_branch(w, event_kind::job_started, id, branch, claimed.from);
    const bool threw = branch.run(branch, joins_of_body(w));
    if (observed()) report_branch(w, event_kind::job_ended, id, branch, claimed.from);
    end_body(w, body, outer);
    w.stamp = task_clock();
    w.elsewhere = outer_elsewhere + (w.stamp - began);
    if (options().statistics) {
        seat_counters::add(w.counters.busy_ns, static_cast<std::uint64_t>(w.stamp - began));
    }
    seat_counters::add(w.counters.jobs_stolen);
    // acq_rel: release pairs with the owner's acquire, its slot may be in other use right after;
    // acquire: pairs with enter_wait().
    const std::uint32_t end = threw ? fork_slot::finished | fork_slot::failed : fork_slot::finished;
    const std::uint32_t was = branch.state.exchange(claimed.by | end, acq_rel);
    if ((was & fork_slot::awaited) == 0) return;
    lot().wake(
        address_key(&branch), 1, [](wait_record&) { return true; },
        [this](unsigned seat) { notify(seat); });
}

bool run_room::steal_branch(run_seat& w) {
    claimed_branch claimed;
    any_victim(w, w.fork_victim, [&](const ready_seat& victim) {
        claimed = claim_branch(w, victim, 0, [](std::uint64_t) { return true; });
        return static_cast<bool>(claimed);
    });
    return run_claimed(w, claimed);
}

}  // namespace detail
BRAID_NAMESPACE_END
