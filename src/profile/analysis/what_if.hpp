#pragma once
// A frame again, in virtual time, on other cores or with faster tasks.

#include "profile/analysis/statistics.hpp"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

BRAID_NAMESPACE_BEGIN
namespace profile {

struct machine {
    static constexpr unsigned most_cores = 1024;
    unsigned cores = 0;        // 0: as many as were recorded
    unsigned slow_cores = 0;   // of them
    double slow_factor = 1.0;  // work takes that many times as long there
    std::uint32_t faster_type = none;
    double times = 1.0;  // that type takes so many times less
    // For questions about order: ready bodies start in the order in which they did, but for those
    // of these types, which come first.
    bool recorded_order = false;
    std::vector<std::uint32_t> favoured_types = {};
};

/// What the numbers leave out, in one sentence; it is shown beside them.
inline constexpr std::string_view what_if_ignores =
    "The model ignores caches, memory bandwidth, the time until a sleeping thread wakes, and what "
    "other programs do; bodies take as long as they did in the capture.";

/// A frame, ready to be simulated many times.
struct frame_model {
    frame_graph graph;
    std::vector<bool> takes_part;             // of its nodes
    std::uint64_t overhead = 0;               // of the scheduler, per body, as it was in this frame
    unsigned recorded_cores = 1;              // lanes on which the frame's tasks may have run
    std::vector<std::uint32_t> core_of_lane;  // that restricted tasks stay on; those come first
    std::uint32_t devices = 0;                // lanes of processors, which are no cores
    // Of nodes, for questions about causes; a node that is not there is as it was.
    std::unordered_map<std::uint32_t, std::uint64_t> less;  // over that much sooner; its core
                                                            // is free sooner only where
    std::unordered_set<std::uint32_t> shared;               // another thread takes that part
    std::unordered_set<std::uint32_t> anywhere;             // is not restricted
};
frame_model make_frame_model(const history& from, const frame_row& frame);

/// How long the frame would take: list scheduling, a ready body goes to the fastest free core, the
/// one of the highest priority first, then the one that has been ready longest. Restricted bodies
/// stay on one core, that of their lane; others go there when no other core is free. What ran on
/// another processor runs there again, one after the other on each of its lanes.
std::uint64_t simulate(const frame_model& model, const machine& on);

struct what_if_row {
    machine on;
    std::uint64_t p50 = 0, p95 = 0;
};

struct what_if_result {
    std::size_t frames = 0;  // that were simulated: all, or so many evenly chosen ones
    std::vector<what_if_row> rows;
    // How well the model repeats what was recorded, on the recorded cores.
    unsigned recorded_cores = 1;
    std::uint64_t recorded_p50 = 0, modelled_p50 = 0;
    double error() const;  // of the modelled median; 0.1: a tenth too long
};

/// `most_frames` bounds the work.
what_if_result what_if(const history& from, std::span<const machine> machines,
                       std::size_t most_frames = 200);

}  // namespace profile
BRAID_NAMESPACE_END
