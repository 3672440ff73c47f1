#include "tables.hpp"

#include <fmt/core.h>

#include <stdexcept>

namespace braid::tool {

using profile::lane_state;

void print_types(const profile::history& of, std::size_t most) {
    const std::vector<profile::type_row> rows = type_statistics(of);
    fmt::print("{:>9} {:>11} {:>11} {:>9} {:>9} {:>9}  {}\n", "count", "total ms", "w. children",
               "p50 ms", "p95 ms", "max ms", "task");
    for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
        const profile::type_row& r = rows[i];
        fmt::print("{:>9} {:>11.3f} {:>11.3f} {:>9.4f} {:>9.4f} {:>9.4f}  {}\n", r.count,
                   ms(r.total), ms(r.with_children), ms(r.p50), ms(r.p95), ms(r.max),
                   of.name_of(r.type));
    }
    if (rows.size() > most) fmt::print("{:>9} more types\n", rows.size() - most);
}

void print_lanes(const profile::history& of, profile::time_span within) {
    fmt::print("{:20} {:>7} {:>8} {:>7} {:>7} {:>10} {:>8}\n", "% of the time", "run", "runtime",
               "search", "parked", "preempted", "outside");
    for (std::size_t i = 0; i < of.lanes.size(); ++i) {
        const profile::lane_split split = split_of(of.lanes[i], within);
        const std::uint64_t known = split.total() - split[lane_state::absent];
        if (known == 0) continue;
        const auto share = [&](lane_state s) {
            return 100 * static_cast<double>(split[s]) / static_cast<double>(known);
        };
        fmt::print("{:20} {:>7.1f} {:>8.1f} {:>7.1f} {:>7.1f} {:>10.1f} {:>8.1f}\n",
                   of.from->lanes[i].name, share(lane_state::run), share(lane_state::runtime),
                   share(lane_state::search), share(lane_state::parked),
                   share(lane_state::preempted), share(lane_state::outside));
    }
}

void need_frames(const profile::history& of, const std::string& path) {
    if (!of.frames.empty()) return;
    throw std::runtime_error("'" + path +
                             "' has no whole frame: mark frames where the program begins and ends "
                             "them.");
}

}  // namespace braid::tool
