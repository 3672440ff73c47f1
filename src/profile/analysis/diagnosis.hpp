#pragma once
// What one should change about a frame that took longer than it needed: one cause, or those that
// coincide, in one sentence.

#include "profile/analysis/what_if.hpp"

#include <optional>

BRAID_NAMESPACE_BEGIN
namespace profile {

enum class cause : std::uint8_t {
    device,        // a processor: its queue, a transfer, or work that came to it late
    external,      // somebody outside, by a completion, or a timer was waited for
    affinity,      // may run on certain threads only; they were busy while others were idle
    late_wake,     // ready, and a thread slept on
    background,    // work that is not the frame's had the core
    preemption,    // the system ran something else
    priority,      // what the frame needs less ran before
    straggler,     // took much longer than others of its type, and everybody waited
    too_fine,      // tasks so short that the scheduler costs more than they do
    serial_chain,  // one after the other, and nothing to do for other threads
    standstill,    // no thread of the program had a core
    unusual,       // nothing else explains it, and this took longest compared with what is usual
};
inline constexpr std::size_t most_causes = 3;  // that are named together
const char* name_of(cause c);

struct named_cause {
    cause why = {};
    std::uint32_t type = 0;  // the task to look at: its name and place
};

struct diagnosis {
    cause why = {};  // the first of them
    std::uint32_t type = 0;
    std::vector<named_cause> all;  // taken away together they save that; the first would save most
    std::uint64_t save = 0;        // ns that the frame would end sooner
    std::string sentence;
};

/// A frame is healthy when its times are usual and nothing would save at least this. A twentieth of
/// a frame is less than frames differ by themselves; and below 0.2 ms lie the wake of a thread or a
/// timer's tick, which nobody can do anything about.
inline constexpr double least_saved_share = 0.05;
inline constexpr std::uint64_t least_saved = 200'000;

class diagnostician {
public:
    /// Looks at all tasks once, for what is usual. The history must outlive it.
    explicit diagnostician(const history& from);

    /// The causes that save most when they are removed; where there are none and the frame took
    /// longer than is usual, what was most unusual; nothing: the frame is healthy. One thread at a
    /// time.
    std::optional<diagnosis> examine(const frame_graph& graph,
                                     std::span<const path_step> path) const;
    /// What to say of a frame for which examine() found nothing.
    std::string nothing_found(const frame_row& frame) const;

private:
    std::optional<diagnosis> most_unusual(const frame_graph& graph, std::span<const path_step> path,
                                          std::uint64_t least) const;
    const std::vector<std::uint64_t>& usual_on_path() const;

    const history& t_;
    std::vector<std::uint64_t> usual_;                  // of a type: the median; 0: too few to say
    std::vector<std::uint64_t> usual_submit_;           // scene::usual_submit
    std::uint64_t usual_frame_ = 0;                     // the median; 0: too few frames to say
    mutable std::vector<std::uint64_t> usual_on_path_;  // made when it is asked for first
};

}  // namespace profile
BRAID_NAMESPACE_END
