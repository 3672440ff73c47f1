#pragma once
// Two captures of one program, before and after a change.

#include "profile/analysis/statistics.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

/// One type, found again by its name. Times per frame are means over all frames.
struct type_change {
    std::string name;
    std::uint32_t before_type = none, after_type = none;  // none: not in that capture
    type_row before, after;
    std::uint64_t frame_before = 0, frame_after = 0;  // all its bodies, per frame
    std::uint64_t path_before = 0, path_after = 0;    // on the critical path, with its waits there

    std::int64_t path_growth() const {
        return static_cast<std::int64_t>(path_after) - static_cast<std::int64_t>(path_before);
    }
};

struct comparison {
    frame_times before, after;
    std::vector<type_change> types;  // the one that grew most on the path of the frame first
    bool regressed = false;
    std::string sentence;
};

/// Both must have frames.
comparison compare(const history& before, const history& after);

}  // namespace profile
BRAID_NAMESPACE_END
