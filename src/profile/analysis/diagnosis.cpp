#include "profile/analysis/diagnosis.hpp"

#include "profile/analysis/coincidence.hpp"
#include "profile/analysis/text.hpp"

#include <algorithm>
#include <cinttypes>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

constexpr const char* unless_preempted =
    ", if it was not the system that ran something else, which this capture does not know";
constexpr std::size_t enough_tasks = 8;       // to speak of what is usual
constexpr std::size_t enough_frames = 8;      //
constexpr std::size_t frames_looked_at = 32;  // for what is usual on the critical path

constexpr const char* others = ", and others as well";

struct finding {
    std::string fact, advice;
};

finding about_waits(const scene& s, const candidate& c, const char* name, const char* time) {
    switch (c.why) {
        case cause::external:
            return {text_of("it waited %s for %s, which somebody outside ends", time, name),
                    "begin that earlier, or need it in a later frame"};
        case cause::affinity:
            return {text_of("%s waited %s for its thread while others were idle", name, time),
                    "let any worker run it"};
        case cause::late_wake:
            return {text_of("%s was ready for %s before a sleeping thread woke%s", name, time,
                            c.with_others ? others : ""),
                    "keep threads awake while a frame runs"};
        case cause::background:
            return {text_of("%s, which this frame does not need, had the core for %s while "
                            "%s waited",
                            name, time, s.t.name_of(c.victim).c_str()),
                    "keep background work off the cores of the frame"};
        case cause::priority:
            return {
                text_of("%s was ready but waited %s while tasks ran that matter less", name, time),
                "give it a higher priority"};
        default:
            return {};
    }
}

finding about_device(const scene& s, const candidate& c, const char* name, const char* time) {
    const char* const device = s.t.from->lanes[c.lane].name.c_str();
    switch (c.fault) {
        case device_fault::queue:
            return {text_of("%s waited %s in the queue of '%s', which ran other work", name, time,
                            device),
                    "give it a higher priority, or that processor less to do"};
        case device_fault::transfer:
            return {text_of("%s waited %s for '%s' to copy what it reads and writes", name, time,
                            device),
                    "keep its data there in a buffer, or copy less"};
        case device_fault::late_submit:
            break;
    }
    return {text_of("%s came to '%s' %s later than usual, which had nothing to run until then",
                    name, device, time),
            "submit it before the rest of the task's work"};
}

finding about_machine(const candidate& c, const char* name, const char* time) {
    if (c.why == cause::standstill) {
        return {text_of("no thread of the program had a core for %s, %s into the frame", time,
                        in_ms(c.since).c_str()),
                "look for other programs, or for what else the host of a virtual machine runs"};
    }
    const char* const advice = "use fewer workers, or leave fewer other programs running";
    if (c.usual == 0) {
        return {text_of("the system took %s off its core for %s%s", name, time,
                        c.with_others ? others : ""),
                advice};
    }
    return {text_of("%s took %s once, %s is usual, and the system had it off its core meanwhile",
                    name, time, in_ms(c.usual).c_str()),
            advice};
}

finding about_work(const scene& s, const candidate& c, const char* name, const char* time) {
    const bool switches_known = s.t.from->switches != switch_level::none;
    if (c.why == cause::straggler) {
        return {
            text_of("%s took %s once, %s is usual%s", name, time, in_ms(c.usual).c_str(),
                    c.all_waited ? ", and everybody waited for it" : ""),
            std::string("split its work more evenly") + (switches_known ? "" : unless_preempted)};
    }
    if (c.why == cause::too_fine) {
        return {
            text_of("%s is so short, %.1f us on average, that the scheduler took %s for %" PRIu64
                    " of them",
                    name, static_cast<double>(c.usual) * 1e-3, time, c.count),
            "let each do more"};
    }
    if (c.count == 1) {
        return {text_of("%s ran %s while most threads were idle", name, time), "split it"};
    }
    return {text_of("%" PRIu64
                    " tasks ran one after the other while most threads were idle, %s for %s of it",
                    c.count, name, time),
            "split it, or begin some of it earlier"};
}

