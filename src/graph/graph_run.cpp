// A run of a graph: the task that begins it, and the nodes, which release each other.
#include "braid/core/scope.hpp"
#include "core/extension.hpp"
#include "graph/graph_state.hpp"
#include "graph/part_task.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constexpr auto normal = priority_level::normal;

task_id id_of(const graph_plan& plan) { return plan.task.id(plan.index); }

}  // namespace

void graph_run::begin(void* storage, task_context* context) {
    if (context == nullptr) return;
    core::seat& w = core::seat_of(*context);
    const graph_run self = *static_cast<graph_run*>(storage);
    graph_state& g = *self.graph;
    if (g.roots == 0) return;
    self.reset(w, core::running_slot(w));
    if (core::observed(g.rt)) self.report_run(w);
    // From here on nodes run; the run's own work holds it, and so the graph, open until they are
    // all ready.
    for (std::size_t i = g.roots; --i != 0;) self.queue_ready(w, g.plan[g.order[i]]);
    // The loop that runs this body goes on with the first; the other roots are for everybody.
    const graph_plan& first = g.plan[g.order[0]];
    if (!self.is_at_hand(first.task) || !core::run_next_in_body(g.rt, w, first.index)) {
        self.queue_ready(w, first);
    }
}

/// True: the node may run on the thread that makes it ready, at once, as any that has no rank.
[[gnu::always_inline]] inline bool graph_run::is_at_hand(core::own_task node) const {
    return !graph->ranked && node.is_plain();
}

/// Every node as it is before a run. One thread, before any node is ready.
void graph_run::reset(core::seat& w, std::uint32_t run) const {
    const graph_state& g = *graph;
    bool as_before = true;
    const core::own_round round(g.rt, w, run, g.plan[g.order[0]].task, {g.live, g.sinks});
    for (std::uint32_t i = 0; i < g.plan.size(); ++i) {
        const graph_record& record = g.records[i];
        if (record.erased) continue;
        const bool by_rank = g.ranked && record.traits.runs_anywhere();
        const core::own_traits traits = by_rank ? record.traits.at_normal_level() : record.traits;
        const graph_plan& plan = g.plan[i];
        const bool counted_up = round.begin(plan.task, traits, plan.waits_for, i + 1);
        as_before = as_before && counted_up && !record.traits.has_category();
    }
    if (core::wants_stable_ids(g.rt)) identify(run);
    if (g.measured) start_clock();
    if (g.ranked) graph->rank();
    ++graph->runs_of_plan;
    if (!as_before) graph->number_plan();
}

/// By the run, the graph's name and the node's number, whichever thread runs it.
void graph_run::identify(std::uint32_t run) const {
    const graph_state& g = *graph;
    const std::uint64_t base = core::join_stable_ids(core::stable_id_at(g.rt, run), g.name);
    for (std::uint32_t i = 0; i < g.plan.size(); ++i) {
        if (g.records[i].erased) continue;
        core::identify(g.rt, g.plan[i].task, core::join_stable_ids(base, i + 1));
    }
}

namespace {

struct reported_graph_run final : graph_run_events {
    reported_graph_run(const graph_state& graph, core::seat& by) : g(graph), w(by) {
        plan = g.plan_number;
        // All nodes count their generations up by one a run.
        id_offset = core::ids_of_rounds(g.runs_of_plan);
        run = core::running_id(w);
        seat = core::number_of(w);
    }
    void tell_each(observer& to) const override {
        bool same_moment = false;
        for (std::size_t i = 0; i < g.plan.size(); ++i) {
            const graph_plan& p = g.plan[i];
            if (!p.task) continue;
            core::report_spawned(to, w, p.task,
                                 {.id = id_of(p),
                                  .parent = run,
                                  .where = g.records[i].where,
                                  .same_moment = std::exchange(same_moment, true)});
        }
        for (const graph_edge& e : g.all_edges) {
            to.on_event({.kind = event_kind::edge,
                         .seat = seat,
                         .task = id_of(g.plan[e.to]),
                         .other = id_of(g.plan[e.from])});
        }
        for (std::size_t i = 0; i < g.roots; ++i) {
            to.on_event(
                {.kind = event_kind::ready, .seat = seat, .task = id_of(g.plan[g.order[i]])});
        }
    }
    const graph_state& g;
    core::seat& w;
};

}  // namespace

