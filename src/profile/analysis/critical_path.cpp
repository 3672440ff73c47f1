#include "profile/analysis/critical_path.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

/// What lies between the step before and this one, by reason.
void explain_gap(const frame_graph& graph, path_step& step) {
    const graph_node& n = graph.nodes[step.first];
    const std::uint64_t begin = std::max(step.begin, step.before);
    step.ready = std::clamp(n.ready, step.before, begin);
    const std::uint64_t until = n.first ? step.ready : begin;
    std::uint64_t later = until;
    for (outside_part& part : step.outside) {
        const graph_node& o = graph.nodes[part.node];
        const time_span span{std::max(o.begin, step.before), std::min(o.end, later)};
        part.time = span.length();
        step.waits.external += part.time;
        later = std::min(later, span.begin);
    }
    step.waits.dependency = until - step.before - step.waits.external;
    if (!n.first) return;
    const bool restricted = graph.from->bodies[n.body].kind == body_kind::task &&
                            graph.from->tasks[n.task].has(spawn_restricted);
    (restricted ? step.waits.affinity : step.waits.queue) = begin - step.ready;
}

}  // namespace

std::vector<path_step> critical_path(const frame_graph& graph) {
    std::vector<std::uint32_t> latest;
    latest.reserve(graph.nodes.size());
    for (const graph_node& n : graph.nodes) latest.push_back(n.latest);
    return critical_path(graph, latest);
}

std::vector<path_step> critical_path(const frame_graph& graph,
                                     std::span<const std::uint32_t> latest) {
    std::vector<path_step> path;
    // The order has no circles, so each node comes once at most; nodes of a circle have no latest.
    for (std::uint32_t i = graph.last; i != none; i = latest[i]) {
        const graph_node& n = graph.nodes[i];
        if (n.is_outside() && !path.empty()) path.back().outside.push_back({i});
        if (n.body == none) continue;
        const bool goes_on = !path.empty() && path.back().body == n.body &&
                             path.back().first != none &&
                             !graph.nodes[path.back().first].after_wait &&
                             graph.nodes[path.back().first].previous == i;
        if (goes_on) {
            path.back().first = i;
            path.back().begin = n.begin;
        } else {
            path_step step;
            step.task = n.task;
            step.body = n.body;
            step.begin = n.begin;
            step.end = n.end;
            step.first = step.last = i;
            path.push_back(step);
        }
        path.back().waits.preempted += n.preempted;
        path.back().after_wait = n.after_wait;
    }
    std::reverse(path.begin(), path.end());
    std::uint64_t before = graph.frame.begin;
    for (path_step& step : path) {
        // Clocks of two cores may differ by a little; the path has no overlaps all the same.
        step.before = before;
        step.begin = std::max(step.begin, before);
        step.end = std::max(step.end, step.begin);
        step.waits.preempted = std::min(step.waits.preempted, step.length());
        explain_gap(graph, step);
        before = step.end;
    }
    // Of zero length, with nothing before them: a wait that was cut, and no work at all.
    std::erase_if(path, [](const path_step& s) { return s.length() == 0 && s.before == s.begin; });
    return path;
}

std::vector<task_slack> slack_of(const frame_graph& graph) {
    const history& t = *graph.from;
    std::vector<std::uint64_t> latest(graph.nodes.size(), graph.frame.end);
    for (auto at = graph.order.rbegin(); at != graph.order.rend(); ++at) {
        const graph_node& n = graph.nodes[*at];
        // How late all that it needs may be over: as much later as it may end itself.
        const std::uint64_t slack = latest[*at] - std::min(latest[*at], n.end);
        const std::uint64_t over = n.latest == none ? graph.frame.begin : graph.nodes[n.latest].end;
        for (const std::uint32_t other : graph.needs_of(n)) {
            latest[other] = std::min(latest[other], over + slack);
        }
    }
    std::vector<task_slack> all;
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
        const graph_node& n = graph.nodes[i];
        if (n.body == none || n.task == none || t.tasks[n.task].has(spawn_background)) continue;
        const body_row& body = t.bodies[n.body];
        const bool is_end = body.kind == body_kind::task && !body.open && body.end == n.end &&
                            (i + 1 == graph.nodes.size() || graph.nodes[i + 1].previous != i);
        if (is_end) all.push_back({n.task, latest[i] - std::min(latest[i], n.end)});
    }
    return all;
}

}  // namespace profile
BRAID_NAMESPACE_END
