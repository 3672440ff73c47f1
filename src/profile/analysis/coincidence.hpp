#pragma once
// Causes that coincide: each alone saves little, because another made the frame as late.

#include "profile/analysis/causes.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

struct combination {
    candidates parts;
    std::uint64_t saved = 0;  // when all are taken away together
};

/// The causes, at most most_causes, whose removal saves most; those after the first only where they
/// coincide with it, or where the frame would still be longer than `usual_frame` without them (0:
/// not known). Empty: nothing saves scene::least.
combination find_causes(scene& s, std::uint64_t usual_frame);

}  // namespace profile
BRAID_NAMESPACE_END
