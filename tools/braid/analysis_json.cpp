#include "analysis_json.hpp"

#include <nlohmann/json.hpp>

namespace braid::tool {
namespace {

using nlohmann::json;
using profile::none;

constexpr std::size_t frames_with_slack = 10;
constexpr std::size_t faster_types = 5;

std::string id_of(const profile::history& t, std::uint32_t task) {
    return std::to_string(task == none ? 0 : t.tasks[task].id);
}

json diagnosis_of(const profile::history& t, const std::optional<profile::diagnosis>& what) {
    if (!what) return nullptr;
    const profile::record_type& type = t.from->types[what->type];
    json causes = json::array();
    for (const profile::named_cause& one : what->all) {
        causes.push_back({{"cause", name_of(one.why)}, {"task", t.from->types[one.type].name}});
    }
    return {{"cause", name_of(what->why)}, {"causes", causes},     {"sentence", what->sentence},
            {"task", type.name},           {"type", what->type},   {"file", type.file},
            {"line", type.line},           {"save_ns", what->save}};
}

json frame_of(const profile::history& t, const profile::frame_report& report) {
    const profile::frame_row& frame = t.frames[report.frame];
    json path = json::array(), slack = json::array();
    for (const profile::path_step& s : report.path) {
        path.push_back({{"task", id_of(t, s.task)},
                        {"begin", s.begin},
                        {"end", s.end},
                        {"waits",
                         {{"dependency", s.waits.dependency},
                          {"external", s.waits.external},
                          {"queue", s.waits.queue},
                          {"affinity", s.waits.affinity},
                          {"preempted", s.waits.preempted}}}});
    }
    for (const profile::task_slack& s : report.slack) {
        slack.push_back({id_of(t, s.task), s.slack});
    }
    return {{"number", frame.number},
            {"begin", frame.begin},
            {"end", frame.end},
            {"diagnosis", diagnosis_of(t, report.what)},
            {"sentence", report.sentence},
            {"critical_path", path},
            {"slack", slack}};
}

json types_of(const profile::history& t) {
    json types = json::array();
    for (const profile::type_row& row : type_statistics(t)) {
        types.push_back({{"type", row.type},
                         {"name", t.from->types[row.type].name},
                         {"count", row.count},
                         {"total_ns", row.total},
                         {"p50_ns", row.p50},
                         {"p95_ns", row.p95},
                         {"max_ns", row.max}});
    }
    return types;
}

json what_if_of(const profile::history& t, const profile::reporter& from) {
    std::vector<profile::machine> machines = profile::machines_with(asked_cores);
    for (const profile::machine& m : from.faster_types(faster_types)) machines.push_back(m);
    json cores = json::array(), faster = json::array();
    for (const profile::what_if_row& row : profile::what_if(t, machines).rows) {
        json entry = {{"p50_ns", row.p50}, {"p95_ns", row.p95}};
        if (row.on.faster_type == none) {
            entry["cores"] = row.on.cores;
            cores.push_back(entry);
        } else {
            entry["type"] = row.on.faster_type;
            entry["times"] = row.on.times;
            faster.push_back(entry);
        }
    }
    return {{"cores", cores}, {"faster", faster}};
}

}  // namespace

std::string analysis_json(const profile::history& of, std::optional<std::size_t> frame) {
    const profile::reporter from(of);
    std::vector<bool> with_slack(of.frames.size(), false);
    for (const std::size_t f : from.longest(frames_with_slack)) with_slack[f] = true;
    json frames = json::array();
    for (std::size_t f = 0; f < of.frames.size(); ++f) {
        if (frame && *frame != f) continue;
        frames.push_back(frame_of(of, from.frame(f, frame || with_slack[f])));
    }
    const json all = {{"version", 1},
                      {"frames", frames},
                      {"types", types_of(of)},
                      {"what_if", what_if_of(of, from)}};
    // Names come from programs: what is no UTF-8 in them is replaced.
    return all.dump(1, ' ', false, json::error_handler_t::replace);
}

}  // namespace braid::tool
