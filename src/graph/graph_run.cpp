// A run of a graph: the task that begins it, and the nodes, which release each other.
#include "braid/core/scope.hpp"
#include "core/attention.hpp"
#include "core/permissions.hpp"
#include "core/scope_counts.hpp"
#include "graph/graph_state.hpp"
#include "graph/part_task.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constexpr auto normal = static_cast<std::uint8_t>(priority_level::normal);

task_id id_of(const graph_plan& plan) { return {join_word(plan.slot->generation(), plan.index)}; }

}  // namespace

void graph_run::begin(void* storage, task_context* context) {
    if (context == nullptr) return;
    worker& w = runtime::worker_of(*context);
    const graph_run self = *static_cast<graph_run*>(storage);
    graph_state& g = *self.graph;
    if (g.roots == 0) return;
    self.reset(w, w.top->slot);
    // From here on nodes run; the run's own work holds it, and so the graph, open until they are
    // all ready.
    for (std::size_t i = g.roots; --i != 0;) self.make_ready(w, g.plan[g.order[i]], {});
    // The loop that runs this body goes on with the first of them, the other roots are for
    // everybody.
    const graph_plan& first = g.plan[g.order[0]];
    if (!self.is_at_hand(*first.slot) || !g.rt.keep(w, first.index, w.depth - 1)) {
        return self.make_ready(w, first, {});
    }
    if (g.rt.options.observer != nullptr) g.rt.tell(w, event_kind::ready, g.rt.id_of(first.index));
}

/// It may run on the thread that makes it ready, at once, as any other node that has no rank.
bool graph_run::is_at_hand(const slot& node) const {
    constexpr std::uint16_t harmless = flag_quiet | flag_never_waits | flag_failed;
    return !graph->ranked && (node.flags.load(relaxed) & ~harmless) == flag_own_way &&
           node.level.load(relaxed) == normal;
}

