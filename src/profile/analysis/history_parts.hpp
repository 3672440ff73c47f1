#pragma once
// The steps of make_history(), in their order.

#include "profile/analysis/history.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

/// For each lane and record: the task that it belongs to, or none.
using record_tasks = std::vector<std::vector<std::uint32_t>>;

/// Makes the rows of tasks from the records that name them, with the times that these have.
record_tasks collect_tasks(history& to);
/// Parents, releasers, predecessors: the other ends, which need all rows to be there.
void link_tasks(history& to, const record_tasks& tasks);
/// Walks along each lane: bodies, marks, spans, and the frames that were begun and ended there.
void walk_lanes(history& to, const record_tasks& tasks);

/// A moment at which something was said that something on another lane depends on.
struct source {
    std::uint64_t key = 0;  // the join or the event
    std::uint64_t time = 0;
    std::uint32_t body = none;
};

}  // namespace profile
BRAID_NAMESPACE_END
