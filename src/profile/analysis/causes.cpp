// Why a task did not run: somebody outside; and one that was ready: affinity, a late wake,
// background work, the system, priority.
#include "profile/analysis/causes.hpp"

#include "profile/analysis/spans.hpp"

#include <map>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

bool is_idle_state(lane_state s) { return s == lane_state::search || s == lane_state::parked; }

/// Candidates of one cause, by type.
class by_type {
public:
    explicit by_type(cause why) : why_(why) {}
    candidate& of(std::uint32_t type) {
        candidate& c = all_[type];
        c.why = why_;
        c.type = type;
        return c;
    }
    void hand_over(candidates& to) {
        for (auto& [type, c] : all_) {
            if (!c.changes.empty()) to.push_back(std::move(c));
        }
    }

private:
    cause why_;
    std::map<std::uint32_t, candidate> all_;
};

std::uint32_t type_of(const scene& s, const path_step& step) { return s.t.bodies[step.body].type; }

bool works(const lane_row& l) { return l.kind == lane_kind::worker; }
/// Main threads may wait without helping: those that have run a task do help.
bool runs_tasks(const lane_row& l) {
    return works(l) || (l.kind == lane_kind::main && l.bodies > 1);
}

/// Moments of the window at which such a thread, but not that of lane `but`, had nothing to do.
span_set idle_threads(const scene& s, time_span window, std::uint32_t but,
                      bool such(const lane_row&)) {
    span_set idle;
    for (std::uint32_t i = 0; i < s.t.lanes.size(); ++i) {
        if (i == but || !such(s.t.lanes[i])) continue;
        add_spans(idle, s.t.lanes[i], window,
                  [](const lane_span& l) { return is_idle_state(l.state); });
    }
    return joined(idle);
}

void add_gap(candidate& c, const path_step& step, std::uint64_t less) {
    if (less == 0) return;
    c.time += less;
    c.outside = step.task == none;
    c.changes.push_back({step.first, less, 0});
}

using spans_by_type = std::map<std::uint32_t, span_set>;

/// Foreign work that ran on that lane in that time: by type, for core `core` only if there is one.
void add_foreign(const scene& s, const lane_row& lane, time_span window, std::uint16_t core,
                 spans_by_type& to) {
    for (std::size_t i = lane.span_at(window.begin); i < lane.spans.size(); ++i) {
        const lane_span& span = lane.spans[i];
        if (span.begin >= window.end) break;
        if (span.state != lane_state::run || !s.is_foreign(span.body)) continue;
        span_set& found = to[s.t.bodies[span.body].type];
        const time_span part{std::max(span.begin, window.begin),
                             std::min(lane.end_of(i), window.end)};
        if (core == record::no_core) {
            found.push_back(part);
        } else {
            lane.for_each_stay(part, core,
                               [&](auto begin, auto end) { found.push_back({begin, end}); });
        }
    }
}

/// Foreign work on the core that a thread was taken off, in that time.
spans_by_type rivals_of(const scene& s, const absence& gone, time_span out) {
    spans_by_type rivals;
    const std::uint16_t core =
        gone.core != record::no_core ? gone.core : s.t.bodies[gone.body].core;
    if (core == record::no_core) return rivals;
    for (const lane_row& lane : s.t.lanes) add_foreign(s, lane, out, core, rivals);
    return rivals;
}

/// Calls take(node, absence, the time of it that lies in that node) along a step.
template <class Take>
void for_each_absence(const scene& s, const path_step& step, Take&& take) {
    const std::vector<absence>& all = s.t.lanes[s.t.bodies[step.body].lane].absences;
    if (all.empty()) return;
    for (std::uint32_t node = step.last;; node = s.graph.nodes[node].previous) {
        const graph_node& n = s.graph.nodes[node];
        auto at = std::lower_bound(all.begin(), all.end(), n.begin,
                                   [](const absence& a, auto time) { return a.when.end <= time; });
        for (; at != all.end() && at->when.begin < n.end; ++at) {
            if (at->body != n.body) continue;
            take(node, *at,
                 time_span{std::max(at->when.begin, n.begin), std::min(at->when.end, n.end)});
        }
        if (node == step.first) break;
    }
}

}  // namespace

void shorten(candidate& c, const scene& s, const path_step& step, std::uint64_t less) {
    c.outside = step.task == none;
    for (std::uint32_t node = step.last; less != 0; node = s.graph.nodes[node].previous) {
        const graph_node& n = s.graph.nodes[node];
        const std::uint64_t part = std::min(less, n.end - n.begin);
        if (part != 0) c.changes.push_back({node, 0, part});
        less -= part;
        if (node == step.first) break;
    }
}