/// Every node as it is before a run. One thread, before any node is ready.
void graph_run::reset(worker& w, std::uint32_t run) const {
    const graph_state& g = *graph;
    runtime& rt = g.rt;
    slot& own = rt.slots[run];
    const task_environment* const environment = own.environment.load(relaxed);
    const std::uint64_t nodes = g.live;
    seat_counters::add(w.counters.created, nodes);
    runtime::count_creation(w, environment, nodes);
    // relaxed: the share of the run's own work keeps the count above 0.
    own.open.fetch_add(g.sinks, relaxed);
    slot& first = *g.plan[g.order[0]].slot;
    rt.link_parent(first, run);
    const std::uint32_t jump = first.jump.load(relaxed);
    const std::uint16_t depth = first.depth.load(relaxed);
    for (std::uint32_t i = 0; i < g.plan.size(); ++i) {
        const graph_record& record = g.records[i];
        if (record.erased) continue;
        slot& s = *g.plan[i].slot;
        // The last generation is used again and again: whoever still holds an id of the node from
        // an earlier run then takes it for this one's.
        const std::uint32_t generation = std::min(s.generation(), last_generation - 1) + 1;
        open_words(s.open, s.permissions, generation, 1);
        s.environment.store(environment, relaxed);
        s.waits_for.store(g.plan[i].waits_for, relaxed);
        s.parent.store(run, relaxed);
        s.jump.store(jump, relaxed);
        s.depth.store(depth, relaxed);
        s.ordinal.store(i + 1, relaxed);
        s.births.store(0, relaxed);
        s.runner.store(UINT16_MAX, relaxed);
        const bool by_rank = g.ranked && graph_state::has_rank(record.flags);
        const int without = by_rank ? flag_category : 0;
        s.flags.store(static_cast<std::uint16_t>(record.flags & ~without), relaxed);
        s.level.store(by_rank ? normal : record.level, relaxed);
    }
    if (g.measured) start_clock();
    if (g.ranked) graph->rank();
    if (rt.options.observer == nullptr) return;
    bool same_moment = false;
    for (std::size_t i = 0; i < g.plan.size(); ++i) {
        const graph_plan& p = g.plan[i];
        if (p.slot == nullptr) continue;
        rt.tell_spawned(w, *p.slot, rt.id_of(p.index), rt.id_of(run), g.records[i].where,
                        std::exchange(same_moment, true));
    }
    for (const graph_edge& e : g.all_edges) {
        rt.tell(w, event_kind::edge, rt.id_of(g.plan[e.to].index), rt.id_of(g.plan[e.from].index));
    }
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

void graph_run::node(runtime& rt, worker& w, std::uint32_t index, own_step step) {
    const slot& s = rt.slots[index];
    const std::uint32_t run = s.parent.load(relaxed);
    const graph_run self = *std::launder(reinterpret_cast<const graph_run*>(rt.slots[run].storage));
    const graph_plan& plan = self.graph->plan[s.ordinal.load(relaxed) - 1];
    if (step == own_step::ended) {
        self.end_node(w, plan, rt.id_of(index), nullptr);
    } else {
        // A background thread takes what it was asked to, and nothing of a frame.
        const bool more =
            step == own_step::more && rt.turn == nullptr && w.kind != seat_kind::background;
        const graph_plan* const first = self.graph->ranked ? self.by_rank(w, &plan, more) : &plan;
        if (first != nullptr) self.run_nodes(w, run, first, more);
    }
}

/// A node, and with `more` those that it makes ready, and others of this run that lie at hand.
void graph_run::run_nodes(worker& w, std::uint32_t run, const graph_plan* plan, bool more) const {
    constexpr unsigned most = 1024;  // until the loop looks at everything else
    runtime& rt = graph->rt;
    const task_id run_id = rt.id_of(run);
    const bool special = graph->special;
    const bool each = rt.options.statistics;
    const task_environment* const environment = rt.slots[run].environment.load(relaxed);
    const scope* const within = environment != nullptr ? environment->within : nullptr;
    const std::int64_t outer_elsewhere = w.elsewhere;
    const std::int64_t began = each ? active_policy::now() : w.stamp;
    unsigned untimed = 0;
    const char* name = nullptr;
    const graph_plan* left = nullptr;  // ready, and for the loop to go on with
    running_task body{plan->index, w.top, {}, task_context(rt, w, id_of(*plan))};
    running_task* const outer = rt.begin_body(w, body, body.context.id());
    w.elsewhere = 0;
    for (unsigned n = 1;; ++n) {
        slot& s = *plan->slot;
        const task_id id = body.context.id();
        const std::uint16_t flags = s.flags.load(relaxed);
        const bool unwanted = (flags & (flag_failed | flag_cancel)) != 0 ||
                              rt.state.load(relaxed) == life::discarding ||
                              (within != nullptr && within->cancelled());
        name = s.name;
        if (unwanted) {
            cancel(w, run, *plan, id);
        } else if (special && left_out(*plan)) {
            // Its own, too, if it was the group's.
            s.flags.fetch_or(flag_left_out, relaxed);
            seat_counters::add(w.counters.cancelled);
            if (rt.options.observer != nullptr) rt.tell(w, event_kind::cancelled, id, {}, name);
        } else if (plan->call == nullptr) {
            seat_counters::add(w.counters.executed);
        } else {
            const std::int64_t started = each ? active_policy::now() : 0;
            const attempts* const tries =
                special ? graph->attempts_of(s.ordinal.load(relaxed) - 1) : nullptr;
            call(w, body, *plan);
            if (tries != nullptr && !tries->was_won_by(attempt::first)) {
                // Somebody else ended the node. Everybody has finished: the share of the run that
                // was taken for the second attempt goes.
                rt.own_work_done(w, run);
                break;
            }
            if (each) {
                rt.note_duration(w, name, (flags & flag_quiet) != 0, started);
                w.elsewhere = 0;
            } else if (++untimed >= w.time_each || (flags & flag_quiet) != 0) {
                rt.note_durations(w, name, (flags & flag_quiet) != 0, std::exchange(untimed, 0));
            }
        }
        if ((flags & flag_resources) != 0) rt.release_resources(w, plan->index);
        const graph_plan* next = nullptr;
        // As in complete_one(), without its list: nothing is completed below this.
        if (drop_open_work(s.open)) end_node(w, *plan, id, more ? &next : nullptr);
        if (n == most || !more || wanted_elsewhere(rt, w, normal)) {
            left = next;
            break;
        }
        if (next == nullptr) next = next_node(w, run_id);
        if (next != nullptr && graph->ranked) next = by_rank(w, next, true);
        if (next == nullptr) break;
        plan = next;
        runtime::go_on_as(body, w, plan->index, id_of(*plan));
    }
    // The run may be over, and the names of its nodes gone.
    if (untimed != 0) rt.note_durations(w, "nodes of a graph", false, untimed);
    rt.end_body(w, body, outer);
    w.elsewhere = outer_elsewhere + (w.stamp - began);
    if (left != nullptr && !rt.keep(w, left->index, w.depth)) rt.enqueue(w, left->index);
}

/// The newest task of this thread, if it is a node of the run. If not, the run may be over and the
/// graph gone.
const graph_plan* graph_run::next_node(worker& w, task_id run) const {
    const std::uint64_t id = w.ready[normal].newest();
    if (id == 0) return nullptr;
    const slot& s = w.rt.slots[index_of(id)];
    const bool fits = s.has(flag_own_way) && w.rt.is_below(s, run);  // no ticket lies below a run
    if (!fits || !w.ready[normal].take_newest()) return nullptr;
    return &graph->plan[s.ordinal.load(relaxed) - 1];
}

namespace {

/// Stands for a node that was taken out of the ranks. The node's own id cannot be put back: it may
/// still lie in a queue, as the ticket of another one.
struct ranked_node {
    graph_state* graph;
    std::uint32_t of_run, node;
    void run(worker& w) const { graph_run{graph}.run_ranked(w, of_run, node); }
};

}  // namespace

/// The scheduler's queues hold a ticket for each ready node; which one runs is for the ranks to
/// say. Null: another task stands for it.
const graph_plan* graph_run::by_rank(worker& w, const graph_plan* ticket, bool any) const {
    graph_state& g = *graph;
    if (!graph_state::has_rank(ticket->slot->flags.load(relaxed))) return ticket;
    const std::uint32_t own = ticket->slot->ordinal.load(relaxed) - 1;
    // Whoever waits for something else than the run may only run what it found.
    if (!any && g.ranking.ready.take(g.ranking.of(own).rank)) return ticket;
    const graph_plan* const first = &g.plan[g.ranking.node_at(g.ranking.ready.take())];
    const std::uint32_t run = ticket->slot->parent.load(relaxed);
    const auto node = static_cast<std::uint32_t>(first - g.plan.begin());
    // Without memory it runs here after all.
    const bool here =
        any || !post_part(g.rt, w, g.rt.id_of(run), first->slot->name, ranked_node{&g, run, node});
    return here ? first : nullptr;
}

void graph_run::run_ranked(worker& w, std::uint32_t run, std::uint32_t node) const {
    run_nodes(w, run, &graph->plan[node], false);
}

void graph_run::make_ready(worker& w, const graph_plan& plan, task_id released_by) const {
    graph_state& g = *graph;
    const slot& s = *plan.slot;
    if (g.special && !graph_state::has_rank(s.flags.load(relaxed)) && left_out(plan)) {
        // Waits for nothing: not for a thread, nor for resources.
        if (g.rt.options.observer != nullptr) {
            g.rt.tell(w, event_kind::ready, id_of(plan), released_by, nullptr);
        }
        g.rt.push_ready(w, id_of(plan), normal);
        return;
    }
    if (!g.ranked || !graph_state::has_rank(s.flags.load(relaxed))) {
        g.rt.make_ready(w, plan.index, released_by);
        return;
    }
    if (g.rt.options.observer != nullptr) {
        g.rt.tell(w, event_kind::ready, id_of(plan), released_by, nullptr);
    }
    g.ranking.ready.add(g.ranking.of(s.ordinal.load(relaxed) - 1).rank);
    g.rt.enqueue(w, plan.index);
}

/// A condition chose otherwise, for the node or for a group that it is in.
bool graph_run::left_out(const graph_plan& plan) const {
    const graph_state& g = *graph;
    std::uint32_t node = plan.slot->ordinal.load(relaxed) - 1;
    while (node != no_index && !g.plan[node].slot->has(flag_left_out)) node = g.records[node].group;
    return node != no_index;
}

/// It comes after a failure, or nothing is to run any more: it is over without its body.
void graph_run::cancel(worker& w, std::uint32_t run, const graph_plan& plan, task_id id) const {
    runtime& rt = graph->rt;
    slot& s = *plan.slot;
    const bool after_failure = (s.flags.fetch_or(flag_failed, relaxed) & flag_failed) != 0;
    seat_counters::add(w.counters.cancelled);
    if (rt.options.observer != nullptr) rt.tell(w, event_kind::cancelled, id, {}, s.name);
    if (!after_failure) rt.record_failure(w, run, nullptr, s.ordinal.load(relaxed));
}

void graph_run::call(worker& w, running_task& body, const graph_plan& plan) const {
    runtime& rt = graph->rt;
    slot& s = *plan.slot;
    const bool observed = rt.options.observer != nullptr;
    s.runner.store(w.index, relaxed);
    if (graph->measured) {
        graph_stamp& stamp = graph->stamps[s.ordinal.load(relaxed) - 1];
        stamp.started = active_policy::now();
        stamp.seat = w.index;
    }
    if (observed) rt.tell(w, event_kind::started, body.context.id(), {}, s.name);

    plan.call(s.storage, &body.context);

    const bool failed = body.error != nullptr;
    if (observed && failed) rt.tell(w, event_kind::failed, body.context.id(), {}, s.name);
    if (observed) rt.tell(w, event_kind::ended, body.context.id(), {}, s.name);
    if (!failed) {
        seat_counters::add(w.counters.executed);
        return;
    }
    s.flags.fetch_or(flag_failed, relaxed);
    seat_counters::add(w.counters.failed);
    rt.record_failure(w, s.parent.load(relaxed), std::exchange(body.error, nullptr),
                      s.ordinal.load(relaxed), s.name);
}

std::int64_t graph_run::stop_clock(const graph_plan& plan) const {
    constexpr std::int64_t weight = 8;  // of the past, against one run
    graph_stamp& stamp = graph->stamps[plan.slot->ordinal.load(relaxed) - 1];
    stamp.ended = active_policy::now();
    if (stamp.started == 0) return stamp.ended;
    const std::int64_t took = stamp.ended - stamp.started;
    stamp.average = stamp.average == 0 ? took : stamp.average + (took - stamp.average) / weight;
    return stamp.ended;
}

/// The node's work and its children are over. `next`: takes one that may run at once on this
/// thread, if there is any.
void graph_run::end_node(worker& w, const graph_plan& plan, task_id id,
                         const graph_plan** next) const {
    graph_state& g = *graph;
    runtime& rt = g.rt;
    slot& s = *plan.slot;
    const std::uint32_t run = s.parent.load(relaxed);
    const bool failed = s.has(flag_failed);
    if (rt.options.observer != nullptr) rt.tell(w, event_kind::completed, id, {}, s.name);
    const std::int64_t now = g.measured ? stop_clock(plan) : 0;
    const std::uint64_t head = close_and_take(s.permissions, generation_of(id.value));
    if (failed) {
        // A child's, which came to the node as to every parent.
        if (outcome* own = rt.take_outcome(s)) {
            rt.adopt(w, run, own, s.ordinal.load(relaxed));
        }
    }
    if (first_edge(head) != no_edge || (static_cast<std::uint32_t>(head) & waited_bit) != 0) {
        outcome* const cause = failed ? rt.share_outcome(rt.slots[run]) : nullptr;
        rt.tell_dependents(w, plan.index, head, cause);
        rt.drop(cause);
    }
    const task_environment* const environment = s.environment.load(relaxed);
    if (environment != nullptr && environment->within != nullptr) {
        using ended = runtime::end_of_task;
        ended how = s.has(flag_left_out) ? ended::cancelled : ended::executed;
        if (failed) {
            how = s.runner.load(relaxed) != UINT16_MAX ? ended::failed : ended::cancelled;
        }
        rt.count_end(w, *environment->within, how);
    }
    // After the last of these the run may be over and the graph gone.
    const std::uint32_t count = plan.successors;
    const graph_successor* const successors = g.successors.begin() + plan.first;
    const graph_plan* const plans = g.plan.begin();
    graph_stamp* const stamps = g.stamps.begin();
    for (std::uint32_t i = 0; i < count; ++i) {
        slot& to = *successors[i].slot;
        // relaxed: seen by whoever drops the last of its counts.
        if (failed) to.flags.fetch_or(flag_failed, relaxed);
        if (!drop_wait(to.waits_for)) continue;
        const std::uint32_t node = to.ordinal.load(relaxed) - 1;
        const graph_plan& ready = plans[node];
        if (now != 0) stamps[node].ready = now;
        if (next == nullptr || *next != nullptr || !is_at_hand(to)) {
            make_ready(w, ready, id);
            continue;
        }
        *next = &ready;
        if (rt.options.observer != nullptr) rt.tell(w, event_kind::ready, id_of(ready), id);
    }
    if (count == 0) rt.own_work_done(w, run);
}

}  // namespace detail
BRAID_NAMESPACE_END
