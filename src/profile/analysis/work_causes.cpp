// What is wrong with the work itself: a straggler, tasks that are too fine, a chain.
#include "profile/analysis/causes.hpp"

#include "profile/analysis/spans.hpp"

#include <map>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

constexpr std::uint64_t straggler_times = 3;  // the median; below that, data differ
constexpr std::size_t enough_siblings = 4;    // to speak of a median
constexpr std::uint64_t fine_ns = 2'000;      // a spawn, a steal and a wake cost that much
constexpr std::size_t enough_fine = 32;       // fewer, and one interruption explains them
constexpr double fine_share = 0.2;            // of the workers' time, in the scheduler
constexpr double chain_share = 0.75;          // of the frame, that a chain runs
constexpr double chain_others = 0.25;         // of the other threads' time, at most busy

/// Bodies of the frame's tasks that lie in it wholly.
std::map<std::uint32_t, std::vector<std::uint64_t>> times_by_type(const scene& s) {
    std::map<std::uint32_t, std::vector<std::uint64_t>> times;
    for (const graph_node& n : s.graph.nodes) {
        if (!n.first || n.task == none || s.t.is_on_device(n.body)) continue;
        const body_row& b = s.t.bodies[n.body];
        if (b.kind == body_kind::task && !b.open && b.end <= s.graph.frame.end) {
            times[b.type].push_back(b.running);
        }
    }
    return times;
}

/// Who waits helps.
bool helps(lane_kind k) { return k == lane_kind::worker || k == lane_kind::main; }

struct lane_sums {
    std::uint64_t run = 0;
    std::uint64_t ran = 0, helpers = 0;  // lanes: that ran tasks; that might have
};

lane_sums sums_of(const scene& s) {
    lane_sums sums;
    const time_span window{s.graph.frame.begin, s.graph.frame.end};
    for (const lane_row& lane : s.t.lanes) {
        if (lane.kind == lane_kind::background || lane.kind == lane_kind::device) continue;
        const lane_split split = split_of(lane, window);
        sums.helpers += helps(lane.kind);
        if (split[lane_state::run] == 0) continue;
        ++sums.ran;
        sums.run += split[lane_state::run];
    }
    return sums;
}

/// The share of the window in which all but one were idle, together.
double idle_share(const scene& s, time_span window, std::uint32_t but) {
    std::uint64_t idle = 0, lanes = 0;
    for (std::uint32_t i = 0; i < s.t.lanes.size(); ++i) {
        if (i == but || !helps(s.t.lanes[i].kind)) continue;
        const lane_split split = split_of(s.t.lanes[i], window);
        idle += split[lane_state::search] + split[lane_state::parked];
        ++lanes;
    }
    const double all = static_cast<double>(lanes) * static_cast<double>(window.length());
    return all == 0 ? 0 : static_cast<double>(idle) / all;
}

std::uint64_t on_core(const path_step& step) {
    return step.length() - std::min(step.length(), step.waits.preempted);
}

/// What is usual for a body, among those of this frame where they are enough; 0: too few to say.
class usual_times {
public:
    explicit usual_times(const scene& s) : s_(s), times_(times_by_type(s)) {}
    std::uint64_t of(std::uint32_t type) {
        const auto [at, is_new] = usual_.try_emplace(type, s_.usual[type]);
        std::vector<std::uint64_t>& siblings = times_[type];
        if (is_new && siblings.size() >= enough_siblings) at->second = percentile(siblings, 0.5);
        return at->second;
    }

private:
    const scene& s_;
    std::map<std::uint32_t, std::vector<std::uint64_t>> times_;
    std::map<std::uint32_t, std::uint64_t> usual_;
};

/// A body that took several times what is usual, as a candidate without changes.
std::optional<candidate> as_straggler(const scene& s, usual_times& usual, std::uint32_t number) {
    const body_row& body = s.t.bodies[number];
    if (body.kind != body_kind::task || body.open) return std::nullopt;
    // Between two suspensions a task may do anything.
    if (s.t.tasks[body.task].was_suspended()) return std::nullopt;
    const std::uint64_t median = usual.of(body.type);
    if (median == 0 || body.running < straggler_times * median) return std::nullopt;
    // Where the times of switches are not known, one bit says that there were some; then it is
    // not the task that has more to do.
    const lane& on = s.t.from->lanes[body.lane];
    const bool switched = switches_of(*s.t.from, on) != switch_level::exact &&
                          (s.t.tasks[body.task].end_flags & end_switched) != 0;
    candidate c;
    c.why = switched ? cause::preemption : cause::straggler;
    c.type = body.type;
    c.time = body.running;
    c.usual = median;
    return c;
}

/// A step was ready, and its thread still had a straggler before it.
void find_straggler_before(const scene& s, const path_step& step, usual_times& usual,
                           candidates& to) {
    const time_span window{step.ready, step.begin};
    if (window.length() == 0 || !s.graph.nodes[step.first].first) return;
    if (s.t.is_on_device(step.body)) return;
    const lane_row& lane = s.t.lanes[s.t.bodies[step.body].lane];
    std::unordered_set<std::uint32_t> seen;
    for (std::size_t i = lane.span_at(window.begin); i < lane.spans.size(); ++i) {
        const lane_span& span = lane.spans[i];
        if (span.begin >= window.end) break;
        if (span.state != lane_state::run || s.is_foreign(span.body)) continue;
        if (!seen.insert(span.body).second) continue;
        std::optional<candidate> c = as_straggler(s, usual, span.body);
        if (!c) continue;
        const body_row& body = s.t.bodies[span.body];
        const time_span both{std::max(body.begin, window.begin), std::min(body.end, window.end)};
        const std::uint64_t late = std::min(body.running - c->usual, both.length());
        if (late == 0) continue;
        c->all_waited = false;
        c->changes.push_back({step.first, late, 0});
        to.push_back(std::move(*c));
    }
}

}  // namespace

