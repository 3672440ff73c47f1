#pragma once
// The longest chain of a frame, back from its end, and how much later everything else could have
// ended.

#include "profile/analysis/frame_graph.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Why something did not run.
struct wait_times {
    std::uint64_t dependency = 0;  // on others to end
    std::uint64_t external = 0;    // on somebody outside, by a completion, or on a timer
    std::uint64_t queue = 0;       // ready, but no thread took it
    std::uint64_t affinity = 0;    // the same, and only certain threads may
    std::uint64_t preempted = 0;   // the system ran something else
};

/// What somebody outside did: its node, and how much of a wait it explains.
struct outside_part {
    std::uint32_t node = none;
    std::uint64_t time = 0;
};

/// A part of one body without a wait. Between the end of the step before (or the frame's begin) and
/// its begin lie dependency, external, queue and affinity; preempted lies within. So the steps and
/// their waits fill the frame from its begin to its end.
struct path_step {
    std::uint32_t task = none;  // none: code outside of tasks
    std::uint32_t body = none;
    std::uint64_t begin = 0, end = 0;
    std::uint64_t ready = 0;            // from then on it waited for a thread
    std::uint64_t before = 0;           // the end of the step before
    std::uint32_t first = 0, last = 0;  // nodes of the graph
    std::vector<outside_part> outside;  // what waits.external consists of, the last one first
    bool after_wait = false;            // the thread comes back from a wait
    wait_times waits;

    std::uint64_t length() const { return end - begin; }
};

/// In order of time.
std::vector<path_step> critical_path(const frame_graph& graph);
/// The same with another choice of what each node waited for last: retimed::latest. Times stay
/// those that were recorded, so that lanes can be asked what they did.
std::vector<path_step> critical_path(const frame_graph& graph,
                                     std::span<const std::uint32_t> latest);

struct task_slack {
    std::uint32_t task = none;
    std::uint64_t slack = 0;
};

/// For each task that ended in the frame: how much later its own work could have ended without the
/// frame ending later, had everything after it taken as long as it did. Background work is left
/// out.
std::vector<task_slack> slack_of(const frame_graph& graph);

}  // namespace profile
BRAID_NAMESPACE_END
