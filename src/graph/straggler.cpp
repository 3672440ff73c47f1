// Running a node again whose thread was switched out.
#include "base/platform/platform.hpp"
#include "braid/core/scope.hpp"
#include "braid/graph/graph.hpp"
#include "core/permissions.hpp"
#include "core/seat_lease.hpp"
#include "graph/graph_state.hpp"
#include "graph/part_task.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

void attempts::begin() {
    began_.store(active_policy::now(), relaxed);
    clock_.store(platform::this_thread_time_clock(), relaxed);
    // release: pairs with stands_still(): a thread that sees `one` sees these two.
    state_.store(one, release);
}

bool attempts::stands_still(std::int64_t now, std::int64_t enough) {
    constexpr std::int64_t least_share =
        16;  // of the time since; the kernel's own work is not ours
    if (state_.load(acquire) != one) return false;
    const std::int64_t ran = platform::thread_time(clock_.load(relaxed));
    const std::int64_t began = began_.load(relaxed);
    if (ran < 0) return false;  // there is no such thread any more
    const bool same = began == began_then_ && looked_at_ != 0;
    const std::int64_t since = now - looked_at_;
    if (same && since < enough) return false;
    const bool still = same && (ran - ran_then_) * least_share < since;
    looked_at_ = now;
    began_then_ = began;
    ran_then_ = ran;
    return still;
}

attempts* graph_state::attempts_of(std::uint32_t node) const {
    const graph_idempotent* const end = idempotent.end();
    const graph_idempotent* const found =
        std::lower_bound(idempotent.begin(), end, node,
                         [](const graph_idempotent& i, std::uint32_t n) { return i.node < n; });
    return found != end && found->node == node ? found->attempts : nullptr;
}

namespace {

/// This has a share of the run's open work, or the first attempt has.
struct second_attempt {
    graph_state* graph;
    std::uint32_t of_run, node;
    void run(worker& w) const { graph_run{graph}.run_again(w, of_run, node); }
};

}  // namespace

void graph_state::rerun_stragglers(worker& w, task_id run, std::int64_t enough) {
    const std::uint32_t of = index_of(run.value);
    if (rt.state.load(relaxed) != life::running) return;
    // Held, so that the graph stays as it is meanwhile. A run that has begun is the only one: those
    // before it are complete, so that what stands still belongs to it.
    if (!add_open_work(rt.slots[of].open, generation_of(run.value))) return;
    std::unique_lock looking(beginning, std::try_to_lock);  // one thread at a time
    const bool begun = rt.slots[of].runner.load(relaxed) != UINT16_MAX;
    const std::int64_t now = active_policy::now();
    for (const graph_idempotent& i : idempotent) {
        if (!begun || !looking || !i.attempts->stands_still(now, enough)) continue;
        // Taken before the second one begins: the run lasts until the last of the two.
        rt.slots[of].open.fetch_add(1, relaxed);
        const bool second = i.attempts->begin_second();
        const second_attempt again{this, of, i.node};
        if (second && post_part(rt, w, run, name_of(i.node), again)) {
            reruns.fetch_add(1, relaxed);  // a count
            continue;
        }
        // No memory. The first one may have finished by now and left its share to the second.
        if (second) i.attempts->take_second_back();
        rt.own_work_done(w, of);
    }
    if (looking) looking.unlock();  // below the run may be complete, and the graph gone
    rt.own_work_done(w, of);
}

void graph_run::run_again(worker& w, std::uint32_t run, std::uint32_t node) const {
    graph_state& g = *graph;
    runtime& rt = g.rt;
    const graph_plan& p = g.plan[node];
    slot& s = *p.slot;
    running_task& task = *w.top;
    attempts& tries = *g.attempts_of(node);
    const task_environment* const environment = rt.slots[run].environment.load(relaxed);
    const scope* const within = environment != nullptr ? environment->within : nullptr;
    const bool late = tries.was_won_by(attempt::first) ||
                      rt.state.load(relaxed) == life::discarding ||
                      (within != nullptr && within->cancelled());
    if (late) {
        // Nobody needs it any more. The first one may have finished and left its share to it.
        tries.take_second_back();
        rt.own_work_done(w, run);
        return;
    }
    p.call(s.storage, &task.context);

    if (!tries.was_won_by(attempt::second)) {
        rt.own_work_done(w, run);  // the last of the two
        return;
    }
    if (task.error != nullptr) {
        s.flags.fetch_or(flag_failed, relaxed);
        rt.record_failure(w, run, std::exchange(task.error, nullptr), s.ordinal.load(relaxed),
                          s.name);
    }
    const task_id id = rt.id_of(p.index);
    if (drop_open_work(s.open)) end_node(w, p, id, false, false, nullptr);
}

}  // namespace detail

bool graph::may_be_idempotent(const node_options& o) const {
    return BRAID_EXPECT(
        rt_.options.assertion,
        !o.on && o.workers == 0 && o.uses.size() == 0 && o.runs_as == task_class::frame,
        "an idempotent node may run on any thread; give it no thread, no resource "
        "and no background class");
}

graph_node graph::keep_attempts(graph_node node, detail::attempts& of) {
    if (state_->idempotent.push({node.index, &of})) return node;
    erase(node);
    return {};
}

std::uint64_t graph::reruns() const { return state_ != nullptr ? state_->reruns.load(relaxed) : 0; }

BRAID_NAMESPACE_END
