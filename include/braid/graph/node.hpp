#pragma once
// What a graph is made of, and what its nodes, groups and runs can be given.

#include "braid/base/time.hpp"
#include "braid/core/task.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

BRAID_NAMESPACE_BEGIN

class graph;

/// Names a node or a group for as long as it is in its graph. Plain data.
struct graph_node {
    std::uint32_t index = UINT32_MAX;
    const graph* of = nullptr;
    constexpr explicit operator bool() const { return of != nullptr; }
    friend constexpr bool operator==(graph_node, graph_node) = default;
};

/// What a node can be given; each as in task_options.
struct node_options {
    const char* name = nullptr;  // outlives the node
    priority_level priority = priority_level::normal;
    std::uint8_t category = 0;
    task_class runs_as = task_class::frame;
    thread_ref on = {};
    std::uint64_t workers = 0;
    std::initializer_list<resource*> uses = {};
    bool never_waits = false;
    bool may_be_long = false;
    graph_node in = {};  // the group that it belongs to
    /// What it reads and writes, by address. Nodes that touch the same, one of them writing, run in
    /// the order of adding, as if edges had been made by hand; plain readers run at once.
    std::initializer_list<const void*> reads = {}, writes = {};
    std::source_location where = std::source_location::current();
};

/// A group is a node whose work is that of its members: edges to and from it hold for all of them,
/// and also when there are none.
struct group_options {
    const char* name = nullptr;  // outlives the group
    bool serial = false;         // its members one after the other, in the order of adding
    graph_node in = {};
};

/// What a run can be given; each as in task_options. The priority of nodes is their own.
struct run_options {
    std::initializer_list<task_id> after = {};
    task_id parent = {};
    scope* within = nullptr;
    const task_environment* environment = nullptr;
    /// In run_and_wait() idempotent nodes whose thread has stood still for that long are run again
    /// by a thread that is free. 0 and below: never. The waiting thread looks as often as that; not
    /// with a chooser, and not into graphs within the graph.
    nanoseconds rerun_after = nanoseconds{0};
};

/// Which of the ready nodes goes first.
enum class graph_priorities : std::uint8_t {
    declared,       // by node_options::priority; of one level any
    critical_path,  // the one with the longest way to the end of the run behind it, by the times of
                    // the last runs, whatever was declared. Costs 100 to 150 ns a node and a look
                    // at a word for each 64 nodes, so it is for nodes of some µs and more. Nodes
                    // that are tied to threads, use resources or run in the background go as
                    // declared. A run that somebody helps with who waits for something else, and
                    // every run with a chooser, goes as its nodes become ready.
};

/// What a node did in the last run that was measured. Times in ns, since the run began.
struct node_timing {
    std::int64_t ready = 0, started = 0, ended = 0;  // ended: with its children
    std::int64_t average = 0;                        // of ended - started over the last runs
    unsigned seat = 0;                               // of the thread that started it
    bool ran = false;  // false: left out, cancelled, empty, or never measured
};

BRAID_NAMESPACE_END
