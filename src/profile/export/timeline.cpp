// Looks at the capture once, to know tasks, arrows and frames, and then merges the lanes.
#include "profile/export/timeline.hpp"

#include <algorithm>
#include <map>

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
            tasks_[r.task].type = r.aux;
            break;
        case record_kind::completed:
            tasks_[r.task].completed = r.time;
            break;
        case record_kind::stolen:
            tasks_[r.task].stolen_from = r.aux;
            break;
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

void timeline::join(std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges) {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::uint64_t id = 0;
    for (const auto& [from, to] : edges) {
        const task_facts* const earlier = facts(from);
        const task_facts* const later = facts(to);
        if (from == to || earlier == nullptr || later == nullptr) continue;
        if (earlier->last_end.row == none || later->first_begin.row == none) continue;
        // Readers go by time: an arrow into the past would point the other way.
        if (earlier->last_end.time > later->first_begin.time) continue;
        leaving_.push_back({from, ++id});
        arriving_.push_back({to, id});
    }
    const auto by_task = [](const flow& a, const flow& b) { return a.task < b.task; };
    std::stable_sort(arriving_.begin(), arriving_.end(), by_task);
}

void timeline::lay_frames() {
    struct mark {
        const record* at;
        std::uint32_t lane;
    };
    std::vector<mark> marks;
    for (std::uint32_t i = 0; i < capture_.lanes.size(); ++i) {
        for (const record& r : capture_.lanes[i].records) {
            if (r.kind == record_kind::frame_begin || r.kind == record_kind::frame_end) {
                marks.push_back({&r, i});
            }
        }
    }
    std::stable_sort(marks.begin(), marks.end(), [](const mark& a, const mark& b) {
        const bool a_ends = a.at->kind == record_kind::frame_end;
        const bool b_ends = b.at->kind == record_kind::frame_end;
        return std::tie(a.at->time, a_ends) < std::tie(b.at->time, b_ends);
    });
    // A frame may end on another lane than the one on which it began.
    std::vector<std::pair<const record*, const record*>> found;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> open;
    for (const mark& m : marks) {
        const std::pair key(m.at->aux, m.at->other);
        if (m.at->kind == record_kind::frame_begin) {
            open[key] = found.size();
            found.emplace_back(m.at, nullptr);
        } else if (const auto begun = open.find(key); begun != open.end()) {
            found[begun->second].second = m.at;
            open.erase(begun);
        } else {
            found.emplace_back(nullptr, m.at);
        }
    }
    for (const auto& [begin, end] : found) lay_frame(begin, end);
    std::stable_sort(frames_.begin(), frames_.end(), [](const frame_step& a, const frame_step& b) {
        return std::tie(a.now.time, a.begins) < std::tie(b.now.time, b.begins);
    });
}

void timeline::lay_frame(const record* begin, const record* end) {
    const std::uint64_t to = end != nullptr ? end->time : last_;
    const std::uint64_t from = begin != nullptr ? begin->time : to;
    const auto row =
        std::find_if(frame_row_free_.begin(), frame_row_free_.end(), [&](const row_free& one) {
            return one.after || from == to ? from > one.from : from >= one.from;
        });
    const auto number = static_cast<std::uint32_t>(row - frame_row_free_.begin());
    // Beside a frame without length nothing lies at the same time, so that order stays plain.
    if (row == frame_row_free_.end()) frame_row_free_.push_back({});
    frame_row_free_[number] = {to, from == to};
    const auto slice = static_cast<std::uint32_t>(frames_.size() / 2);
    const auto cut = static_cast<std::uint8_t>(begin == nullptr ? cut_begin : 0);
    const auto cut_there = static_cast<std::uint8_t>(cut | (end == nullptr ? cut_end : 0));
    const record* const first = begin != nullptr ? begin : end;
    frames_.push_back(
        {{from, first, number, slice, step_kind::begin, slice_kind::frame, cut}, from < to});
    frames_.push_back(
        {{to, end, number, slice, step_kind::end, slice_kind::frame, cut_there}, false});
}

timeline::turn timeline::turn_of(const step& at, std::uint32_t source) {
    // Ends first, so that an arrow leaves before it arrives. A slice that has only an end begins
    // with the ends, too.
    return {at.time, at.kind == step_kind::begin && (at.cut & cut_begin) == 0, source};
}

void timeline::queue_lane(std::uint32_t number) {
    head& lane = lanes_[number];
    while (lane.rest.next(lane.now)) {
        ++told_;
        if (is_told_elsewhere(lane.now)) continue;
        turns_.push(turn_of(lane.now, number));
        return;
    }
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
    return std::min(1.0, static_cast<double>(told_) / static_cast<double>(records_));
}

const timeline::task_facts* timeline::facts(std::uint64_t task) const {
    const auto found = tasks_.find(task);
    return found == tasks_.end() ? nullptr : &found->second;
}

std::span<const flow> timeline::flows(const step& at) const {
    if (at.about != slice_kind::task || at.from == nullptr) return {};
    if (at.kind != step_kind::begin && at.kind != step_kind::end) return {};
    const task_facts* const task = facts(at.from->task);
    const bool begins = at.kind == step_kind::begin;
    if (task == nullptr || !(begins ? task->first_begin : task->last_end).is(at)) return {};
    const std::vector<flow>& all = begins ? arriving_ : leaving_;
    const auto range =
        std::equal_range(all.begin(), all.end(), flow{at.from->task, 0},
                         [](const flow& a, const flow& b) { return a.task < b.task; });
    return {range.first, range.second};
}

}  // namespace profile
BRAID_NAMESPACE_END
