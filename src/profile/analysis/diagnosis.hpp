#pragma once
// What one should change about a frame that took longer than it needed: one cause, one sentence.

#include "profile/analysis/what_if.hpp"

#include <optional>

BRAID_NAMESPACE_BEGIN
namespace profile {

enum class cause : std::uint8_t {
    affinity,      // may run on certain threads only; they were busy while others were idle
    late_wake,     // ready, and a thread slept on
    background,    // work that is not the frame's had the core
    preemption,    // the system ran something else
    priority,      // what the frame needs less ran before
    straggler,     // took much longer than others of its type, and everybody waited
    too_fine,      // tasks so short that the scheduler costs more than they do
    serial_chain,  // one after the other, and nothing to do for other threads
};
const char* name_of(cause c);

struct diagnosis {
    cause why = {};
    std::uint32_t type = 0;  // the task to look at: its name and place
    std::uint64_t save = 0;  // ns that the frame would end sooner
    std::string sentence;
};

/// A frame is healthy when nothing would save at least this. A twentieth of a frame is less than
/// frames differ by themselves; and below 0.2 ms lie the wake of a thread or a timer's tick, which
/// nobody can do anything about.
inline constexpr double least_saved_share = 0.05;
inline constexpr std::uint64_t least_saved = 200'000;

class diagnostician {
public:
    /// Looks at all tasks once, for what is usual. The history must outlive it.
    explicit diagnostician(const history& from);

    /// The cause that saves most when it is removed; nothing: the frame is healthy.
    std::optional<diagnosis> examine(const frame_graph& graph,
                                     std::span<const path_step> path) const;

private:
    const history& t_;
    std::vector<std::uint64_t> usual_;  // of a type: the median; 0: too few to say
};

}  // namespace profile
BRAID_NAMESPACE_END
