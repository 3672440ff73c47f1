#pragma once
// Where the time went: of a lane in a span of time, of a task in its life.

#include "profile/analysis/critical_path.hpp"

#include <array>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// All of a span: of a worker, run + runtime + search + parked + preempted + absent.
struct lane_split {
    std::array<std::uint64_t, lane_states> times = {};
    std::uint64_t gaps = 0;  // in which the scheduler's own work was measured

    std::uint64_t operator[](lane_state s) const { return times[static_cast<std::size_t>(s)]; }
    std::uint64_t total() const;
};

lane_split split_of(const lane_row& lane, time_span within);

/// The scheduler's own time between two bodies. A recorder reads the clock in some of the gaps
/// only.
inline std::uint64_t per_body(std::uint64_t runtime, std::uint64_t gaps) {
    return gaps == 0 ? 0 : runtime / gaps;
}

/// Ended - spawned = running + dependency + queue + affinity + preempted.
struct task_split {
    std::uint64_t running = 0;
    wait_times waits;
    bool whole = false;  // spawned, ready, started and ended are known; else only the body is here

    std::uint64_t total() const;
};

task_split split_of(const history& from, const task_row& task);

}  // namespace profile
BRAID_NAMESPACE_END