void find_external(const scene& s, candidates& to) {
    by_type found(cause::external);
    for (const path_step& step : s.path) {
        for (const outside_part& part : step.outside) {
            if (part.time == 0) continue;
            candidate& c = found.of(s.t.tasks[s.graph.nodes[part.node].task].type);
            c.time += part.time;
            c.changes.push_back({part.node, 0, part.time});
        }
    }
    found.hand_over(to);
}

void find_affinity(const scene& s, candidates& to) {
    by_type found(cause::affinity);
    for (const path_step& step : s.path) {
        if (step.waits.affinity == 0) continue;
        const time_span window{step.ready, step.begin};
        const std::uint32_t lane = s.t.bodies[step.body].lane;
        span_set busy;
        add_spans(busy, s.t.lanes[lane], window,
                  [](const lane_span& l) { return !is_idle_state(l.state); });
        const span_set lost = common(joined(busy), idle_threads(s, window, lane, runs_tasks));
        add_gap(found.of(type_of(s, step)), step, length_of(lost));
    }
    found.hand_over(to);
}

void find_late_wake(const scene& s, candidates& to) {
    by_type found(cause::late_wake);
    for (const path_step& step : s.path) {
        const time_span window{step.ready, step.begin};
        if (window.length() == 0 || s.t.is_on_device(step.body)) continue;
        const std::uint32_t own = s.t.bodies[step.body].lane;
        // Who comes back from a wait, or may run there only, needs its own thread.
        const bool own_only = step.after_wait || step.waits.affinity != 0;
        span_set asleep;
        for (std::uint32_t i = 0; i < s.t.lanes.size(); ++i) {
            const bool serves = i == own || (!own_only && s.t.lanes[i].kind == lane_kind::worker);
            if (!serves) continue;
            add_spans(asleep, s.t.lanes[i], window,
                      [](const lane_span& l) { return l.state == lane_state::parked; });
        }
        add_gap(found.of(type_of(s, step)), step, length_of(joined(asleep)));
    }
    found.hand_over(to);
}

namespace {

/// A ready step waited, and foreign work ran where it could have run.
void find_background_before(const scene& s, const path_step& step, by_type& found) {
    const time_span window{step.ready, step.begin};
    if (window.length() == 0 || !s.graph.nodes[step.first].first) return;
    if (s.t.is_on_device(step.body)) return;
    const std::uint32_t own = s.t.bodies[step.body].lane;
    const bool own_only = step.waits.affinity != 0;
    spans_by_type rivals;
    for (std::uint32_t i = 0; i < s.t.lanes.size(); ++i) {
        const lane_row& lane = s.t.lanes[i];
        if (own_only ? i != own : !is_worker(lane.kind)) continue;
        add_foreign(s, lane, window, record::no_core, rivals);
    }
    if (rivals.empty()) return;
    // While somebody is idle, the background work is not what keeps the task waiting.
    const span_set busy =
        rest_of(window, own_only ? span_set() : idle_threads(s, window, UINT32_MAX, works));
    for (auto& [type, spans] : rivals) {
        candidate& c = found.of(type);
        add_gap(c, step, length_of(common(joined(std::move(spans)), busy)));
        c.victim = type_of(s, step);
        c.outside = false;
    }
}

}  // namespace

namespace {

/// Not only the path waits for background work: what would begin earlier is the whole rest of the
/// frame. Adds at most that to each, which is_foreign() and what the model gains limit.
void add_all_that_waits(const scene& s, candidate& c) {
    spans_by_type rivals;
    for (const lane_row& lane : s.t.lanes) {
        if (!is_worker(lane.kind)) continue;
        add_foreign(s, lane, {s.graph.frame.begin, s.graph.frame.end}, record::no_core, rivals);
    }
    span_set all;
    for (auto& [type, spans] : rivals) all.insert(all.end(), spans.begin(), spans.end());
    all = joined(std::move(all));
    std::unordered_set<std::uint32_t> known;
    for (const change& what : c.changes) known.insert(what.node);
    for (std::uint32_t i = 0; !all.empty() && i < s.graph.nodes.size(); ++i) {
        const graph_node& n = s.graph.nodes[i];
        if (!n.first || n.ready >= n.begin || known.contains(i)) continue;
        const std::uint64_t lost = length_of(common(all, {{n.ready, n.begin}}));
        if (lost != 0) c.changes.push_back({i, lost, 0});
    }
}

}  // namespace

