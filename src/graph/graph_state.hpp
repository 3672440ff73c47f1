#pragma once
// What a graph holds: its nodes as they were added, and the plan that runs follow.

#include "braid/graph/idempotent.hpp"
#include "core/runtime.hpp"
#include "graph/ranking.hpp"

#include <compare>
#include <mutex>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A group is two: its members come after its begin and before its end, which follows it at once.
enum class node_kind : std::uint8_t { work, condition, group_begin, group_end, serial_begin };

/// The node as it was added. Its callable lies in the storage of its slot, which the node keeps.
struct graph_record {
    closure_fn call;  // null: empty, or erased
    std::uint32_t slot;
    std::uint32_t group;  // or no_index
    std::uint16_t flags;
    std::uint8_t level;
    node_kind kind;
    bool erased;
    std::source_location where;

    bool is_group() const {
        return kind == node_kind::group_begin || kind == node_kind::serial_begin;
    }
};

struct graph_edge {
    std::uint32_t from, to;
};

/// In runs in which the condition returned another value, `to` is left out.
struct graph_choice {
    std::uint32_t condition, to, value;
    friend auto operator<=>(const graph_choice&, const graph_choice&) = default;
};

struct graph_state;

struct graph_access {
    const void* what;
    std::uint32_t node;
    bool writes;
};

/// The node runs the graph.
struct graph_inner {
    std::uint32_t node;
    const graph_state* graph;
};

/// The node may be run twice at once.
struct graph_idempotent {
    std::uint32_t node;
    detail::attempts* attempts;
};

/// The node is left out: a condition chose otherwise. (Nodes have no shared closure.)
inline constexpr std::uint16_t flag_left_out = flag_shared;

/// What a run reads of a node.
struct graph_plan {
    closure_fn call;
    detail::slot* slot;
    std::uint32_t index;              // of the slot
    std::uint32_t waits_for;          // predecessors
    std::uint32_t first, successors;  // in graph_state::successors
};

/// The node in the last measured run. Written by the thread that runs it and by the one that ends
/// it.
struct graph_stamp {
    std::int64_t ready, started, ended;  // of the policy's clock; started 0: it did not run
    std::int64_t average;                // ns
    std::uint32_t seat;
};

struct graph_successor {
    detail::slot* slot;
};

struct graph_state {
    graph_state(runtime& owner, const char* n)
        : rt(owner),
          name(n),
          records(owner.memory),
          edges(owner.memory),
          choices(owner.memory),
          accesses(owner.memory),
          inner(owner.memory),
          idempotent(owner.memory),
          all_edges(owner.memory),
          plan(owner.memory),
          successors(owner.memory),
          order(owner.memory),
          stamps(owner.memory),
          ranking(owner.memory) {}

    /// Edges leave from it; edges to a node or group arrive at itself.
    std::uint32_t end_of(std::uint32_t node) const {
        return records[node].is_group() ? node + 1 : node;
    }
    const char* name_of(std::uint32_t node) const {
        const char* own = rt.slots[records[node].slot].name;
        return own != nullptr ? own : "";
    }
    /// This graph, or one that it runs, is `other`.
    bool contains(const graph_state* other) const;

    /// Goes by its rank if the graph is ranked: any thread may run it.
    static bool has_rank(std::uint16_t flags) {
        return (flags & (flag_direct | flag_background | flag_resources)) == 0;
    }
    void rank();
    /// Null: it is never run twice.
    detail::attempts* attempts_of(std::uint32_t node) const;
    /// Runs again what stands still; see run_options::rerun_after.
    void rerun_stragglers(worker& w, task_id run, std::int64_t enough);

    /// Observers take the plan for another one from here on.
    void number_plan();
    /// Makes the plan of records and edges. False, and reported: a cycle, or no memory.
    bool sort();
    /// The user's edges, and those that groups and accesses stand for.
    bool collect_edges();
    bool add_members();
    bool add_accesses();
    bool count_edges(hooked_array<std::uint32_t>& left);
    /// A cycle among the nodes that still wait for somebody, in words.
    void name_cycle(const hooked_array<std::uint32_t>& waits_for, char* text,
                    std::size_t size) const;

    runtime& rt;
    const char* name;
    hooked_array<graph_record> records;
    hooked_array<graph_edge> edges;
    hooked_array<graph_choice> choices;   // sorted with the plan
    hooked_array<graph_access> accesses;  // sorted with the plan
    hooked_array<graph_inner> inner;
    hooked_array<graph_idempotent> idempotent;  // sorted with the plan
    bool edited = false;
    bool measured = false;
    bool ranked = false;   // then measured, too
    bool special = false;  // has conditions or idempotent nodes; set with the plan
    std::mutex beginning;  // of runs: graphs that run this one may do so at once
    task_id last;          // the run that was begun last

    // The plan. Changed between runs only.
    hooked_array<graph_edge> all_edges;  // the user's, then of groups, then of accesses
    std::size_t of_accesses = 0;         // where those begin
    hooked_array<graph_plan> plan;       // by node
    hooked_array<graph_successor> successors;
    hooked_array<std::uint32_t> order;  // each node after its predecessors, so roots come first
    std::size_t roots = 0;
    std::uint32_t sinks = 0;  // nodes without successors
    std::size_t live = 0;     // nodes that are not erased, now; groups are two
    std::size_t groups = 0;
    std::uint64_t plan_number = 0;   // of the process
    std::uint32_t runs_of_plan = 0;  // since it has that number
    std::uint32_t told_to = 0;       // runtime::listens when the last run was reported

    hooked_array<graph_stamp> stamps;  // by node, if measured
    std::int64_t began = 0;            // the last measured run
    graph_ranking ranking;             // if ranked
    atomic<std::uint64_t> reruns{0};
};

/// The run of a graph is a task; this is in its storage, until the last node has ended.
struct graph_run {
    graph_state* graph;
    /// The body of the run.
    static void begin(void* storage, task_context* context);
    /// A node that was taken out of the ranks.
    void run_ranked(worker& w, std::uint32_t run, std::uint32_t node) const;
    /// The second attempt at a node.
    void run_again(worker& w, std::uint32_t run, std::uint32_t node) const;
    /// own_way of the nodes.
    static void node(runtime& rt, worker& w, std::uint32_t index, own_step step);

private:
    void tell_run(worker& w) const;
    void tell_ready(worker& w, const graph_plan& plan, task_id released_by) const;
    void queue_ready(worker& w, const graph_plan& plan) const;
    bool is_at_hand(const slot& node) const;
    void reset(worker& w, std::uint32_t run) const;
    void start_clock() const;
    /// Returns the time.
    std::int64_t stop_clock(const graph_plan& plan) const;
    bool left_out(const graph_plan& plan) const;
    void run_nodes(worker& w, std::uint32_t run, const graph_plan* plan, bool more) const;
    const graph_plan* next_node(worker& w, task_id run) const;
    const graph_plan* by_rank(worker& w, const graph_plan* ticket, bool any) const;
    void cancel(worker& w, std::uint32_t run, const graph_plan& plan, task_id id) const;
    void identify(const slot& run) const;
    void tell_start(worker& w, task_id id, const char* name, task_id released_by) const;
    bool call(worker& w, running_task& body, const graph_plan& plan) const;
    void end_node(worker& w, const graph_plan& plan, task_id id, bool closed, bool told,
                  const graph_plan** next) const;
};

}  // namespace detail
BRAID_NAMESPACE_END
