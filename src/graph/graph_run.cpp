// A run of a graph: the task that begins it, and the nodes, which release each other.
#include "braid/core/scope.hpp"
#include "core/attention.hpp"
#include "core/permissions.hpp"
#include "core/scope_counts.hpp"
#include "core/stable_ids.hpp"
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
    if (g.rt.observed()) self.tell_run(w);
    // From here on nodes run; the run's own work holds it, and so the graph, open until they are
    // all ready.
    for (std::size_t i = g.roots; --i != 0;) self.queue_ready(w, g.plan[g.order[i]]);
    // The loop that runs this body goes on with the first; the other roots are for everybody.
    const graph_plan& first = g.plan[g.order[0]];
    if (!self.is_at_hand(*first.slot) || !g.rt.keep(w, first.index, w.depth - 1)) {
        self.queue_ready(w, first);
    }
}

/// True: the node may run on the thread that makes it ready, at once, as any that has no rank.
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
    bool as_before = true;
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
        // The last generation is used again and again: a holder of an id of the node from an
        // earlier run then takes it for this one's.
        const std::uint32_t generation = std::min(s.generation(), last_generation - 1) + 1;
        as_before =
            as_before && generation != s.generation() && (record.flags & flag_category) == 0;
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
    if (rt.identities != nullptr) identify(own);
    if (g.measured) start_clock();
    if (g.ranked) graph->rank();
    ++graph->runs_of_plan;
    if (!as_before) graph->number_plan();
}

/// By the run, the graph's name and the node's number, whichever thread runs it.
void graph_run::identify(const slot& run) const {
    const graph_state& g = *graph;
    const detail_block* const own = g.rt.detail_of(run);
    const std::uint64_t base =
        stable_ids::join(own != nullptr ? own->stable_id : 0, stable_ids::of_name(g.name));
    for (std::uint32_t i = 0; i < g.plan.size(); ++i) {
        if (g.records[i].erased) continue;
        detail_block* const d = g.rt.detail_of(*g.plan[i].slot);
        if (d == nullptr) continue;
        d->stable_id = stable_ids::join(base, i + 1);
        d->creations.store(0, relaxed);
    }
}