void find_background(const scene& s, candidates& to) {
    by_type found(cause::background);
    for (const path_step& step : s.path) {
        find_background_before(s, step, found);
        for_each_absence(s, step, [&](std::uint32_t node, const absence& gone, time_span out) {
            for (auto& [type, spans] : rivals_of(s, gone, out)) {
                const std::uint64_t lost = length_of(joined(spans));
                candidate& c = found.of(type);
                c.time += lost;
                c.victim = type_of(s, step);
                c.changes.push_back({node, 0, lost});
            }
        });
    }
    candidates all;
    found.hand_over(all);
    for (candidate& c : all) {
        c.most = c.time;
        if (c.time >= s.least) add_all_that_waits(s, c);
        to.push_back(std::move(c));
    }
}

namespace {

/// What of that absence was not the program's own background work, which is told as that.
std::uint64_t lost_to_others(const scene& s, const absence& gone, time_span out) {
    span_set known;
    for (const auto& [type, spans] : rivals_of(s, gone, out)) {
        known.insert(known.end(), spans.begin(), spans.end());
    }
    return out.length() - length_of(joined(std::move(known)));
}

void add_absence(const scene& s, by_type& found, const absence& gone, std::uint64_t lost,
                 change what) {
    if (lost == 0) return;
    const body_row& body = s.t.bodies[gone.body];
    candidate& c = found.of(body.type);
    c.time += lost;
    c.outside = body.task == none;
    c.changes.push_back(what);
}

/// The step was ready, and the thread that ran it later was off its core in something before it.
void find_absence_before(const scene& s, const path_step& step, by_type& found) {
    const time_span window{step.ready, step.begin};
    if (window.length() == 0 || !s.graph.nodes[step.first].first) return;
    const std::vector<absence>& all = s.t.lanes[s.t.bodies[step.body].lane].absences;
    auto at = std::lower_bound(all.begin(), all.end(), window.begin,
                               [](const absence& a, auto time) { return a.when.end <= time; });
    for (; at != all.end() && at->when.begin < window.end; ++at) {
        const time_span out{std::max(at->when.begin, window.begin),
                            std::min(at->when.end, window.end)};
        const std::uint64_t lost = lost_to_others(s, *at, out);
        add_absence(s, found, *at, lost, {step.first, lost, 0});
    }
}

}  // namespace

void find_preemption(const scene& s, candidates& to) {
    by_type found(cause::preemption);
    for (const path_step& step : s.path) {
        find_absence_before(s, step, found);
        for_each_absence(s, step, [&](std::uint32_t node, const absence& gone, time_span out) {
            const std::uint64_t lost = lost_to_others(s, gone, out);
            add_absence(s, found, gone, lost, {node, 0, lost});
        });
    }
    found.hand_over(to);
}

namespace {

/// When the first body was taken that could have waited instead of the step; its begin: none was.
std::uint64_t first_taken_before(const scene& s, const path_step& step) {
    std::uint64_t since = step.begin;
    for (const lane_row& lane : s.t.lanes) {
        if (lane.kind == lane_kind::background || lane.kind == lane_kind::device) continue;
        const auto first = s.t.bodies.begin() + lane.first_body;
        auto at =
            std::lower_bound(first, first + lane.bodies, step.ready,
                             [](const body_row& b, std::uint64_t time) { return b.begin < time; });
        for (; at != first + lane.bodies && at->begin < since; ++at) {
            const auto body = static_cast<std::uint32_t>(at - s.t.bodies.begin());
            if (at->kind != body_kind::task || s.critical.contains(body)) continue;
            if (s.is_foreign(body)) continue;
            if (s.t.tasks[at->task].priority() <= s.t.tasks[step.task].priority()) {
                since = at->begin;
            }
        }
    }
    return since;
}

}  // namespace

void find_priority(const scene& s, candidates& to) {
    by_type found(cause::priority);
    for (const path_step& step : s.path) {
        if (step.waits.queue == 0 || step.task == none) continue;
        if (s.t.is_on_device(step.body)) continue;
        add_gap(found.of(type_of(s, step)), step, step.begin - first_taken_before(s, step));
    }
    found.hand_over(to);
}

bool scene::is_foreign(std::uint32_t body) const {
    const body_row& b = t.bodies[body];
    if (b.kind == body_kind::root || b.task == none || needed.contains(body)) return false;
    if (t.tasks[b.task].has(spawn_background)) return true;
    if (t.lanes[b.lane].kind == lane_kind::background) return true;
    return (b.open || b.end > graph.frame.end) && graph.frame.alone;
}

}  // namespace profile
BRAID_NAMESPACE_END
