#include "profile/analysis/time_split.hpp"

#include "profile/analysis/spans.hpp"
#include "profile/analysis/statistics.hpp"

#include <algorithm>
#include <numeric>

BRAID_NAMESPACE_BEGIN
namespace profile {

std::uint64_t lane_split::total() const {
    return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

lane_split split_of(const lane_row& lane, time_span within) {
    lane_split split;
    std::uint64_t covered = 0;
    for (std::size_t i = lane.span_at(within.begin); i < lane.spans.size(); ++i) {
        if (lane.spans[i].begin >= within.end) break;
        const time_span span{std::max(lane.spans[i].begin, within.begin),
                             std::min(lane.end_of(i), within.end)};
        split.times[static_cast<std::size_t>(lane.spans[i].state)] += span.length();
        covered += span.length();
    }
    split.times[static_cast<std::size_t>(lane_state::absent)] += within.length() - covered;
    return split;
}

std::uint64_t time_between_bodies(const history& from, time_span within) {
    std::vector<std::uint64_t> gaps;
    for (const lane_row& lane : from.lanes) {
        if (lane.kind == lane_kind::background) continue;
        for (std::size_t i = lane.span_at(within.begin); i + 1 < lane.spans.size(); ++i) {
            const lane_span& span = lane.spans[i];
            if (lane.spans[i + 1].begin >= within.end) break;
            const bool between = i != 0 && lane.spans[i - 1].state == lane_state::run &&
                                 lane.spans[i + 1].state == lane_state::run;
            const std::uint64_t time = lane.end_of(i) - span.begin;
            if (between && span.state == lane_state::runtime && time != 0) gaps.push_back(time);
        }
    }
    return gaps.empty() ? 0 : percentile(gaps, 0.5);
}

std::uint64_t task_split::total() const {
    return running + waits.dependency + waits.external + waits.queue + waits.affinity +
           waits.preempted;
}

namespace {

/// What of that time the task waited for somebody outside.
std::uint64_t time_outside(const history& from, std::uint32_t task, time_span within) {
    span_set all;
    for (const std::uint32_t other : from.external) {
        const task_row& row = from.tasks[other];
        if (row.parent != task) continue;
        all.push_back({row.spawned == unknown ? 0 : row.spawned, row.completed});
    }
    return length_of(common(joined(std::move(all)), {within}));
}

}  // namespace

task_split split_of(const history& from, const task_row& task) {
    task_split split;
    if (task.body == none) return split;
    bool in_order = true;  // a broken capture may let a task go on before it was suspended
    const auto number = static_cast<std::uint32_t>(&task - from.tasks.data());
    for (std::uint32_t at = task.last_body; at != none; at = from.bodies[at].earlier) {
        const body_row& body = from.bodies[at];
        split.running += body.running;
        split.waits.preempted += body.preempted;
        split.waits.dependency += body.waiting();
        if (body.earlier == none) continue;
        const time_span suspended{from.bodies[body.earlier].end, body.begin};
        in_order = in_order && suspended.begin <= suspended.end;
        const std::uint64_t outside = time_outside(from, number, suspended);
        split.waits.external += outside;
        split.waits.dependency += suspended.length() - outside;
    }
    const std::uint64_t began = from.bodies[task.body].begin;
    split.whole = in_order && task.spawned != unknown && task.ready != unknown &&
                  !from.bodies[task.last_body].open && task.spawned <= task.ready &&
                  task.ready <= began;
    if (!split.whole) return split;
    split.waits.dependency += task.ready - task.spawned;
    (task.has(spawn_restricted) ? split.waits.affinity : split.waits.queue) += began - task.ready;
    return split;
}

}  // namespace profile
BRAID_NAMESPACE_END