void graph_run::report_run(core::seat& w) const {
    runtime& rt = graph->rt;
    // Before the call: if another observer listens by then, the names are reported again.
    graph->reported_to = core::listening(rt);
    core::observer_of(rt).on_graph_run(reported_graph_run(*graph, w));
}

/// What a node that does not run shows.
void graph_run::start_clock() const {
    graph_state& g = *graph;
    g.began = active_policy::now();
    for (graph_stamp& s : g.stamps) {
        s.started = 0;
        s.ready = s.ended = g.began;
    }
}

namespace {

/// By a node of it.
graph_run run_at(const runtime& rt, std::uint32_t run) {
    return *std::launder(static_cast<const graph_run*>(core::storage_at(rt, run)));
}

}  // namespace

void graph_run::run(runtime& rt, core::seat& w, std::uint32_t index, bool more) {
    const core::own_task task(rt, index);
    const std::uint32_t run = task.parent();
    const graph_run self = run_at(rt, run);
    const graph_plan& plan = self.graph->plan[task.number() - 1];
    // A background thread takes what it was asked to, and nothing of a frame.
    more = more && !core::under_chooser(rt) && !core::is_background(w);
    const graph_plan* const first = self.graph->ranked ? self.by_rank(w, &plan, more) : &plan;
    if (first != nullptr) self.run_nodes(w, run, first, more);
}

void graph_run::ended(runtime& rt, core::seat& w, std::uint32_t index) {
    const core::own_task task(rt, index);
    const graph_run self = run_at(rt, task.parent());
    self.end_node(w, self.graph->plan[task.number() - 1], task.id(index), {}, nullptr);
}

/// Nodes of one run that a thread runs one after the other: one, and with `more` those that it
/// makes ready, and others of the run in the thread's queue.
class graph_run::sequence {
public:
    sequence(const graph_run& run, core::seat& w, std::uint32_t index, const graph_plan& first,
             bool more)
        : plan_(&first),
          run_(run),
          rt_(run.graph->rt),
          seat_(w),
          run_id_(core::id_at(rt_, index)),
          within_(core::scope_at(rt_, index)),
          special_(run.graph->special),
          more_(more),
          id_(id_of(first)) {}
    sequence(const sequence&) = delete;
    sequence& operator=(const sequence&) = delete;

    // The nodes are a source of bodies: see body_source.
    void invoke(core::body_frame& frame);
    bool ended(core::body_frame& frame);
    bool next(core::body_frame& frame);

    /// A node that is ready, for the loop below to go on with; null: none. Then the run may be
    /// complete, and the graph gone.
    const graph_plan* left() const { return next_; }
    /// The node returned has just become ready by this one, which is not reported yet.
    task_id released_by() const { return released_by_; }

private:
    static constexpr unsigned most = 1024;  // until the loop looks at everything else

    void pass_over(const graph_plan& plan, bool unwanted);
    bool end_body(core::body_frame& frame, const graph_plan& plan, node_end& how);
    bool call(core::body_frame& frame, const graph_plan& plan);
    void report_start(const char* name) const;

    const graph_plan* plan_;
    const graph_plan* next_ = nullptr;
    unsigned count_ = 0;
    const graph_run run_;
    runtime& rt_;
    core::seat& seat_;
    const task_id run_id_;
    const scope* const within_;
    const bool special_, more_;
    core::own_facts facts_{0};
    bool observed_ = false, calls_ = false, threw_ = false;
    const char* name_ = nullptr;
    std::int64_t started_ = 0;
    task_id released_by_, id_;
};

