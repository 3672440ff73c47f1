// Looks at the capture once, to know tasks, arrows and frames, and then merges the lanes.
#include "profile/export/timeline.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

BRAID_NAMESPACE_BEGIN
namespace profile {

timeline::timeline(const capture& of) : capture_(of), last_(of.duration) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
    for (const lane& l : of.lanes) {
        records_ += l.records.size();
        for (const record& r : l.records) {
            last_ = std::max(last_, r.time);
            learn(r, edges);
        }
    }
    learn_slices();
    learn_outside();
    join(edges);
    lay_frames();
    lanes_.reserve(of.lanes.size());
    for (std::uint32_t i = 0; i < of.lanes.size(); ++i) {
        lanes_.push_back({{}, lane_steps(of.lanes[i], i, last_)});
        queue_lane(i);
    }
    if (!frames_.empty()) turns_.push(turn_of_frame());
}

void timeline::learn(const record& r, std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges) {
    switch (r.kind) {
        case record_kind::edge:
            edges.emplace_back(r.other, r.task);
            break;
        case record_kind::spawned: {
            task_facts& task = tasks_[r.task];
            task.spawned = r.time;
            task.parent = r.other;
            task.type = r.aux;
            break;
        }
        case record_kind::ready: {
            task_facts& task = tasks_[r.task];
            task.ready = r.time;
            task.released_by = r.other;
            break;
        }
        case record_kind::started:
            if (tasks_[r.task].type == 0) tasks_[r.task].type = r.aux;
            break;
        case record_kind::completed:
            tasks_[r.task].completed = r.time;
            break;
        case record_kind::stolen:
            tasks_[r.task].stolen_from = r.aux;
            break;
        case record_kind::deferred: {
            task_facts& task = tasks_[r.task];
            task.deferral = &r;
            task.parent = r.other;
            break;
        }
        default:
            break;
    }
}

void timeline::learn_slices() {
    for (std::uint32_t i = 0; i < capture_.lanes.size(); ++i) {
        lane_steps steps(capture_.lanes[i], i, last_);
        for (step at; steps.next(at);) {
            if (at.about != slice_kind::task || at.from == nullptr) continue;
            if (at.kind != step_kind::begin && at.kind != step_kind::end) continue;
            task_facts& task = tasks_[at.from->task];
            const place here{at.time, at.row, at.slice};
            place& known = at.kind == step_kind::begin ? task.first_begin : task.last_end;
            const bool better =
                at.kind == step_kind::begin ? at.time < known.time : at.time >= known.time;
            if (known.row == none || better) known = here;
        }
    }
}

void timeline::learn_outside() {
    for (const auto& [id, work] : tasks_) {
        if (work.deferral == nullptr || work.last_end.row == none) continue;
        const auto found = tasks_.find(work.parent);
        if (found == tasks_.end() || found->second.last_end.row == none) continue;
        task_facts& task = found->second;
        const task_facts* const last = last_outside_of(task);
        const std::uint64_t end = last != nullptr ? last->last_end.time : task.last_end.time;
        if (work.last_end.time >= end) task.last_outside = id;
    }
}

void timeline::join_outside(std::uint64_t& id) {
    for (const auto& [task, work] : tasks_) {
        if (work.deferral == nullptr || work.first_begin.row == none) continue;
        if (work.deferral->time > work.first_begin.time) continue;
        deferrals_.push_back({task, ++id});
        arriving_.push_back({task, id});
    }
}

