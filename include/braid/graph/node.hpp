#pragma once
// The nodes, groups and runs of a graph, and the options of each.

#include "braid/base/time.hpp"
#include "braid/core/task.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

BRAID_NAMESPACE_BEGIN

class graph;

/// Names a node or a group for as long as that is in its graph. Plain data.
struct graph_node {
    std::uint32_t index = UINT32_MAX;
    const graph* of = nullptr;
    constexpr explicit operator bool() const { return of != nullptr; }
    friend constexpr bool operator==(graph_node, graph_node) = default;
};

/// The options of a node. Options that task_options has, too, mean the same as there.
struct node_options {
    const char* name = nullptr;  // must outlive the node
    priority_level priority = priority_level::normal;
    std::uint8_t category = 0;
    task_class runs_as = task_class::frame;
    thread_ref on = {};
    std::uint64_t workers = 0;
    std::initializer_list<resource*> uses = {};
    bool never_waits = false;
    bool may_be_long = false;
    graph_node in = {};  // the group that the node belongs to
    /// What the node reads and writes, by address. If several nodes touch the same address and one
    /// of them writes, they run in the order in which they were added, as if edges had been made by
    /// hand. Nodes that only read may run at the same time.
    std::initializer_list<const void*> reads = {}, writes = {};
    std::source_location where = std::source_location::current();
};

/// A group is a node whose work is that of its members. Edges to and from the group hold for all
/// members, and also if there are none.
struct group_options {
    const char* name = nullptr;  // must outlive the group
    bool serial = false;         // members run one after the other, in the order of adding
    graph_node in = {};
};

/// The options of a run. Options that task_options has, too, mean the same as there. Nodes keep
/// their own priority.
struct run_options {
    std::initializer_list<task_id> after = {};
    task_id parent = {};
    scope* within = nullptr;
    const task_environment* environment = nullptr;
    /// In run_and_wait(), an idempotent node whose thread has stood still for that long is run
    /// again by a thread that is free. 0 and below mean never. The waiting thread looks at these
    /// nodes once per such period. It does not look with a chooser, and not into graphs within the
    /// graph.
    nanoseconds rerun_after = nanoseconds{0};
};

/// Says which of the ready nodes goes first.
enum class graph_priorities : std::uint8_t {
    declared,       // The highest node_options::priority; nodes of one level in any order.
    critical_path,  // The node with the longest path to the end of the run behind it, by the times
                    // of the last runs, whatever was declared. Costs 100 to 150 ns a node and a
                    // look at a word for each 64 nodes, so it is for nodes of some µs and more.
                    // Nodes that are tied to threads, use resources or run in the background go
                    // as declared. A thread that helps the run while it waits for something else
                    // takes nodes as they become ready; with a chooser, all threads do.
};

/// What a node did in the last run that was measured. Times are in ns since the run began.
struct node_timing {
    std::int64_t ready = 0, started = 0, ended = 0;  // `ended` includes children
    std::int64_t average = 0;                        // of ended - started over the last runs
    unsigned seat = 0;                               // of the thread that started it
    bool ran = false;  // false if left out, cancelled, empty, or never measured
};

BRAID_NAMESPACE_END