[[gnu::always_inline]] inline void graph_run::sequence::invoke(core::body_frame& frame) {
    observed_ = core::observed(rt_);
    facts_ = plan_->task.facts();
    const bool unwanted = facts_.is_cancelled() || core::discarding(rt_) ||
                          (within_ != nullptr && within_->cancelled());
    calls_ = !unwanted && plan_->call != nullptr && !(special_ && run_.left_out(*plan_));
    if (released_by_ && !calls_) run_.report_ready(seat_, *plan_, released_by_);
    if (!calls_) return pass_over(*plan_, unwanted);
    name_ = plan_->task.name();
    started_ = frame.start();
    if (observed_) report_start(name_);
    threw_ = !call(frame, *plan_);
}

[[gnu::always_inline]] inline bool graph_run::sequence::ended(core::body_frame& frame) {
    const graph_plan& plan = *plan_;
    next_ = nullptr;
    node_end how;
    if (calls_ && !end_body(frame, plan, how)) return false;
    if (facts_.may_use_resources()) core::release_resources(rt_, seat_, plan.index);
    // Without the list that completes others: nothing is completed below this.
    if (how.closed || how.completion_reported || plan.task.drop_share()) {
        run_.end_node(seat_, plan, id_, how, more_ ? &next_ : nullptr);
    }
    if (observed_) released_by_ = next_ != nullptr ? id_ : task_id{};
    return ++count_ != most && more_ && !core::wanted_elsewhere(seat_, normal);
}

[[gnu::always_inline]] inline bool graph_run::sequence::next(core::body_frame& frame) {
    if (next_ == nullptr) next_ = run_.next_node(seat_, run_id_);
    if (next_ != nullptr && run_.graph->ranked) next_ = run_.by_rank(seat_, next_, true);
    if (next_ == nullptr) return false;
    plan_ = next_;
    id_ = id_of(*plan_);
    frame.go_on_as(plan_->index, id_);
    return true;
}

void graph_run::sequence::pass_over(const graph_plan& plan, bool unwanted) {
    if (unwanted) {
        run_.cancel(seat_, run_id_, plan, id_);
    } else if (plan.call == nullptr) {
        core::count_executed(seat_);
    } else {
        plan.task.leave_out();  // it, too, if it was the group
        core::count_cancelled(seat_);
        if (core::observed(rt_)) {
            core::report(rt_, seat_, {event_kind::cancelled, id_, {}, plan.task.name()});
        }
    }
}

/// False: another thread has ended the node, and this one has nothing to go on with.
[[gnu::always_inline]] inline bool graph_run::sequence::end_body(core::body_frame& frame,
                                                                 const graph_plan& plan,
                                                                 node_end& how) {
    const attempts* const tries =
        special_ ? run_.graph->attempts_of(plan.task.number() - 1) : nullptr;
    const bool at_once = !threw_ && tries == nullptr && !facts_.may_use_resources();
    how.closed = at_once && !frame.id_taken() && plan.task.close_unknown(id_);
    if (observed_) {
        if (threw_) core::report(rt_, seat_, {event_kind::failed, id_, {}, name_});
        // In one call, where nothing comes in between.
        how.completion_reported = how.closed || (at_once && plan.task.drop_only_share());
        core::observer_of(rt_).on_end(core::number_of(seat_), id_, name_, how.completion_reported);
    }
    if (tries != nullptr && !tries->was_won_by(attempt::first)) {
        // Somebody else ended the node. Everybody has finished: the share of the run that was taken
        // for the second attempt goes.
        core::end_share(rt_, seat_, run_id_);
        return false;
    }
    frame.timed(name_, facts_.may_be_long(), started_);
    return true;
}