finding what_happened(const scene& s, const candidate& c) {
    const std::string task = c.outside ? "code outside of tasks" : s.t.name_of(c.type);
    const std::string time = in_ms(c.time);
    switch (c.why) {
        case cause::device:
            return about_device(s, c, task.c_str(), time.c_str());
        case cause::external:
        case cause::affinity:
        case cause::late_wake:
        case cause::background:
        case cause::priority:
            return about_waits(s, c, task.c_str(), time.c_str());
        case cause::preemption:
        case cause::standstill:
            return about_machine(c, task.c_str(), time.c_str());
        case cause::straggler:
        case cause::too_fine:
        case cause::serial_chain:
            return about_work(s, c, task.c_str(), time.c_str());
        case cause::unusual:
            break;
    }
    return {};
}

std::string sentence_of(const scene& s, const combination& found) {
    const frame_row& frame = s.graph.frame;
    std::string text = text_of("Frame %" PRIu64 " took %s, %s more than it needed", frame.number,
                               in_ms(frame.length()).c_str(), in_ms(found.saved).c_str());
    if (found.parts.size() == 1) {
        const finding one = what_happened(s, found.parts[0]);
        return text + ": " + one.fact + "; " + one.advice + ".";
    }
    text +=
        found.parts.size() == 2 ? ", for two reasons at once: " : ", for three reasons at once: ";
    for (std::size_t i = 0; i < found.parts.size(); ++i) {
        const finding one = what_happened(s, found.parts[i]);
        if (i != 0) text += i + 1 == found.parts.size() ? "; and " : "; ";
        text += one.fact + " (" + one.advice + ")";
    }
    return text + ".";
}

std::uint64_t least_of(const frame_row& frame) {
    const double share = static_cast<double>(frame.length()) * least_saved_share;
    return std::max(static_cast<std::uint64_t>(share), least_saved);
}

/// How long the path is held up, by the type of its steps; code outside of tasks is the last one.
std::vector<std::uint64_t> times_on_path(const history& t, std::span<const path_step> path) {
    std::vector<std::uint64_t> times(t.types() + 1);
    for (const path_step& step : path) {
        const std::size_t at = step.task == none ? t.types() : t.bodies[step.body].type;
        times[at] += step.end - step.before;
    }
    return times;
}

std::vector<std::uint64_t> usual_times_of_submit(const history& t) {
    std::vector<std::vector<std::uint64_t>> times(t.types());
    for (const std::uint32_t i : t.external) {
        const task_row& work = t.tasks[i];
        if (work.body == none || work.spawned_in == none || work.spawned == unknown) continue;
        const std::uint64_t begin = t.bodies[work.spawned_in].begin;
        if (begin <= work.spawned) times[work.type].push_back(work.spawned - begin);
    }
    std::vector<std::uint64_t> usual(times.size(), 0);
    for (std::size_t type = 0; type < times.size(); ++type) {
        if (times[type].size() < enough_tasks) continue;
        usual[type] = std::max<std::uint64_t>(percentile(times[type], 0.5), 1);
    }
    return usual;
}

}  // namespace

const char* name_of(cause c) {
    switch (c) {
        case cause::device:
            return "device";
        case cause::external:
            return "external";
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
        case cause::standstill:
            return "standstill";
        case cause::unusual:
            return "unusual";
    }
    return "";
}

diagnostician::diagnostician(const history& from) : t_(from), usual_(from.types(), 0) {
    // Of bodies: what others ran of a task's joins does not make its thread late.
    std::vector<std::vector<std::uint64_t>> times(from.types());
    for (const task_row& task : from.tasks) {
        if (task.body == none || task.was_suspended() || from.bodies[task.body].open) continue;
        times[task.type].push_back(from.bodies[task.body].running);
    }
    for (std::size_t type = 0; type < times.size(); ++type) {
        if (times[type].size() >= enough_tasks) usual_[type] = percentile(times[type], 0.5);
    }
    usual_submit_ = usual_times_of_submit(from);
    if (from.frames.size() >= enough_frames) usual_frame_ = frame_statistics(from).p50;
}

