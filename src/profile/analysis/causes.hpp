#pragma once
// Looks for one cause each along a path through a frame: the critical one, or the one that would be
// critical without the causes that were found before.

#include "profile/analysis/diagnosis.hpp"

#include <optional>
#include <unordered_set>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// A frame as the searches below look at it.
struct scene {
    const history& t;
    const frame_graph& graph;
    std::span<const path_step> path;
    std::span<const std::uint64_t> usual;  // of a type in the whole capture
    /// How long after its body began a task submits such work, usually; 0: too few to say.
    std::span<const std::uint64_t> usual_submit;
    std::uint64_t least = 0;  // what would save less does not count
    std::unordered_set<std::uint32_t> needed = {}, critical = {};  // bodies; of all paths so far

    /// Work that the frame does not depend on and that does not belong to one: spawned as
    /// background work, on a thread for that, or going on after the frame without it having been
    /// needed.
    bool is_foreign(std::uint32_t body) const;
};

/// What about a processor.
enum class device_fault : std::uint8_t { queue, transfer, late_submit };

/// Something that may have made the frame longer, and what would be otherwise without it.
struct candidate {
    cause why = {};
    std::uint32_t type = 0;
    std::uint32_t victim = none;      // the type that suffered, where that is another one
    bool outside = false;             // no task, but the program's own code
    std::uint64_t time = 0;           // that it took in all
    std::uint64_t usual = 0;          // that it should have taken; or of one task on average
    std::uint64_t count = 0;          // of tasks
    std::uint64_t most = UINT64_MAX;  // it cannot make its path shorter than by that
    std::uint64_t since = 0;          // of a standstill: when the first began, in the frame
    bool all_waited = true;           // of a straggler: most others had nothing to do meanwhile
    std::vector<change> changes = {};

    device_fault fault = {};    // of a device
    std::uint32_t lane = none;  // its
    bool with_others = false;   // the same happened to tasks of other types

    bool is_same(const candidate& o) const {
        // What the machine did to one task and to another is one cause; what a task did is its own.
        const bool machine = why == cause::preemption || why == cause::late_wake;
        if (why == o.why && machine && usual == 0 && o.usual == 0) return true;
        return why == o.why && type == o.type && outside == o.outside && fault == o.fault;
    }
};
using candidates = std::vector<candidate>;

/// Takes that much off the end of a step: from its last piece, then from those before.
void shorten(candidate& c, const scene& s, const path_step& step, std::uint64_t less);

/// Moments in which all threads of the program stopped at once; of the whole frame, not of the
/// path.
void find_standstill(const scene& s, candidates& to);
void find_external(const scene& s, candidates& to);
void find_device(const scene& s, candidates& to);
void find_affinity(const scene& s, candidates& to);
void find_late_wake(const scene& s, candidates& to);
void find_background(const scene& s, candidates& to);
void find_preemption(const scene& s, candidates& to);
void find_priority(const scene& s, candidates& to);
void find_straggler(const scene& s, candidates& to);
void find_too_fine(const scene& s, candidates& to);
void find_serial_chain(const scene& s, candidates& to);

}  // namespace profile
BRAID_NAMESPACE_END
