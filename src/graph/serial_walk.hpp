#pragma once
// The nodes of a graph one after the other on one thread, which has a task of its own for that:
// what a stage of a frame does when it is serial.

#include "graph/graph_state.hpp"

#include <cstdint>
#include <exception>

BRAID_NAMESPACE_BEGIN
namespace detail {

class serial_walk {
public:
    explicit serial_walk(accounted_memory& memory) : order_(memory), lost_(memory) {}

    /// Finds the order for the plan that the graph has now: that of adding, as far as edges allow.
    /// Costs nothing if it is known. False: no memory.
    bool prepare(const graph_state& g);

    /// Calls what is prepared, within the running task of `context`, while no run of the graph is
    /// open. A node that throws keeps what comes after it from being called. Returns what the one
    /// that was added first has thrown, or null.
    std::exception_ptr run(const graph_state& g, task_context& context);

private:
    graph_array<std::uint32_t> order_;
    graph_array<std::uint8_t> lost_;  // by node: it comes after a failure in this walk
    std::uint64_t sorted_ = 0;        // graph_state::sorted of the plan that it is for
};

}  // namespace detail
BRAID_NAMESPACE_END
