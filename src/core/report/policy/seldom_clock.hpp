#pragma once
// With this policy a thread reads the clock only after every eighth task, as long as the clock does
// not move. It was made for the benchmark tasks.post.t1: its tasks are empty, and reading the clock
// is a large part of their cost. A warning about a long task then covers up to eight tasks in a
// row. See docs/design/policies.md.

#include "braid/base/version.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns how many tasks run before the clock is read again. The number doubles up to 8 while the
/// clock does not move, and is 1 after it has moved. `before` is the number that was returned last.
constexpr unsigned tasks_a_look(unsigned before, bool moved) {
    constexpr unsigned most = 8;
    if (moved) return 1;
    return before < most ? before * 2 : most;
}

}  // namespace detail
BRAID_NAMESPACE_END