[[gnu::always_inline]] inline void graph_run::sequence::report_start(const char* name) const {
    const bool named = run_.graph->reported_to == core::listening(rt_);  // as in observed()
    const unsigned facts = (named ? start_told_by_run : 0U) | (released_by_ ? start_ready_now : 0U);
    core::observer_of(rt_).on_start(core::number_of(seat_), id_, name, facts, released_by_);
}

/// False: it threw.
[[gnu::always_inline]] inline bool graph_run::sequence::call(core::body_frame& frame,
                                                             const graph_plan& plan) {
    const core::own_task task = plan.task;
    task.begin_on(seat_);
    if (run_.graph->measured) {
        graph_stamp& stamp = run_.graph->stamps[task.number() - 1];
        stamp.started = active_policy::now();
        stamp.seat = core::number_of(seat_);
    }

    plan.call(task.storage(), &frame.context());

    if (!frame.failed()) {
        core::count_executed(seat_);
        return true;
    }
    task.set_failed();
    core::count_failed(seat_);
    core::record_failure(rt_, seat_, run_id_, {frame.take_error(), task.number(), task.name()});
    return false;
}

void graph_run::run_nodes(core::seat& w, std::uint32_t run, const graph_plan* plan,
                          bool more) const {
    runtime& rt = graph->rt;
    const graph_plan* left = nullptr;
    task_id released_by;
    {
        // Apart from the nodes, which nobody else sees: the compiler keeps them in registers.
        core::running_task body = core::body_of(w, plan->index, id_of(*plan));
        core::body_frame frame(rt, w, body, id_of(*plan));
        sequence nodes(*this, w, run, *plan, more);
        core::run_sequence(frame, nodes);
        // The run may be complete, and the names of its nodes gone.
        frame.end_times("nodes of a graph");
        left = nodes.left();
        released_by = nodes.released_by();
    }
    if (left == nullptr) return;
    if (released_by) report_ready(w, *left, released_by);
    if (!core::run_next(rt, w, left->index)) core::enqueue(rt, w, left->index);
}

/// The newest task of this thread, if it is a node of the run. If not, the run may be complete and
/// the graph gone.
const graph_plan* graph_run::next_node(core::seat& w, task_id run) const {
    const core::own_task next = core::take_newest_below(w, run);
    return next ? &graph->plan[next.number() - 1] : nullptr;
}

namespace {

/// Stands for a node that was taken out of the ranks. The node's own id cannot be put back: it may
/// still lie in a queue, as the ticket of another one.
struct ranked_node {
    graph_state* graph;
    std::uint32_t of_run, node;
    void run(core::seat& w) const { graph_run{graph}.run_ranked(w, of_run, node); }
};

}  // namespace

/// The scheduler's queues hold a ticket for each ready node; which one runs is for the ranks to
/// say. Null: another task stands for it.
const graph_plan* graph_run::by_rank(core::seat& w, const graph_plan* ticket, bool any) const {
    graph_state& g = *graph;
    if (!ticket->task.runs_anywhere()) return ticket;
    const std::uint32_t own = ticket->task.number() - 1;
    // A thread that waits for something else than the run may only run what it found.
    if (!any && g.ranking.ready.take(g.ranking.of(own).rank)) return ticket;
    const graph_plan* const first = &g.plan[g.ranking.node_at(g.ranking.ready.take())];
    const std::uint32_t run = ticket->task.parent();
    const auto node = static_cast<std::uint32_t>(first - g.plan.begin());
    // Without memory it runs here after all.
    const bool here = any || !post_part(g.rt, w, core::id_at(g.rt, run), first->task.name(),
                                        ranked_node{&g, run, node});
    return here ? first : nullptr;
}

void graph_run::run_ranked(core::seat& w, std::uint32_t run, std::uint32_t node) const {
    run_nodes(w, run, &graph->plan[node], false);
}

void graph_run::report_ready(core::seat& w, const graph_plan& plan, task_id released_by) const {
    core::report(graph->rt, w, {event_kind::ready, id_of(plan), released_by});
}