void find_straggler(const scene& s, candidates& to) {
    usual_times usual(s);
    for (const path_step& step : s.path) {
        find_straggler_before(s, step, usual, to);
        std::optional<candidate> c = as_straggler(s, usual, step.body);
        if (!c) continue;
        const body_row& body = s.t.bodies[step.body];
        const std::uint64_t excess = std::min(body.running - c->usual, step.length());
        // Else the others had to do as well, and their work would have been shared.
        c->all_waited = idle_share(s, {step.end - excess, step.end}, body.lane) >= 0.5;
        shorten(*c, s, step, excess);
        to.push_back(std::move(*c));
    }
}

/// The time that a step spent on spawning, by the type of the tasks: from one spawn to the next,
/// where nothing else lies between.
std::map<std::uint32_t, std::uint64_t> spawning(const scene& s, const path_step& step) {
    std::map<std::uint32_t, std::uint64_t> times;
    // What a thread does outside of tasks is one body with the marks of all frames.
    const std::span<const mark> marks = s.t.marks_of(s.t.bodies[step.body]);
    auto at = std::lower_bound(marks.begin(), marks.end(), step.begin,
                               [](const mark& m, std::uint64_t time) { return m.time < time; });
    std::uint64_t before = 0;
    for (; at != marks.end() && at->time <= step.end; ++at) {
        if (at->kind != mark_kind::spawned || at->task == none) {
            before = 0;
            continue;
        }
        const std::uint64_t time = at->time - before;
        if (before != 0 && time < fine_ns) times[s.t.tasks[at->task].type] += time;
        before = at->time;
    }
    return times;
}

void find_too_fine(const scene& s, candidates& to) {
    const lane_sums sums = sums_of(s);
    const std::uint64_t lanes = std::max<std::uint64_t>(sums.ran, 1);
    const double all = static_cast<double>(s.graph.frame.length()) * static_cast<double>(lanes);
    std::uint64_t bodies = 0;
    std::map<std::uint32_t, std::vector<std::uint64_t>> times = times_by_type(s);
    for (const auto& [type, list] : times) bodies += list.size();
    const std::uint64_t overhead =
        time_between_bodies(s.t, {s.graph.frame.begin, s.graph.frame.end});
    std::vector<std::map<std::uint32_t, std::uint64_t>> spawned_in;  // of each step
    std::map<std::uint32_t, std::uint64_t> spawned;
    std::uint64_t all_spawned = 0;
    for (const path_step& step : s.path) {
        spawned_in.push_back(spawning(s, step));
        for (const auto& [type, time] : spawned_in.back()) {
            spawned[type] += time;
            all_spawned += time;
        }
    }
    if (static_cast<double>(overhead * bodies + all_spawned) < fine_share * all) return;
    for (const auto& [type, list] : times) {
        if (list.size() < enough_fine) continue;
        std::uint64_t sum = 0;
        for (const std::uint64_t t : list) sum += t;
        const std::uint64_t mean = sum / list.size();
        if (mean >= std::max(fine_ns, overhead)) continue;
        candidate c;
        c.why = cause::too_fine;
        c.type = type;
        c.time = overhead * list.size() + spawned[type];
        c.usual = mean;
        c.count = list.size();
        // Ten in one leave a tenth of the scheduler's work, which the threads share; and no more
        // than they wait for it.
        c.most = (overhead * list.size() / lanes + spawned[type]) * 9 / 10;
        for (std::size_t i = 0; i < s.path.size(); ++i) {
            shorten(c, s, s.path[i], spawned_in[i][type]);
        }
        // All of them, since each waits for those before it; one alone would win little.
        for (std::uint32_t i = 0; i < s.graph.nodes.size(); ++i) {
            const graph_node& n = s.graph.nodes[i];
            const bool waits = n.first && n.gap > 0 && s.graph.type_of(n) == type;
            if (waits) c.changes.push_back({i, static_cast<std::uint64_t>(n.gap), 0});
        }
        c.outside = false;
        to.push_back(std::move(c));
    }
}

void find_serial_chain(const scene& s, candidates& to) {
    const lane_sums sums = sums_of(s);
    std::uint64_t chain = 0, tasks = 0;
    std::map<std::uint32_t, std::uint64_t> of_type;
    for (const path_step& step : s.path) {
        if (step.task == none || s.t.is_on_device(step.body)) continue;
        chain += on_core(step);
        ++tasks;
        of_type[s.t.bodies[step.body].type] += on_core(step);
    }
    const auto frame = static_cast<double>(s.graph.frame.length());
    if (tasks == 0 || sums.helpers < 2 || static_cast<double>(chain) < chain_share * frame) return;
    const double others = static_cast<double>(sums.run) - static_cast<double>(chain);
    if (others > chain_others * frame * static_cast<double>(sums.helpers - 1)) return;
    const auto most =
        std::max_element(of_type.begin(), of_type.end(),
                         [](const auto& x, const auto& y) { return x.second < y.second; });
    candidate c;
    c.why = cause::serial_chain;
    c.type = most->first;
    c.time = most->second;
    c.count = tasks;
    // Each split in two, of which an idle thread takes one.
    for (const path_step& step : s.path) {
        if (step.task == none || s.t.is_on_device(step.body)) continue;
        if (s.t.bodies[step.body].type != c.type) continue;
        shorten(c, s, step, on_core(step) / 2);
    }
    to.push_back(std::move(c));
}

}  // namespace profile
BRAID_NAMESPACE_END
