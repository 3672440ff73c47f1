#include "profile/analysis/report.hpp"

#include <algorithm>
#include <numeric>

BRAID_NAMESPACE_BEGIN
namespace profile {

frame_report reporter::frame(std::size_t index, bool with_slack) const {
    frame_report report;
    report.frame = index;
    const frame_graph graph = make_frame_graph(t_, t_.frames[index]);
    report.path = critical_path(graph);
    report.what = doctor_.examine(graph, report.path);
    report.sentence = report.what ? report.what->sentence : doctor_.nothing_found(t_.frames[index]);
    if (with_slack) report.slack = slack_of(graph);
    return report;
}

std::vector<std::size_t> reporter::longest(std::size_t count) const {
    std::vector<std::size_t> all(t_.frames.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
        const std::uint64_t of_a = t_.frames[a].length(), of_b = t_.frames[b].length();
        return of_a != of_b ? of_a > of_b : a < b;
    });
    all.resize(std::min(all.size(), count));
    return all;
}

std::vector<machine> reporter::faster_types(std::size_t count) const {
    std::vector<machine> machines;
    for (const type_row& row : type_statistics(t_)) {
        if (machines.size() == count) break;
        machine m;
        m.faster_type = row.type;
        m.times = 2;
        machines.push_back(m);
    }
    return machines;
}

std::vector<machine> machines_with(std::span<const unsigned> cores) {
    std::vector<machine> machines;
    for (const unsigned count : cores) {
        machine m;
        m.cores = count;
        machines.push_back(m);
    }
    return machines;
}

}  // namespace profile
BRAID_NAMESPACE_END
