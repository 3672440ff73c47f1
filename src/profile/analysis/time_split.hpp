#pragma once
// Where the time went: of a lane in a span of time, of a task in its life.

#include "profile/analysis/critical_path.hpp"

#include <array>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// All of a span: of a worker, run + runtime + search + parked + preempted + absent.
struct lane_split {
    std::array<std::uint64_t, lane_states> times = {};

    std::uint64_t operator[](lane_state s) const { return times[static_cast<std::size_t>(s)]; }
    std::uint64_t total() const;
};

lane_split split_of(const lane_row& lane, time_span within);

/// The scheduler's own time between two bodies of a thread: the median of those gaps in which the
/// recorder read the clock. What lies around sleep is none of them. 0: there are none.
std::uint64_t time_between_bodies(const history& from, time_span within);

/// Ended - spawned = running + dependency + external + queue + affinity + preempted.
struct task_split {
    std::uint64_t running = 0;
    wait_times waits;
    bool whole = false;  // spawned, ready, started and ended are known; else only the body is here

    std::uint64_t total() const;
};

task_split split_of(const history& from, const task_row& task);

}  // namespace profile
BRAID_NAMESPACE_END
