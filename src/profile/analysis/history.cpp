#include "profile/analysis/history.hpp"

#include "profile/analysis/history_parts.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace profile {

std::size_t lane_row::span_at(std::uint64_t time) const {
    const auto after =
        std::upper_bound(spans.begin(), spans.end(), time,
                         [](std::uint64_t t, const lane_span& s) { return t < s.begin; });
    return static_cast<std::size_t>(after == spans.begin() ? 0 : after - spans.begin() - 1);
}

std::string history::name_of(std::uint32_t type) const {
    if (type >= from->types.size()) return "a task without name";
    const record_type& t = place_of(type);
    // The folders are the builder's; the name tells the place.
    std::string place = t.file.substr(t.file.find_last_of('/') + 1);
    if (t.line != 0) place.append(":").append(std::to_string(t.line));
    if (t.name.empty()) return place.empty() ? "a task without name" : "the task of " + place;
    const std::string text = "'" + t.name + "'";
    return place.empty() ? text : text + " (" + place + ")";
}

const record_type& history::place_of(std::uint32_t type) const {
    const record_type& t = from->types[type];
    if (!t.file.empty() || t.name.empty()) return t;
    const record_type* found = nullptr;
    for (const record_type& other : from->types) {
        if (other.name != t.name || other.file.empty()) continue;
        if (found != nullptr) return t;
        found = &other;
    }
    return found != nullptr ? *found : t;
}

std::uint32_t history::next_above(std::uint32_t base, std::uint32_t body) const {
    while (body != none && bodies[body].below != base) body = bodies[body].below;
    return body;
}

bool history::is_idle(std::uint32_t body, std::uint64_t time) const {
    const body_row& row = bodies[body];
    if (row.kind == body_kind::root && lanes[row.lane].of_scheduler) return true;
    const std::span<const mark> all = marks_of(row);
    const auto after = std::upper_bound(all.begin(), all.end(), time,
                                        [](std::uint64_t t, const mark& m) { return t < m.time; });
    return after != all.begin() && after[-1].waits;
}

history make_history(const capture& from) {
    history to;
    to.from = &from;
    const record_tasks tasks = collect_tasks(to);
    link_tasks(to, tasks);
    walk_lanes(to, tasks);
    for (std::uint32_t i = 0; i < to.tasks.size(); ++i) {
        if (to.tasks[i].completed != unknown) to.by_completion.push_back(i);
    }
    std::sort(to.by_completion.begin(), to.by_completion.end(),
              [&](std::uint32_t a, std::uint32_t b) {
                  return to.tasks[a].completed < to.tasks[b].completed;
              });
    return to;
}

}  // namespace profile
BRAID_NAMESPACE_END
