#include "profile/analysis/compare.hpp"

#include "profile/analysis/text.hpp"

#include <algorithm>
#include <cinttypes>
#include <map>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

/// Growth below these is noise between two runs of the same program.
constexpr double least_share = 0.02;
constexpr std::uint64_t least_ns = 50'000;

struct per_type {
    std::vector<std::uint64_t> frame, path;  // sums over all frames
};

per_type sums_of(const history& t) {
    per_type sums;
    sums.frame.resize(t.types());
    sums.path.resize(sums.frame.size());
    for (const frame_row& frame : t.frames) {
        const frame_graph graph = make_frame_graph(t, frame);
        for (const graph_node& n : graph.nodes) {
            // In overlapping frames a body belongs to the one that needs it; and threads outside of
            // tasks are none of the frame's, unless it needs them.
            const bool sure = frame.alone && n.task != none;
            if (n.body == none || (!sure && !n.needed)) continue;
            sums.frame[graph.type_of(n)] += n.end - n.begin - n.preempted;
        }
        for (const path_step& s : critical_path(graph)) {
            const wait_times& w = s.waits;
            for (const outside_part& part : s.outside) {
                sums.path[t.tasks[graph.nodes[part.node].task].type] += part.time;
            }
            sums.path[t.bodies[s.body].type] += s.length() + w.queue + w.affinity + w.dependency;
        }
    }
    return sums;
}

void add(std::map<std::string, type_change>& to, const history& t, bool after) {
    const per_type sums = sums_of(t);
    const std::uint64_t frames = t.frames.size();
    for (const type_row& row : type_statistics(t)) {
        type_change& change = to[t.from->types[row.type].name];
        (after ? change.after : change.before) = row;
    }
    for (std::uint32_t type = 0; type < sums.frame.size(); ++type) {
        const auto at = to.find(t.from->types[type].name);
        if (sums.frame[type] == 0 && sums.path[type] == 0 && at == to.end()) continue;
        type_change& change = to[t.from->types[type].name];
        change.name = t.from->types[type].name;
        (after ? change.after_type : change.before_type) = type;
        (after ? change.frame_after : change.frame_before) += sums.frame[type] / frames;
        (after ? change.path_after : change.path_before) += sums.path[type] / frames;
    }
}

/// Each capture has its frames at the median; how they differ, in words.
std::string sentence_of(const comparison& c, const history& before, const history& after) {
    const std::string from = in_ms(c.before.p50), to = in_ms(c.after.p50);
    if (!c.regressed) {
        return text_of("No regression: a frame took %s at the median and takes %s.", from.c_str(),
                       to.c_str());
    }
    const type_change& worst = c.types.front();
    if (worst.path_growth() <= 0) {
        return text_of(
            "A frame takes %s at the median instead of %s, and no type of task explains it.",
            to.c_str(), from.c_str());
    }
    const bool there = worst.after_type != none;
    const std::string name =
        there ? after.name_of(worst.after_type) : before.name_of(worst.before_type);
    return text_of(
        "A frame takes %s at the median instead of %s: %s takes %s more of it, %s instead of %s.",
        to.c_str(), from.c_str(), worst.name.empty() ? "code outside of named tasks" : name.c_str(),
        in_ms(static_cast<std::uint64_t>(worst.path_growth())).c_str(),
        in_ms(worst.path_after).c_str(), in_ms(worst.path_before).c_str());
}

}  // namespace

comparison compare(const history& before, const history& after) {
    comparison c;
    c.before = frame_statistics(before);
    c.after = frame_statistics(after);
    std::map<std::string, type_change> types;
    add(types, before, false);
    add(types, after, true);
    for (auto& [name, change] : types) c.types.push_back(std::move(change));
    std::sort(c.types.begin(), c.types.end(), [](const type_change& a, const type_change& b) {
        return a.path_growth() != b.path_growth() ? a.path_growth() > b.path_growth()
                                                  : a.name < b.name;
    });
    const double allowed =
        std::max(static_cast<double>(c.before.p50) * least_share, static_cast<double>(least_ns));
    c.regressed = static_cast<double>(c.after.p50) - static_cast<double>(c.before.p50) > allowed &&
                  !c.types.empty();
    c.sentence = sentence_of(c, before, after);
    return c;
}

}  // namespace profile
BRAID_NAMESPACE_END