void timeline::join(std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges) {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::uint64_t id = 0;
    for (const auto& [from, to] : edges) {
        const task_facts* earlier = facts(from);
        const task_facts* const later = facts(to);
        if (from == to || earlier == nullptr || later == nullptr) continue;
        if (earlier->last_end.row == none || later->first_begin.row == none) continue;
        // It is complete when the processor is done.
        const task_facts* const outside = last_outside_of(*earlier);
        const std::uint64_t leaves = outside != nullptr ? earlier->last_outside : from;
        if (outside != nullptr) earlier = outside;
        // Readers go by time: an arrow into the past would point the other way.
        if (earlier->last_end.time > later->first_begin.time) continue;
        leaving_.push_back({leaves, ++id});
        arriving_.push_back({to, id});
    }
    join_outside(id);
    for (std::vector<flow>* const all : {&leaving_, &arriving_, &deferrals_}) {
        std::sort(all->begin(), all->end(), [](const flow& a, const flow& b) {
            return std::tie(a.task, a.id) < std::tie(b.task, b.id);
        });
    }
}

std::vector<timeline::frame> timeline::find_frames() const {
    std::vector<const record*> marks;
    for (const lane& l : capture_.lanes) {
        for (const record& r : l.records) {
            const bool of_frame =
                r.kind == record_kind::frame_begin || r.kind == record_kind::frame_end;
            if (of_frame) marks.push_back(&r);
        }
    }
    std::sort(marks.begin(), marks.end(), [](const record* a, const record* b) {
        const bool a_ends = a->kind == record_kind::frame_end;
        const bool b_ends = b->kind == record_kind::frame_end;
        return std::tie(a->time, a_ends, a->other) < std::tie(b->time, b_ends, b->other);
    });
    // A frame may end on another lane than the one on which it began.
    std::vector<frame> found;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> open;
    for (const record* const mark : marks) {
        const std::pair key(mark->aux, mark->other);
        if (mark->kind == record_kind::frame_begin) {
            open[key] = found.size();
            found.push_back({mark, nullptr, mark->time, last_});
        } else if (const auto begun = open.find(key); begun != open.end()) {
            found[begun->second].end = mark;
            found[begun->second].to = mark->time;
            open.erase(begun);
        } else {
            found.push_back({nullptr, mark, mark->time, mark->time});
        }
    }
    return found;
}

void timeline::bound_frames(std::vector<frame>& found) const {
    // Frames end in their order. One whose end was lost is not drawn until the end of the capture
    // when a later one has ended, or each would take a row for good.
    std::vector<frame*> by_number;
    by_number.reserve(found.size());
    for (frame& one : found) by_number.push_back(&one);
    const auto key = [](const frame* one) {
        const record& r = one->begin != nullptr ? *one->begin : *one->end;
        return std::pair(r.aux, r.other);
    };
    std::sort(by_number.begin(), by_number.end(), [&](const frame* a, const frame* b) {
        return std::pair(key(b), a->from) < std::pair(key(a), b->from);
    });
    std::uint64_t earliest = last_;
    for (std::size_t i = 0; i < by_number.size(); ++i) {
        frame& one = *by_number[i];
        if (i == 0 || key(by_number[i - 1]).first != key(&one).first) earliest = last_;
        if (one.end == nullptr) one.to = std::max(one.from, earliest);
        if (one.end != nullptr) earliest = std::min(earliest, one.to);
    }
}

void timeline::lay_frames() {
    std::vector<frame> found = find_frames();
    bound_frames(found);
    using busy_row = std::pair<std::uint64_t, std::uint32_t>;  // until when
    std::priority_queue<busy_row, std::vector<busy_row>, std::greater<>> busy;
    std::set<std::uint32_t> free;
    for (const frame& one : found) {
        // Beside a frame without length nothing lies at the same time, so that order stays plain.
        const bool lasts = one.from < one.to;
        while (!busy.empty() &&
               (busy.top().first < one.from || (lasts && busy.top().first == one.from))) {
            free.insert(busy.top().second);
            busy.pop();
        }
        if (free.empty()) free.insert(frame_rows_++);
        const std::uint32_t row = *free.begin();
        free.erase(free.begin());
        const bool more = !lasts && one.to != std::numeric_limits<std::uint64_t>::max();
        busy.emplace(more ? one.to + 1 : one.to, row);
        lay_frame(one, row);
    }
    std::sort(frames_.begin(), frames_.end(), [](const frame_step& a, const frame_step& b) {
        return std::tie(a.now.time, a.begins, a.now.slice, a.now.kind) <
               std::tie(b.now.time, b.begins, b.now.slice, b.now.kind);
    });
}