/// A node that has become ready, which has been reported.
void graph_run::queue_ready(core::seat& w, const graph_plan& plan) const {
    graph_state& g = *graph;
    const bool anywhere = plan.task.runs_anywhere();
    if (g.special && !anywhere && left_out(plan)) {
        // It waits for nothing: not for a thread, nor for resources.
        core::queue_for_anybody(g.rt, w, id_of(plan));
        return;
    }
    if (!g.ranked || !anywhere) {
        core::queue_ready(g.rt, w, plan.index);
        return;
    }
    g.ranking.ready.add(g.ranking.of(plan.task.number() - 1).rank);
    core::enqueue(g.rt, w, plan.index);
}

/// A condition chose otherwise, for the node or for a group that it is in.
bool graph_run::left_out(const graph_plan& plan) const {
    const graph_state& g = *graph;
    std::uint32_t node = plan.task.number() - 1;
    while (node != no_index && !g.plan[node].task.left_out()) node = g.records[node].group;
    return node != no_index;
}

/// The node comes after a failure, or nothing is to run any more: it completes without its body.
void graph_run::cancel(core::seat& w, task_id run, const graph_plan& plan, task_id id) const {
    runtime& rt = graph->rt;
    const core::own_task task = plan.task;
    const bool after_failure = task.set_cancelled();
    core::count_cancelled(w);
    if (core::observed(rt)) core::report(rt, w, {event_kind::cancelled, id, {}, task.name()});
    if (!after_failure) core::record_failure(rt, w, run, {nullptr, task.number(), nullptr});
}

std::int64_t graph_run::stop_clock(const graph_plan& plan) const {
    constexpr std::int64_t weight = 8;  // of the past, against one run
    graph_stamp& stamp = graph->stamps[plan.task.number() - 1];
    stamp.ended = active_policy::now();
    if (stamp.started == 0) return stamp.ended;
    const std::int64_t took = stamp.ended - stamp.started;
    stamp.average = stamp.average == 0 ? took : stamp.average + (took - stamp.average) / weight;
    return stamp.ended;
}

/// The node's work and its children have ended. `next`: takes one that may run at once on this
/// thread, if there is any, and whose `ready` is not reported.
void graph_run::end_node(core::seat& w, const graph_plan& plan, task_id id, node_end how,
                         const graph_plan** next) const {
    graph_state& g = *graph;
    runtime& rt = g.rt;
    const core::own_task task = plan.task;
    const std::uint32_t run = task.parent();
    const bool failed = task.failed();
    if (!how.completion_reported && core::observed(rt)) {
        core::report(rt, w, {event_kind::completed, id, {}, task.name()});
    }
    const std::int64_t now = g.measured ? stop_clock(plan) : 0;
    core::end_own_task(rt, w, task, id, how.closed);
    // After the last of these the run may be complete and the graph gone.
    const std::uint32_t count = plan.successors;
    const core::own_task* const successors = g.successors.begin() + plan.first;
    const graph_plan* const plans = g.plan.begin();
    graph_stamp* const stamps = g.stamps.begin();
    for (std::uint32_t i = 0; i < count; ++i) {
        const core::own_task to = successors[i];
        if (failed) to.follow_failed(task);
        if (!to.drop_wait()) continue;
        const std::uint32_t node = to.number() - 1;
        const graph_plan& ready = plans[node];
        if (now != 0) {
            // Another one that it waited for may have ended after `now`.
            stamps[node].ready = ready.waits_for == 1 ? now : active_policy::now();
        }
        if (next == nullptr || *next != nullptr || !is_at_hand(to)) {
            if (core::observed(rt)) report_ready(w, ready, id);
            queue_ready(w, ready);
            continue;
        }
        *next = &ready;
    }
    if (count == 0) core::end_share(rt, w, core::id_at(rt, run));
}

}  // namespace detail
BRAID_NAMESPACE_END