namespace {

struct told_graph_run final : graph_run_events {
    told_graph_run(const graph_state& graph, worker& by) : g(graph), w(by) {
        runtime& rt = g.rt;
        plan = g.plan_number;
        // All nodes count their generations up by one a run.
        id_offset = join_word(g.runs_of_plan, 0);
        run = rt.id_of(w.top->slot);
        seat = w.index;
    }
    void tell_each(observer& to) const override {
        runtime& rt = g.rt;
        bool same_moment = false;
        for (std::size_t i = 0; i < g.plan.size(); ++i) {
            const graph_plan& p = g.plan[i];
            if (p.slot == nullptr) continue;
            rt.tell_spawned(to, w, *p.slot, id_of(p), run, g.records[i].where,
                            std::exchange(same_moment, true), false);
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
    worker& w;
};

}  // namespace

void graph_run::tell_run(worker& w) const {
    runtime& rt = graph->rt;
    // Before the call: if another observer listens by then, the names are reported again.
    graph->told_to = rt.listens->load(relaxed);
    rt.options.observer->on_graph_run(told_graph_run(*graph, w));
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
        self.end_node(w, plan, rt.id_of(index), false, false, nullptr);
    } else {
        // A background thread takes what it was asked to, and nothing of a frame.
        const bool more =
            step == own_step::more && rt.turn == nullptr && w.kind != seat_kind::background;
        const graph_plan* const first = self.graph->ranked ? self.by_rank(w, &plan, more) : &plan;
        if (first != nullptr) self.run_nodes(w, run, first, more);
    }
}

/// `released_by`: as in run_nodes().
[[gnu::always_inline]] inline void graph_run::tell_start(worker& w, task_id id, const char* name,
                                                         task_id released_by) const {
    const runtime& rt = graph->rt;
    const bool named = graph->told_to == rt.listens->load(relaxed);  // as in observed()
    const unsigned facts = (named ? start_told_by_run : 0U) | (released_by ? start_ready_now : 0U);
    rt.options.observer->on_start(w.index, id, name, facts, released_by);
}

/// False: it threw.
[[gnu::always_inline]] inline bool graph_run::call(worker& w, running_task& body,
                                                   const graph_plan& plan) const {
    runtime& rt = graph->rt;
    slot& s = *plan.slot;
    s.runner.store(w.index, relaxed);
    if (graph->measured) {
        graph_stamp& stamp = graph->stamps[s.ordinal.load(relaxed) - 1];
        stamp.started = active_policy::now();
        stamp.seat = w.index;
    }

    plan.call(s.storage, &body.context);

    if (body.error == nullptr) {
        seat_counters::add(w.counters.executed);
        return true;
    }
    s.flags.fetch_or(flag_failed, relaxed);
    seat_counters::add(w.counters.failed);
    rt.record_failure(w, s.parent.load(relaxed), std::exchange(body.error, nullptr),
                      s.ordinal.load(relaxed), s.name);
    return false;
}

/// A node, and with `more` those that it makes ready, and others of this run in the thread's queue.
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
    task_id released_by;               // the node has just become ready, not reported yet
    task_id id = id_of(*plan);
    running_task body{plan->index, w.top, {}, task_context(rt, w, id)};
    running_task* const outer = rt.begin_body(w, body, id);
    w.elsewhere = 0;
    for (unsigned n = 1;; ++n) {
        slot& s = *plan->slot;
        const bool observed = rt.observed();
        const std::uint16_t flags = s.flags.load(relaxed);
        const bool unwanted = (flags & (flag_failed | flag_cancel)) != 0 ||
                              rt.state.load(relaxed) == life::discarding ||
                              (within != nullptr && within->cancelled());
        const bool calls = !unwanted && plan->call != nullptr && !(special && left_out(*plan));
        if (released_by && !calls) tell_ready(w, *plan, released_by);
        bool closed = false;     // and completed with that
        bool completes = false;  // which has been reported
        name = s.name;
        if (unwanted) {
            cancel(w, run, *plan, id);
        } else if (!calls && plan->call != nullptr) {
            // Its own, too, if it was the group's.
            s.flags.fetch_or(flag_left_out, relaxed);
            seat_counters::add(w.counters.cancelled);
            if (rt.observed()) rt.tell(w, event_kind::cancelled, id, {}, name);
        } else if (plan->call == nullptr) {
            seat_counters::add(w.counters.executed);
        } else {
            const std::int64_t started = each ? active_policy::now() : 0;
            const attempts* const tries =
                special ? graph->attempts_of(s.ordinal.load(relaxed) - 1) : nullptr;
            if (observed) tell_start(w, id, name, released_by);
            const bool failed = !call(w, body, *plan);
            const bool at_once = !failed && tries == nullptr && (flags & flag_resources) == 0;
            closed = at_once && !runtime::id_taken(body) &&
                     close_unknown(s.open, s.permissions, generation_of(id.value));
            if (observed) {
                if (failed) rt.tell(w, event_kind::failed, id, {}, name);
                // In one call, where nothing comes in between.
                completes = closed || (at_once && drop_only_open_work(s.open));
                rt.options.observer->on_end(w.index, id, name, completes);
            }
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
        // What complete_one() does, without its list: nothing is completed below this.
        if (closed || completes || drop_open_work(s.open)) {
            end_node(w, *plan, id, closed, completes, more ? &next : nullptr);
        }
        if (observed) released_by = next != nullptr ? id : task_id{};
        if (n == most || !more || wanted_elsewhere(rt, w, normal)) {
            left = next;
            break;
        }
        if (next == nullptr) next = next_node(w, run_id);
        if (next != nullptr && graph->ranked) next = by_rank(w, next, true);
        if (next == nullptr) break;
        plan = next;
        id = id_of(*plan);
        runtime::go_on_as(body, w, plan->index, id);
    }
    // The run may be complete, and the names of its nodes gone.
    if (untimed != 0) rt.note_durations(w, "nodes of a graph", false, untimed);
    rt.end_body(w, body, outer);
    w.elsewhere = outer_elsewhere + (w.stamp - began);
    if (left == nullptr) return;
    if (released_by) tell_ready(w, *left, released_by);
    if (!rt.keep(w, left->index, w.depth)) rt.enqueue(w, left->index);
}

/// The newest task of this thread, if it is a node of the run. If not, the run may be complete and
/// the graph gone.
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
    // A thread that waits for something else than the run may only run what it found.
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

void graph_run::tell_ready(worker& w, const graph_plan& plan, task_id released_by) const {
    graph->rt.tell(w, event_kind::ready, id_of(plan), released_by);
}

/// A node that has become ready, which has been reported.
void graph_run::queue_ready(worker& w, const graph_plan& plan) const {
    graph_state& g = *graph;
    const slot& s = *plan.slot;
    if (g.special && !graph_state::has_rank(s.flags.load(relaxed)) && left_out(plan)) {
        // Waits for nothing: not for a thread, nor for resources.
        g.rt.push_ready(w, id_of(plan), normal);
        return;
    }
    if (!g.ranked || !graph_state::has_rank(s.flags.load(relaxed))) {
        g.rt.queue_ready(w, plan.index);
        return;
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

/// The node comes after a failure, or nothing is to run any more: it completes without its body.
void graph_run::cancel(worker& w, std::uint32_t run, const graph_plan& plan, task_id id) const {
    runtime& rt = graph->rt;
    slot& s = *plan.slot;
    const bool after_failure = (s.flags.fetch_or(flag_failed, relaxed) & flag_failed) != 0;
    seat_counters::add(w.counters.cancelled);
    if (rt.observed()) rt.tell(w, event_kind::cancelled, id, {}, s.name);
    if (!after_failure) rt.record_failure(w, run, nullptr, s.ordinal.load(relaxed));
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

/// The node's work and its children have ended. `closed`: its list of successors is closed, too.
/// `told`: its completion was reported. `next`: takes one that may run at once on this thread, if
/// there is any, and whose `ready` is not reported.
void graph_run::end_node(worker& w, const graph_plan& plan, task_id id, bool closed, bool told,
                         const graph_plan** next) const {
    graph_state& g = *graph;
    runtime& rt = g.rt;
    slot& s = *plan.slot;
    const std::uint32_t run = s.parent.load(relaxed);
    const bool failed = s.has(flag_failed);
    if (!told && rt.observed()) rt.tell(w, event_kind::completed, id, {}, s.name);
    const std::int64_t now = g.measured ? stop_clock(plan) : 0;
    const std::uint64_t head =
        closed ? join_word(0, no_edge) : close_and_take(s.permissions, generation_of(id.value));
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
    // After the last of these the run may be complete and the graph gone.
    const std::uint32_t count = plan.successors;
    const graph_successor* const successors = g.successors.begin() + plan.first;
    const graph_plan* const plans = g.plan.begin();
    graph_stamp* const stamps = g.stamps.begin();
    for (std::uint32_t i = 0; i < count; ++i) {
        slot& to = *successors[i].slot;
        // relaxed: seen by the thread that drops the last of its counts.
        if (failed) to.flags.fetch_or(flag_failed, relaxed);
        if (!drop_wait(to.waits_for)) continue;
        const std::uint32_t node = to.ordinal.load(relaxed) - 1;
        const graph_plan& ready = plans[node];
        if (now != 0) stamps[node].ready = now;
        if (next == nullptr || *next != nullptr || !is_at_hand(to)) {
            if (rt.observed()) tell_ready(w, ready, id);
            queue_ready(w, ready);
            continue;
        }
        *next = &ready;
    }
    if (count == 0) rt.own_work_done(w, run);
}

}  // namespace detail
BRAID_NAMESPACE_END
