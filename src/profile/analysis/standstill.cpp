// A machine that stands still: the system, or what lies below it, gave no thread of the program a
// core for a while. Where the kernel does not see it (a virtual machine whose host runs something
// else) no switch is recorded: all lanes are silent, in tasks that usually take much less.
#include "profile/analysis/causes.hpp"

#include "profile/analysis/spans.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

constexpr double silent_share = 0.6;  // of a silence, by which its bodies took longer than usual

/// Times between two records of the frame, of whatever lanes, that are long enough to count.
span_set silences(const scene& s) {
    std::vector<std::uint64_t> times{s.graph.frame.begin, s.graph.frame.end};
    for (const lane& l : s.t.from->lanes) {
        const auto earlier = [](const record& r, std::uint64_t time) { return r.time < time; };
        const auto first =
            std::lower_bound(l.records.begin(), l.records.end(), s.graph.frame.begin, earlier);
        for (auto at = first; at != l.records.end() && at->time < s.graph.frame.end; ++at) {
            times.push_back(at->time);
        }
    }
    std::sort(times.begin(), times.end());
    span_set silent;
    for (std::size_t i = 1; i < times.size(); ++i) {
        const time_span span{times[i - 1], times[i]};
        if (span.length() >= s.least / 2) silent.push_back(span);
    }
    return silent;
}

struct stopped_lanes {
    unsigned away = 0;                 // the kernel had them off their cores
    unsigned late = 0;                 // they seem to run, but took much longer than usual
    bool runs = false;                 // one went on as usual, as far as is known
    std::uint64_t least = UINT64_MAX;  // by which those took longer
};

/// What one lane says about a silence: its state is the same all the time.
void look_at(const scene& s, const lane_row& lane, time_span silent, stopped_lanes& to) {
    if (lane.spans.empty()) return;
    const lane_span& span = lane.spans[lane.span_at(silent.begin)];
    if (span.state == lane_state::preempted) ++to.away;
    // Of the program's own code, and of threads that look for work, nothing is known.
    if (span.state != lane_state::run) return;
    const body_row& body = s.t.bodies[span.body];
    const std::uint64_t usual = s.usual[body.type];
    const std::uint64_t excess = body.running > usual ? body.running - usual : 0;
    const double share = silent_share * static_cast<double>(silent.length());
    if (usual == 0 || static_cast<double>(excess) < share) {
        to.runs = true;
        return;
    }
    ++to.late;
    to.least = std::min(to.least, excess);
}

/// The part of a silence in which the machine stood still: two threads at least would have gone on,
/// and none did. Where the kernel ran something else instead of one, others that ran did run.
time_span standstill_in(const scene& s, time_span silent) {
    stopped_lanes lanes;
    for (const lane_row& lane : s.t.lanes) look_at(s, lane, silent, lanes);
    if (lanes.runs) return {};
    if (lanes.late == 0 && lanes.away >= 2) return silent;
    if (lanes.late < 2) return {};
    return {silent.end - std::min(lanes.least, silent.length()), silent.end};
}

}  // namespace

void find_standstill(const scene& s, candidates& to) {
    span_set still;
    for (const time_span& silent : silences(s)) {
        const time_span found = standstill_in(s, silent);
        if (found.length() != 0) still.push_back(found);
    }
    if (still.empty()) return;
    candidate c;
    c.why = cause::standstill;
    c.outside = true;
    c.time = length_of(still);
    c.since = still.front().begin - s.graph.frame.begin;
    for (std::uint32_t i = 0; i < s.graph.nodes.size(); ++i) {
        const graph_node& n = s.graph.nodes[i];
        if (n.body == none) continue;
        const std::uint64_t within = length_of(common(still, {{n.begin, n.end}}));
        const std::uint64_t before = length_of(common(still, {{n.ready, n.begin}}));
        if (within != 0 || before != 0) c.changes.push_back({i, before, within});
    }
    to.push_back(std::move(c));
}

}  // namespace profile
BRAID_NAMESPACE_END