const std::vector<std::uint64_t>& diagnostician::usual_on_path() const {
    if (!usual_on_path_.empty()) return usual_on_path_;
    std::vector<std::vector<std::uint64_t>> all(t_.types() + 1);
    const std::size_t frames = std::min(t_.frames.size(), frames_looked_at);
    for (std::size_t i = 0; i < frames; ++i) {
        const frame_graph graph = make_frame_graph(t_, t_.frames[i * t_.frames.size() / frames]);
        const std::vector<std::uint64_t> times = times_on_path(t_, critical_path(graph));
        for (std::size_t type = 0; type < times.size(); ++type) all[type].push_back(times[type]);
    }
    for (std::vector<std::uint64_t>& times : all) usual_on_path_.push_back(percentile(times, 0.5));
    return usual_on_path_;
}

/// Among frames the time of a type on the path, with its waits; within one frame, where the others
/// are too few, its bodies against the usual one.
std::optional<diagnosis> diagnostician::most_unusual(const frame_graph& graph,
                                                     std::span<const path_step> path,
                                                     std::uint64_t least) const {
    const frame_row& frame = graph.frame;
    if (usual_frame_ != 0 && frame.length() < usual_frame_ + least) return std::nullopt;
    std::vector<std::uint64_t> times(t_.types() + 1), usual(times.size());
    if (usual_frame_ != 0) {
        times = times_on_path(t_, path);
        usual = usual_on_path();
    } else {
        for (const path_step& step : path) {
            const body_row& body = t_.bodies[step.body];
            if (body.kind != body_kind::task || usual_[body.type] == 0 || step.after_wait) continue;
            times[body.type] += body.running;
            usual[body.type] += usual_[body.type];
        }
    }
    std::size_t most = 0;
    std::uint64_t excess = 0;
    for (std::size_t type = 0; type < times.size(); ++type) {
        if (times[type] <= usual[type] + excess) continue;
        excess = times[type] - usual[type];
        most = type;
    }
    if (excess < least) return std::nullopt;
    const bool outside = most == t_.types();
    diagnosis d;
    d.why = cause::unusual;
    d.type = outside ? 0 : static_cast<std::uint32_t>(most);
    d.all = {{d.why, d.type}};
    d.sentence = text_of("Frame %" PRIu64 " took %s", frame.number, in_ms(frame.length()).c_str());
    if (usual_frame_ != 0) d.sentence += text_of(" where %s is usual", in_ms(usual_frame_).c_str());
    d.sentence += text_of(
        ", and no change alone would shorten it much; most unusual was %s, on its critical path "
        "for "
        "%s where %s is usual; look at what it did there.",
        outside ? "code outside of tasks" : t_.name_of(d.type).c_str(), in_ms(times[most]).c_str(),
        in_ms(usual[most]).c_str());
    return d;
}

std::string diagnostician::nothing_found(const frame_row& frame) const {
    const std::string took =
        text_of("Frame %" PRIu64 " took %s", frame.number, in_ms(frame.length()).c_str());
    if (usual_frame_ == 0) return took + ", and no change would shorten it much.";
    if (frame.length() < usual_frame_ + least_of(frame)) {
        return took +
               ", which is usual here, and no change would shorten it much: it has that much "
               "work to do.";
    }
    return took + text_of(
                      " where %s is usual, no type of task stands out, and no change would "
                      "shorten it much: it had a little more of everything to do.",
                      in_ms(usual_frame_).c_str());
}

std::optional<diagnosis> diagnostician::examine(const frame_graph& graph,
                                                std::span<const path_step> path) const {
    scene s{t_, graph, path, usual_, usual_submit_, least_of(graph.frame)};
    for (const graph_node& n : graph.nodes) {
        if (n.body != none && n.needed) s.needed.insert(n.body);
    }
    combination found = find_causes(s, usual_frame_);
    if (found.parts.empty()) return most_unusual(graph, path, s.least);
    diagnosis d;
    d.why = found.parts[0].why;
    d.type = found.parts[0].type;
    for (const candidate& c : found.parts) d.all.push_back({c.why, c.type});
    d.save = found.saved;
    d.sentence = sentence_of(s, found);
    return d;
}

}  // namespace profile
BRAID_NAMESPACE_END
