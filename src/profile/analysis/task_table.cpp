// The rows of tasks. An id may serve again after its task has completed; it is then another task.
#include "profile/analysis/history_parts.hpp"

#include <algorithm>
#include <tuple>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

bool belongs_to_life(record_kind k) {
    return (k >= record_kind::spawned && k <= record_kind::cancelled) ||
           (k >= record_kind::deferred && k <= record_kind::resumed);
}

/// Where a record lies, under what rows are made of.
struct reference {
    std::uint64_t id, time;
    std::uint32_t lane, index;
    friend bool operator<(const reference& a, const reference& b) {
        return std::tie(a.id, a.time, a.lane, a.index) < std::tie(b.id, b.time, b.lane, b.index);
    }
};

std::vector<reference> sorted_references(const capture& c) {
    std::vector<reference> all;
    std::size_t count = 0;
    for (const lane& l : c.lanes) count += l.records.size();
    all.reserve(count);
    for (std::uint32_t lane = 0; lane < c.lanes.size(); ++lane) {
        const std::vector<record>& records = c.lanes[lane].records;
        for (std::uint32_t i = 0; i < records.size(); ++i) {
            const record& r = records[i];
            if (r.task != 0 && belongs_to_life(r.kind)) all.push_back({r.task, r.time, lane, i});
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// Whether the record cannot be about the task of that row any more.
bool begins_another(const task_row& row, record_kind kind) {
    const bool over = row.completed != unknown;
    if (kind == record_kind::spawned || kind == record_kind::deferred)
        return row.spawned != unknown || over;
    return over && (kind == record_kind::ready || kind == record_kind::started);
}

void put_first(std::uint64_t& field, std::uint64_t time) {
    if (field == unknown) field = time;
}

void take(task_row& row, const record& r) {
    switch (r.kind) {
        case record_kind::spawned:
            put_first(row.spawned, r.time);
            row.type = r.aux;
            row.flags = r.flags;
            break;
        case record_kind::ready:
            put_first(row.ready, r.time);
            break;
        case record_kind::started:
            // A processor begins later with what was deferred.
            if (row.external && row.started == row.spawned) row.started = unknown;
            put_first(row.started, r.time);
            if (row.type == 0) row.type = r.aux;
            break;
        case record_kind::ended:
            put_first(row.ended, r.time);
            row.end_flags = r.flags;
            break;
        case record_kind::completed:
            put_first(row.completed, r.time);
            break;
        case record_kind::cancelled:
            row.cancelled = true;
            break;
        case record_kind::deferred:
            put_first(row.spawned, r.time);
            put_first(row.started, r.time);
            row.type = r.aux;
            row.external = true;
            break;
        case record_kind::settled:
            put_first(row.ended, r.time);
            put_first(row.completed, r.time);
            if (row.type == 0) row.type = r.aux;
            row.external = true;
            break;
        default:
            break;
    }
}

/// Children whose parent would be younger than they are do not exist; a file may say so.
void link(history& to, std::uint32_t task, const record& r) {
    task_row& row = to.tasks[task];
    const std::uint32_t other = r.other != 0 ? to.find(r.other, r.time) : none;
    if (other == none || other == task) return;
    const bool made = r.kind == record_kind::spawned || r.kind == record_kind::deferred;
    if (made && to.tasks[other].first_seen <= row.first_seen) {
        row.parent = other;
        ++to.tasks[other].children;
    }
    if (r.kind == record_kind::ready && row.releaser == none) row.releaser = other;
}

}  // namespace

std::uint32_t history::find(std::uint64_t id, std::uint64_t time) const {
    const auto found = of_id.find(id);
    if (found == of_id.end()) return none;
    const auto first = tasks.begin() + found->second.first;
    const auto later =
        std::upper_bound(first, first + found->second.count, time,
                         [](std::uint64_t t, const task_row& row) { return t < row.first_seen; });
    return found->second.first + static_cast<std::uint32_t>(later == first ? 0 : later - first - 1);
}

record_tasks collect_tasks(history& to) {
    const capture& c = *to.from;
    record_tasks tasks(c.lanes.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].assign(c.lanes[i].records.size(), none);
    for (const reference& at : sorted_references(c)) {
        const record& r = c.lanes[at.lane].records[at.index];
        if (to.tasks.empty() || to.tasks.back().id != at.id ||
            begins_another(to.tasks.back(), r.kind)) {
            to.tasks.emplace_back().id = at.id;
            to.tasks.back().first_seen = at.time;
        }
        take(to.tasks.back(), r);
        tasks[at.lane][at.index] = static_cast<std::uint32_t>(to.tasks.size() - 1);
    }
    to.of_id.reserve(to.tasks.size());
    for (std::uint32_t i = 0; i < to.tasks.size(); ++i) {
        ++to.of_id.try_emplace(to.tasks[i].id, task_range{i, 0}).first->second.count;
    }
    for (std::uint32_t i = 0; i < to.tasks.size(); ++i) {
        task_row& row = to.tasks[i];
        if (row.type >= c.types.size()) row.type = 0;
        if (row.external) to.external.push_back(i);
    }
    return tasks;
}

void link_tasks(history& to, const record_tasks& tasks) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::size_t lane = 0; lane < tasks.size(); ++lane) {
        const std::vector<record>& records = to.from->lanes[lane].records;
        for (std::size_t i = 0; i < records.size(); ++i) {
            const std::uint32_t task = tasks[lane][i];
            if (task == none) continue;
            if (records[i].kind != record_kind::edge) {
                link(to, task, records[i]);
            } else if (const std::uint32_t other = to.find(records[i].other, records[i].time);
                       other != none && other != task) {
                edges.emplace_back(task, other);
            }
        }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    to.predecessors.reserve(edges.size());
    for (const auto& [task, other] : edges) {
        task_row& row = to.tasks[task];
        if (row.predecessors++ == 0) {
            row.first_predecessor = static_cast<std::uint32_t>(to.predecessors.size());
        }
        to.predecessors.push_back(other);
    }
}

}  // namespace profile
BRAID_NAMESPACE_END
