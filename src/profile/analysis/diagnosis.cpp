#include "profile/analysis/diagnosis.hpp"

#include "profile/analysis/causes.hpp"
#include "profile/analysis/text.hpp"

#include <algorithm>
#include <cinttypes>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

constexpr const char* unless_preempted =
    ", if it was not the system that ran something else, which this capture does not know";

std::string what_happened(const scene& s, const candidate& c) {
    const bool switches_known = s.t.from->switches != switch_level::none;
    const std::string task = c.outside ? "code outside of tasks" : s.t.name_of(c.type);
    const char* const name = task.c_str();
    const std::string time = in_ms(c.time);
    switch (c.why) {
        case cause::affinity:
            return text_of(
                "%s waited %s for its thread while others were idle; let any worker run it.", name,
                time.c_str());
        case cause::late_wake:
            return text_of(
                "%s could have gone on %s before a sleeping thread woke; keep threads awake while "
                "a frame runs.",
                name, time.c_str());
        case cause::background:
            return text_of(
                "%s, which this frame does not need, had the core for %s that %s waited; keep "
                "background work off the cores of the frame.",
                name, time.c_str(), s.t.name_of(c.victim).c_str());
        case cause::preemption:
            if (c.usual != 0) {
                return text_of(
                    "%s took %s once, %s is usual, and the system had it off its core meanwhile; "
                    "use fewer workers, or leave fewer other programs running.",
                    name, time.c_str(), in_ms(c.usual).c_str());
            }
            return text_of(
                "the system took %s off its core for %s; use fewer workers, or leave fewer other "
                "programs running.",
                name, time.c_str());
        case cause::priority:
            return text_of(
                "%s was ready but waited %s while tasks ran that matter less; give it a higher "
                "priority.",
                name, time.c_str());
        case cause::straggler:
            return text_of(
                "%s took %s once, %s is usual, and everybody waited for it; split its work more "
                "evenly%s.",
                name, time.c_str(), in_ms(c.usual).c_str(), switches_known ? "" : unless_preempted);
        case cause::too_fine:
            return text_of(
                "%s is so short, %.1f us on average, that the scheduler took %s for %" PRIu64
                " of them; let each do more.",
                name, static_cast<double>(c.usual) * 1e-3, time.c_str(), c.count);
        case cause::serial_chain:
            if (c.count == 1) {
                return text_of("%s ran %s while most threads were idle; split it.", name,
                               time.c_str());
            }
            return text_of(
                "%" PRIu64
                " tasks ran one after the other while most threads were idle, %s for %s of it; "
                "split it, or begin some of it earlier.",
                c.count, name, time.c_str());
    }
    return {};
}

}  // namespace

const char* name_of(cause c) {
    switch (c) {
        case cause::affinity:
            return "affinity";
        case cause::late_wake:
            return "late_wake";
        case cause::background:
            return "background";
        case cause::preemption:
            return "preemption";
        case cause::priority:
            return "priority";
        case cause::straggler:
            return "straggler";
        case cause::too_fine:
            return "too_fine";
        case cause::serial_chain:
            return "serial_chain";
    }
    return "";
}

diagnostician::diagnostician(const history& from) : t_(from), usual_(from.types(), 0) {
    constexpr std::size_t enough = 8;
    // Of bodies: what others ran of a task's joins does not make its thread late.
    std::vector<std::vector<std::uint64_t>> times(from.types());
    for (const task_row& task : from.tasks) {
        if (task.body == none || from.bodies[task.body].open) continue;
        times[task.type].push_back(from.bodies[task.body].running);
    }
    for (std::size_t type = 0; type < times.size(); ++type) {
        if (times[type].size() >= enough) usual_[type] = percentile(times[type], 0.5);
    }
}

std::optional<diagnosis> diagnostician::examine(const frame_graph& graph,
                                                std::span<const path_step> path) const {
    const auto share =
        static_cast<std::uint64_t>(static_cast<double>(graph.frame.length()) * least_saved_share);
    scene s{t_, graph, path, usual_, std::max(share, least_saved)};
    for (const graph_node& n : graph.nodes) {
        if (n.body != none && n.needed) s.needed.insert(n.body);
    }
    for (const path_step& step : path) s.critical.insert(step.body);
    candidates found;
    for (const auto find : {find_affinity, find_late_wake, find_background, find_preemption,
                            find_priority, find_straggler, find_too_fine, find_serial_chain}) {
        find(s, found);
    }
    const candidate* best = nullptr;
    std::uint64_t saved = 0;
    for (const candidate& c : found) {
        const std::uint64_t save = c.saves ? *c.saves : std::min(saving(graph, c.changes), c.most);
        if (save <= saved) continue;
        saved = save;
        best = &c;
    }
    if (best == nullptr || saved < s.least) return std::nullopt;
    diagnosis d;
    d.why = best->why;
    d.type = best->type;
    d.save = saved;
    d.sentence = text_of("Frame %" PRIu64 " took %s, %s more than it needed: ", graph.frame.number,
                         in_ms(graph.frame.length()).c_str(), in_ms(saved).c_str()) +
                 what_happened(s, *best);
    return d;
}

}  // namespace profile
BRAID_NAMESPACE_END