void timeline::lay_frame(const frame& one, std::uint32_t row) {
    const auto slice = static_cast<std::uint32_t>(frames_.size() / 2);
    const auto cut = static_cast<std::uint8_t>(one.begin == nullptr ? cut_begin : 0);
    const auto cut_there = static_cast<std::uint8_t>(cut | (one.end == nullptr ? cut_end : 0));
    const record* const first = one.begin != nullptr ? one.begin : one.end;
    const bool lasts = one.from < one.to;
    frames_.push_back(
        {{one.from, first, row, slice, step_kind::begin, slice_kind::frame, cut}, lasts});
    frames_.push_back(
        {{one.to, one.end, row, slice, step_kind::end, slice_kind::frame, cut_there}, false});
}

timeline::turn timeline::turn_of(const step& at, std::uint32_t source) {
    // Ends first, so that an arrow leaves before it arrives. A slice that has only an end begins
    // with the ends, too.
    return {at.time, at.kind == step_kind::begin && (at.cut & cut_begin) == 0, source};
}

void timeline::queue_lane(std::uint32_t number) {
    head& lane = lanes_[number];
    const std::size_t before = lane.rest.taken();
    bool more = lane.rest.next(lane.now);
    while (more && is_told_elsewhere(lane.now)) more = lane.rest.next(lane.now);
    told_ += lane.rest.taken() - before;
    if (more) turns_.push(turn_of(lane.now, number));
}

timeline::turn timeline::turn_of_frame() const {
    const frame_step& at = frames_[next_frame_];
    return {at.now.time, at.begins, static_cast<std::uint32_t>(lanes_.size())};
}

bool timeline::is_told_elsewhere(const step& at) const {
    if (at.kind != step_kind::instant || at.from == nullptr) return false;
    if (at.from->kind != record_kind::spawned && at.from->kind != record_kind::stolen) return false;
    const task_facts* const task = facts(at.from->task);
    return task != nullptr && task->first_begin.row != none;
}

bool timeline::next(step& to) {
    if (turns_.empty()) return false;
    const turn now = turns_.top();
    turns_.pop();
    if (now.source < lanes_.size()) {
        to = lanes_[now.source].now;
        queue_lane(now.source);
        return true;
    }
    to = frames_[next_frame_++].now;
    if (next_frame_ < frames_.size()) turns_.push(turn_of_frame());
    return true;
}

double timeline::share() const {
    if (records_ == 0) return 1;
    return static_cast<double>(told_) / static_cast<double>(records_);
}

/// A broken capture may have a task 0.
const timeline::task_facts* timeline::last_outside_of(const task_facts& task) const {
    return task.last_outside != 0 ? facts(task.last_outside) : nullptr;
}

const timeline::task_facts* timeline::facts(std::uint64_t task) const {
    const auto found = tasks_.find(task);
    return found == tasks_.end() ? nullptr : &found->second;
}

std::span<const flow> timeline::flows(const step& at) const {
    const task_facts* const task = at.from != nullptr ? facts(at.from->task) : nullptr;
    if (task == nullptr) return {};
    const std::vector<flow>* all = nullptr;
    if (at.kind == step_kind::instant && task->deferral == at.from) all = &deferrals_;
    if (at.about == slice_kind::task) {
        if (at.kind == step_kind::begin && task->first_begin.is(at)) all = &arriving_;
        if (at.kind == step_kind::end && task->last_end.is(at)) all = &leaving_;
    }
    if (all == nullptr) return {};
    const auto range =
        std::equal_range(all->begin(), all->end(), flow{at.from->task, 0},
                         [](const flow& a, const flow& b) { return a.task < b.task; });
    return {range.first, range.second};
}

}  // namespace profile
BRAID_NAMESPACE_END
