// Running a node again whose thread was switched out.
#include "base/platform/platform.hpp"
#include "braid/graph/graph.hpp"
#include "core/permissions.hpp"
#include "core/seat_lease.hpp"
#include "graph/graph_state.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

void attempts::begin() {
    began_.store(active_policy::now(), relaxed);
    clock_.store(platform::this_thread_time_clock(), relaxed);
    // release: pairs with stands_still(): whoever sees `one` sees these two.
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

/// The task of a second attempt. It has a share of the run's open work, or the first one has.
struct second_attempt {
    graph_state* graph;
    std::uint32_t run, node;

    static void body(void* storage, task_context* context) {
        if (context == nullptr) return;
        const second_attempt self = *static_cast<second_attempt*>(storage);
        graph_run{self.graph}.run_again(runtime::worker_of(*context), self.run, self.node);
    }
};

}  // namespace

void graph_state::rerun_stragglers(worker& w, task_id run, std::int64_t enough) {
    const std::uint32_t of = index_of(run.value);
    const std::int64_t now = active_policy::now();
    for (const graph_idempotent& i : idempotent) {
        if (!i.attempts->stands_still(now, enough)) continue;
        // Taken before the second one begins: the run lasts until the last of the two.
        if (!add_open_work(rt.slots[of].open, generation_of(run.value))) return;
        if (!i.attempts->begin_second()) {
            rt.own_work_done(w, of);
            continue;
        }
        const draft opened =
            open_task(rt, &w, {.name = name_of(i.node), .parent = run}, draft_kind::posted);
        if (opened.storage == nullptr) {
            // No memory. The first one may have finished by now and left its share to the second.
            i.attempts->take_second_back();
            rt.own_work_done(w, of);
            continue;
        }
        reruns.fetch_add(1, relaxed);  // a count
        ::new (opened.storage) second_attempt{this, of, i.node};
        publish_task(rt, opened, &second_attempt::body);
    }
}

void graph_run::run_again(worker& w, std::uint32_t run, std::uint32_t node) const {
    graph_state& g = *graph;
    runtime& rt = g.rt;
    const graph_plan& p = g.plan[node];
    slot& s = *p.slot;
    running_task& task = *w.top;

    p.call(s.storage, &task.context);

    if (!g.attempts_of(node)->was_won_by(attempt::second)) {
        rt.own_work_done(w, run);  // the last of the two
        return;
    }
    if (task.error != nullptr) {
        s.flags.fetch_or(flag_failed, relaxed);
        rt.record_failure(w, run, std::exchange(task.error, nullptr), s.ordinal.load(relaxed),
                          s.name);
    }
    const task_id id = rt.id_of(p.index);
    if (drop_open_work(s.open)) end_node(w, p, id, nullptr);
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
