#pragma once
// The types that describe the nodes, groups and runs of a graph, and the options of each.

#include "braid/base/time.hpp"
#include "braid/core/task.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

BRAID_NAMESPACE_BEGIN

class graph;

/// Identifies a node or a group as long as the node or group is in its graph. A graph_node is plain
/// data.
struct graph_node {
    std::uint32_t index = UINT32_MAX;
    const graph* of = nullptr;
    constexpr explicit operator bool() const { return of != nullptr; }
    friend constexpr bool operator==(graph_node, graph_node) = default;
};

/// The options of a node. Options that task_options has as well have the same meaning as in
/// task_options.
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
    /// The addresses of the data that the node reads and writes. If a node writes to an address, it
    /// runs in the order of adding with every other node that reads or writes the same address, as
    /// if edges had been added by hand. Nodes that only read an address may run at the same time.
    std::initializer_list<const void*> reads = {}, writes = {};
    std::source_location where = std::source_location::current();
};

/// A group is a node that consists of its members. Edges to and from the group apply to all
/// members. If the group has no members, its predecessors still precede its successors.
struct group_options {
    const char* name = nullptr;  // must outlive the group
    bool serial = false;         // members run one after the other, in the order of adding
    graph_node in = {};
};

/// The options of a run. Options that task_options has as well have the same meaning as in
/// task_options. Each node keeps its own priority.
struct run_options {
    std::initializer_list<task_id> after = {};
    task_id parent = {};
    scope* within = nullptr;
    const task_environment* environment = nullptr;
    /// If the thread of an idempotent node makes no progress for this long during run_and_wait(),
    /// for example because the operating system took it off its core, a free thread runs the node
    /// again. 0 and negative values mean never. The waiting thread checks the idempotent nodes once
    /// per period of this length. If the scheduler has a chooser, no node is run again. The option
    /// does not apply to the nodes of inner graphs (see graph::add_graph()).
    nanoseconds rerun_after = nanoseconds{0};
};

/// Selects which of the ready nodes runs first.
enum class graph_priorities : std::uint8_t {
    declared,       // The node with the highest node_options::priority. Nodes of equal priority
                    // run in any order.
    critical_path,  // The node with the longest path to the end of the run, by the times of the
                    // last runs. Declared priorities are ignored. Each node costs 100 to 150 ns
                    // and a read of one word for each 64 nodes, so use it for nodes that take
                    // some µs or more. Nodes that are tied to threads, use resources or run in
                    // the background are ordered by their declared priority. If a thread helps
                    // the run while it waits for something else, it takes nodes as they become
                    // ready. With a chooser, all threads take nodes as they become ready.
};

/// The times of a node in the last measured run. Moments are in ns since the start of the run.
struct node_timing {
    std::int64_t ready = 0, started = 0, ended = 0;  // `ended` includes children
    std::int64_t average = 0;  // ns, average of ended - started over the last runs
    unsigned seat = 0;         // seat of the thread that started the node
    bool ran = false;          // false if the node was left out, cancelled, empty or never measured
};

BRAID_NAMESPACE_END
