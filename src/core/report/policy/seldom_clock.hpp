#pragma once
// A policy: for tasks that take no time the clock is read after every eighth of them. Asked for by
// tasks.post.t1, empty tasks, for which a look at the clock costs as much as a good part of the
// rest. The warning about a long task then names as many as eight of its kind. See
// docs/design/policies.md.

#include "braid/base/version.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// After how many tasks the clock is read the next time; after each as soon as it moves.
constexpr unsigned tasks_a_look(unsigned before, bool moved) {
    constexpr unsigned most = 8;
    if (moved) return 1;
    return before < most ? before * 2 : most;
}

}  // namespace detail
BRAID_NAMESPACE_END
