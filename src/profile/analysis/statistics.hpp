#pragma once
// Numbers per type of task, per lane, and along parents.

#include "profile/analysis/time_split.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Of all tasks of one type whose body has ended: how long they ran, own_times().
struct type_row {
    static constexpr std::size_t bars = 40;
    std::uint32_t type = 0;
    std::uint64_t count = 0, total = 0, p50 = 0, p95 = 0, max = 0;
    std::uint64_t with_children = 0;  // total, and that of all tasks below them
    /// [i]: how many took less than 2^i ns, and not less than half of that.
    std::array<std::uint64_t, bars> histogram = {};
};

/// The value below which that share of them lies (nearest rank); 0 for none. Sorts them partly.
std::uint64_t percentile(std::vector<std::uint64_t>& values, double share);

/// Longest total first.
std::vector<type_row> type_statistics(const history& from);

/// Per task how long its body and its parts of joins ran, on whatever lanes: the work of the task,
/// without waits, what ran on top, and time off the core. It may be more than from `started` to
/// `ended`.
std::vector<std::uint64_t> own_times(const history& from);

/// Per task its own time with that of all its descendants.
std::vector<std::uint64_t> totals_with_children(const history& from);

struct frame_times {
    std::uint64_t p50 = 0, p95 = 0, worst = 0;
    std::size_t worst_frame = 0;  // index
};
/// Of all frames; there must be one.
frame_times frame_statistics(const history& from);

/// Of the whole capture: how the time of that lane was spent.
lane_split utilisation(const history& from, const lane_row& lane);

}  // namespace profile
BRAID_NAMESPACE_END
