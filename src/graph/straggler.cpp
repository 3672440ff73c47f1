// Running a node again whose thread was switched out.
#include "base/platform/platform.hpp"
#include "braid/core/scope.hpp"
#include "braid/graph/graph.hpp"
#include "core/extension.hpp"
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
    task_id of_run;
    std::uint32_t node;
    void run(core::seat& w) const { graph_run{graph}.run_again(w, of_run, node); }
};

}  // namespace

void graph_state::rerun_stragglers(core::seat& w, task_id run, std::int64_t enough) {
    if (!core::accepts_tasks(rt)) return;
    // Held, so that the graph stays as it is meanwhile. A run that has begun is the only one: those
    // before it are complete, so that what stands still belongs to it.
    if (!core::add_share(rt, run)) return;
    {
        const std::unique_lock looking(beginning, std::try_to_lock);  // one thread at a time
        const bool begun = core::has_begun(rt, run);
        const std::int64_t now = active_policy::now();
        for (const graph_idempotent& i : idempotent) {
            if (begun && looking && i.attempts->stands_still(now, enough)) rerun(w, run, i);
        }
    }
    core::end_share(rt, w, run);  // the run may be complete, and the graph gone
}

void graph_state::rerun(core::seat& w, task_id run, const graph_idempotent& node) {
    // Taken before the second one begins: the run lasts until the last of the two.
    core::add_another_share(rt, run);
    const bool second = node.attempts->begin_second();
    const second_attempt again{this, run, node.node};
    if (second && post_part(rt, w, run, name_of(node.node), again)) {
        reruns.fetch_add(1, relaxed);  // a count
        return;
    }
    // No memory. The first one may have finished by now and left its share to the second.
    if (second) node.attempts->take_second_back();
    core::end_share(rt, w, run);
}

void graph_run::run_again(core::seat& w, task_id run, std::uint32_t node) const {
    graph_state& g = *graph;
    runtime& rt = g.rt;
    const graph_plan& p = g.plan[node];
    const core::own_task task = p.task;
    const core::running_body body(w);
    attempts& tries = *g.attempts_of(node);
    if (tries.was_won_by(attempt::first) || core::is_unwanted(rt, run)) {
        // Nobody needs it any more. The first one may have finished and left its share to it.
        tries.take_second_back();
        core::end_share(rt, w, run);
        return;
    }
    p.call(task.storage(), &body.context());

    if (!tries.was_won_by(attempt::second)) {
        core::end_share(rt, w, run);  // the last of the two
        return;
    }
    if (body.failed()) {
        task.set_failed();
        core::record_failure(rt, w, run, {body.take_error(), task.number(), task.name()});
    }
    if (task.drop_share()) end_node(w, p, task.id(p.index), {}, nullptr);
}

}  // namespace detail

bool graph::may_be_idempotent(const node_options& o) const {
    return BRAID_EXPECT(
        detail::core::misuse(rt_),
        !o.on && o.workers == 0 && o.uses.size() == 0 && o.runs_as == task_class::frame,
        "an idempotent node may run on any thread; give it no thread, no resource "
        "and no background class");
}

graph_node graph::keep_attempts(graph_node node, detail::attempts& of) {
    if (state_->idempotent.push({node.index, &of})) return node;
    erase(node);
    return {};
}

std::uint64_t graph::reruns() const {
    detail::core::point(rt_);
    return state_ != nullptr ? state_->reruns.load(relaxed) : 0;
}

BRAID_NAMESPACE_END
