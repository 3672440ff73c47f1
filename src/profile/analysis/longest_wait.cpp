#include "profile/analysis/longest_wait.hpp"

#include "profile/analysis/text.hpp"

#include <algorithm>
#include <map>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

constexpr std::size_t most_reasons = 3;
constexpr std::uint64_t least_share = 20;  // what is less than that part of the wait is left out

/// One thing that the wait was for.
struct reason {
    std::uint64_t time = 0;
    std::string text;
};

/// Of one body, ended ones only.
void look_at(const history& t, std::uint32_t body, frame_row& longest) {
    std::uint64_t since = unknown;
    for (const mark& m : t.marks_of(t.bodies[body])) {
        if (m.kind == mark_kind::wait_begin) since = m.time;
        if (m.kind != mark_kind::wait_end || since == unknown) continue;
        if (longest.end_body == none || m.time - since > longest.length()) {
            longest.begin = since;
            longest.end = m.time;
            longest.end_body = body;
        }
        since = unknown;
    }
}

frame_row find_longest(const history& t) {
    frame_row longest;
    for (const bool outside : {true, false}) {
        for (std::uint32_t i = 0; i < t.bodies.size(); ++i) {
            const bool root = t.bodies[i].kind == body_kind::root;
            if (root == outside) look_at(t, i, longest);
        }
        if (longest.end_body != none) break;
    }
    return longest;
}

std::vector<reason> reasons_of(const history& t, const frame_graph& graph,
                               std::span<const path_step> path) {
    std::map<std::uint32_t, std::uint64_t> outside, ran;  // by type
    for (const path_step& step : path) {
        for (const outside_part& part : step.outside) {
            outside[t.tasks[graph.nodes[part.node].task].type] += part.time;
        }
        if (step.task != none) ran[t.bodies[step.body].type] += step.length();
    }
    std::vector<reason> all;
    for (const auto& [type, time] : outside) {
        all.push_back({time, text_of("%s for %s, which somebody outside ends", in_ms(time).c_str(),
                                     t.name_of(type).c_str())});
    }
    for (const auto& [type, time] : ran) {
        all.push_back(
            {time, text_of("%s for %s, which ran", in_ms(time).c_str(), t.name_of(type).c_str())});
    }
    std::sort(all.begin(), all.end(), [](const reason& a, const reason& b) {
        return a.time != b.time ? a.time > b.time : a.text < b.text;
    });
    const auto too_short = [&](const reason& one) {
        return one.time * least_share < graph.frame.length();
    };
    all.erase(std::find_if(all.begin(), all.end(), too_short), all.end());
    all.resize(std::min(all.size(), most_reasons));
    return all;
}

std::string sentence_of(const history& t, const frame_graph& graph,
                        std::span<const path_step> path) {
    const body_row& body = t.bodies[graph.frame.end_body];
    const std::string who = body.kind == body_kind::root
                                ? "'" + t.from->lanes[body.lane].name + "' outside of tasks"
                                : t.name_of(body.type);
    std::string text = text_of("There are no frames. The longest wait was one of %s, %s",
                               who.c_str(), in_ms(graph.frame.length()).c_str());
    const std::vector<reason> reasons = reasons_of(t, graph, path);
    if (reasons.empty()) return text + "; what it was for is not in the capture.";
    text += ": ";
    for (std::size_t i = 0; i < reasons.size(); ++i) {
        if (i != 0) text += i + 1 == reasons.size() ? "; and " : "; ";
        text += reasons[i].text;
    }
    return text + ".";
}

}  // namespace

std::optional<wait_report> longest_wait(const history& from) {
    wait_report report;
    report.wait = find_longest(from);
    if (report.wait.end_body == none) return std::nullopt;
    const frame_graph graph = make_frame_graph(from, report.wait);
    report.path = critical_path(graph);
    report.sentence = sentence_of(from, graph, report.path);
    return report;
}

}  // namespace profile
BRAID_NAMESPACE_END
