#pragma once
// This policy reads the clock after every eighth task as long as tasks take no time. The benchmark
// tasks.post.t1 asked for it: its tasks are empty, and a look at the clock costs as much as a good
// part of the rest. The warning about a long task then names up to eight tasks of its kind. See
// docs/design/policies.md.

#include "braid/base/version.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns after how many tasks the clock is read the next time: after each task as soon as the
/// clock moves. `before` is what this function returned at the look before.
constexpr unsigned tasks_a_look(unsigned before, bool moved) {
    constexpr unsigned most = 8;
    if (moved) return 1;
    return before < most ? before * 2 : most;
}

}  // namespace detail
BRAID_NAMESPACE_END
