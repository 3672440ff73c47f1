#include "profile/analysis/statistics.hpp"

#include <algorithm>
#include <bit>

BRAID_NAMESPACE_BEGIN
namespace profile {

std::uint64_t percentile(std::vector<std::uint64_t>& values, double share) {
    if (values.empty()) return 0;
    const auto count = static_cast<double>(values.size());
    const auto rank = static_cast<std::size_t>(std::max(0.0, share * count - 1e-9));
    const std::size_t at = std::min(rank, values.size() - 1);
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at),
                     values.end());
    return values[at];
}

std::vector<std::uint64_t> own_times(const history& from) {
    std::vector<std::uint64_t> times(from.tasks.size());
    for (const body_row& b : from.bodies) {
        if (b.task != none) times[b.task] += b.running;
    }
    return times;
}

std::vector<std::uint64_t> totals_with_children(const history& from) {
    std::vector<std::uint64_t> totals = own_times(from);
    std::vector<std::uint32_t> open(from.tasks.size()), done;
    for (std::uint32_t i = 0; i < totals.size(); ++i) {
        open[i] = from.tasks[i].children;
        if (open[i] == 0) done.push_back(i);
    }
    // Leaves first. Parents in a circle, which a broken capture may have, keep their own time.
    for (std::size_t next = 0; next < done.size(); ++next) {
        const std::uint32_t parent = from.tasks[done[next]].parent;
        if (parent == none) continue;
        totals[parent] += totals[done[next]];
        if (--open[parent] == 0) done.push_back(parent);
    }
    return totals;
}

std::vector<type_row> type_statistics(const history& from) {
    std::vector<std::vector<std::uint64_t>> times(from.types());
    std::vector<type_row> rows(times.size());
    const std::vector<std::uint64_t> own = own_times(from), totals = totals_with_children(from);
    for (std::size_t i = 0; i < from.tasks.size(); ++i) {
        const task_row& task = from.tasks[i];
        if (task.body == none || from.bodies[task.last_body].open) continue;
        const std::uint64_t time = own[i];
        times[task.type].push_back(time);
        type_row& row = rows[task.type];
        row.total += time;
        row.max = std::max(row.max, time);
        ++row.histogram[std::min<std::size_t>(std::bit_width(time), type_row::bars - 1)];
        // A task below one of its own type is in the sum of that one already.
        const std::uint32_t parent = task.parent;
        if (parent == none || from.tasks[parent].type != task.type) row.with_children += totals[i];
    }
    for (std::size_t type = 0; type < rows.size(); ++type) {
        rows[type].type = static_cast<std::uint32_t>(type);
        rows[type].count = times[type].size();
        rows[type].p50 = percentile(times[type], 0.50);
        rows[type].p95 = percentile(times[type], 0.95);
    }
    std::erase_if(rows, [](const type_row& row) { return row.count == 0; });
    std::sort(rows.begin(), rows.end(), [](const type_row& a, const type_row& b) {
        return a.total != b.total ? a.total > b.total : a.type < b.type;
    });
    return rows;
}

frame_times frame_statistics(const history& from) {
    frame_times result;
    std::vector<std::uint64_t> lengths;
    for (std::size_t i = 0; i < from.frames.size(); ++i) {
        lengths.push_back(from.frames[i].length());
        if (lengths.back() <= result.worst && i != 0) continue;
        result.worst = lengths.back();
        result.worst_frame = i;
    }
    result.p50 = percentile(lengths, 0.50);
    result.p95 = percentile(lengths, 0.95);
    return result;
}

lane_split utilisation(const history& from, const lane_row& lane) {
    return split_of(lane, {0, std::max(from.from->duration, lane.end)});
}

}  // namespace profile
BRAID_NAMESPACE_END
