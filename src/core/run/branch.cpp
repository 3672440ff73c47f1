// Runs branches that this thread has claimed from the joins of other threads.
#include "core/run/body_frame.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

bool run_room::run_claimed(run_seat& w, const claimed_branch& claimed) {
    if (!claimed) return false;
    leave_search(w);
    flush_scope_ends(w);  // ends of earlier tasks: the branch may take long
    run_branch(w, claimed);
    return true;
}

class run_room::branch_source {
public:
    branch_source(run_room& rt, run_seat& w, const claimed_branch& claimed)
        : rt_(rt),
          w_(w),
          claimed_(claimed),
          id_(rt.slots.id_of(claimed.slot->task.load(relaxed))),
          began_(w.report.stamp) {}

    void invoke(body_frame&) {
        report(event_kind::job_started);
        creator part{};
        const bool identified = rt_.identified();
        if (identified) {
            const ready_seat& owner = rt_.seat_at(claimed_.from);
            enter(w_, part, branch_identity(owner, *claimed_.slot));
        }
        threw_ = claimed_.slot->run(*claimed_.slot, rt_.joins_of_body(w_));
        if (identified) leave(w_, part);
        report(event_kind::job_ended);
    }
    bool ended(body_frame& frame) {
        frame.close();
        w_.report.stamp = rt_.report.task_clock();
        if (rt_.options.statistics) {
            seat_counters::add(w_.report.counters.busy_ns,
                               static_cast<std::uint64_t>(w_.report.stamp - began_));
        }
        seat_counters::add(w_.report.counters.jobs_stolen);
        finish();
        return false;
    }
    bool next(body_frame&) { return false; }

private:
    void report(event_kind kind) const {
        if (rt_.report.observed())
            rt_.report.branch(w_.index, kind, id_, *claimed_.slot, claimed_.from);
    }
    void finish() {
        fork_slot& branch = *claimed_.slot;
        const std::uint32_t end =
            threw_ ? fork_slot::finished | fork_slot::failed : fork_slot::finished;
        // acq_rel: the release pairs with the owner's acquire, and the owner may use the slot for
        // something else right after this. The acquire pairs with wait_target::arm().
        const std::uint32_t was = branch.state.exchange(claimed_.by | end, acq_rel);
        if ((was & fork_slot::awaited) == 0) return;
        rt_.lot().wake(
            branch_key(&branch), 1, [](wait_record&) { return true; },
            [this](unsigned seat) { rt_.notify(seat); });
    }

    run_room& rt_;
    run_seat& w_;
    const claimed_branch claimed_;
    const task_id id_;
    const std::int64_t began_;
    bool threw_ = false;
};

void run_room::run_branch(run_seat& w, const claimed_branch& claimed) {
    w.report.stamp = report.task_clock();
    const std::uint32_t index = claimed.slot->task.load(relaxed);
    const task_id id = slots.id_of(index);
    branch_source branch(*this, w, claimed);
    running_task body = body_of(w, index, slots.at(index).has(flag_posted) ? task_id{} : id);
    body_frame frame(*this, w, body, id);
    run_sequence(frame, branch);
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
