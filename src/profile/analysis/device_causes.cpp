// A processor held the frame up: its queue, what it copied, or work that it got late.
#include "profile/analysis/causes.hpp"

#include "profile/analysis/spans.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

constexpr double idle_before = 0.9;  // of the time by which it got the work late

/// When it ran something, on whatever row. `seat` of its lanes is its number.
span_set busy_times(const scene& s, std::uint32_t lane, time_span window) {
    const std::vector<profile::lane>& lanes = s.t.from->lanes;
    span_set busy;
    for (std::uint32_t i = 0; i < s.t.lanes.size(); ++i) {
        if (s.t.lanes[i].kind != lane_kind::device || lanes[i].seat != lanes[lane].seat) continue;
        add_spans(busy, s.t.lanes[i], window,
                  [](const lane_span& l) { return l.state == lane_state::run; });
    }
    return joined(busy);
}

candidate about(const scene& s, const path_step& step, device_fault fault) {
    candidate c;
    c.why = cause::device;
    c.fault = fault;
    c.type = s.t.bodies[step.body].type;
    c.lane = s.t.bodies[step.body].lane;
    return c;
}

void add(candidates& to, candidate c, std::uint64_t time) {
    if (time == 0) return;
    c.time = time;
    to.push_back(std::move(c));
}

/// What it ran meanwhile had come first.
void find_queue(const scene& s, const path_step& step, candidates& to) {
    candidate c = about(s, step, device_fault::queue);
    const span_set busy = busy_times(s, c.lane, {step.ready, step.begin});
    const std::uint64_t time = length_of(busy);
    c.changes.push_back({step.first, time, 0});
    add(to, std::move(c), time);
}

/// Scopes of the lane within the body.
void find_transfer(const scene& s, const path_step& step, candidates& to) {
    candidate c = about(s, step, device_fault::transfer);
    const std::vector<record>& all = s.t.from->lanes[c.lane].records;
    auto at = std::lower_bound(all.begin(), all.end(), step.begin,
                               [](const record& r, std::uint64_t time) { return r.time < time; });
    std::uint64_t time = 0, since = 0;
    bool open = false;
    for (; at != all.end() && at->time <= step.end; ++at) {
        if (at->kind == record_kind::scope_begin) {
            since = at->time;
            open = true;
        } else if (at->kind == record_kind::scope_end && std::exchange(open, false)) {
            time += at->time - since;
        }
    }
    if (time != 0) shorten(c, s, step, time);
    add(to, std::move(c), time);
}

/// The task before it submitted later after its begin than such tasks do, and the processor had
/// nothing to run until then.
void find_late_submit(const scene& s, const path_step& before, const path_step& step,
                      candidates& to) {
    const task_row& work = s.t.tasks[step.task];
    candidate c = about(s, step, device_fault::late_submit);
    const std::uint64_t usual = s.usual_submit[work.type];
    if (usual == 0 || work.spawned == unknown || work.spawned_in != before.body) return;
    const std::uint64_t begin = s.t.bodies[before.body].begin;
    const std::uint64_t after = work.spawned - std::min(begin, work.spawned);
    if (after <= usual) return;
    const std::uint64_t late = std::min(after - usual, before.length());
    const time_span window{work.spawned - late, work.spawned};
    const auto busy = static_cast<double>(length_of(busy_times(s, c.lane, window)));
    if (busy > (1 - idle_before) * static_cast<double>(late)) return;
    c.usual = usual;
    shorten(c, s, before, late);
    c.outside = false;
    add(to, std::move(c), late);
}

}  // namespace

void find_device(const scene& s, candidates& to) {
    for (std::size_t i = 0; i < s.path.size(); ++i) {
        const path_step& step = s.path[i];
        if (!s.t.is_on_device(step.body) || step.task == none) continue;
        find_queue(s, step, to);
        find_transfer(s, step, to);
        if (i != 0) find_late_submit(s, s.path[i - 1], step, to);
    }
}

}  // namespace profile
BRAID_NAMESPACE_END
