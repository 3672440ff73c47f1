#pragma once
// What a graph holds: its nodes as they were added, and the plan that runs follow.

#include "braid/core/code_holders.hpp"
#include "braid/graph/idempotent.hpp"
#include "core/extension.hpp"
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
    core::own_traits traits;
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

/// What a run reads of a node.
struct graph_plan {
    closure_fn call;
    core::own_task task;              // null: erased
    std::uint32_t index;              // of its slot
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

struct graph_state final : code_holder {
    graph_state(runtime& owner, const char* n)
        : code_holder(owner),
          rt(owner),
          name(n),
          records(core::memory(owner)),
          edges(core::memory(owner)),
          choices(core::memory(owner)),
          accesses(core::memory(owner)),
          inner(core::memory(owner)),
          idempotent(core::memory(owner)),
          all_edges(core::memory(owner)),
          plan(core::memory(owner)),
          successors(core::memory(owner)),
          order(core::memory(owner)),
          stamps(core::memory(owner)),
          ranking(core::memory(owner)) {}

    /// Edges leave from it; edges to a node or group arrive at itself.
    std::uint32_t end_of(std::uint32_t node) const {
        return records[node].is_group() ? node + 1 : node;
    }
    const char* name_of(std::uint32_t node) const {
        const char* own = core::own_task(rt, records[node].slot).name();
        return own != nullptr ? own : "";
    }
    void show_code(code_search& to) const override;
    /// This graph, or one that it runs, is `other`.
    bool contains(const graph_state* other) const;

    void rank();
    /// Null: it is never run twice.
    detail::attempts* attempts_of(std::uint32_t node) const;
    /// Runs again what stands still; see run_options::rerun_after.
    void rerun_stragglers(core::seat& w, task_id run, std::int64_t enough);
    void rerun(core::seat& w, task_id run, const graph_idempotent& node);

    /// Observers take the plan for another one from here on.
    void number_plan();
    /// Makes the plan of records and edges. False, and reported: a cycle, or no memory.
    bool sort();
    /// Under its lock. False: it cannot run.
    bool sort_if_edited();
    template <class F>
    void each_successor(std::uint32_t node, F&& f) const {
        const graph_plan& p = plan[node];
        for (std::uint32_t k = 0; k < p.successors; ++k) {
            f(successors[p.first + k].number() - 1);
        }
    }
    /// The user's edges, and those that groups and accesses stand for.
    bool collect_edges();
    bool add_members();
    bool add_accesses();
    bool count_edges(graph_array<std::uint32_t>& left);
    /// A cycle among the nodes that still wait for somebody, in words.
    void name_cycle(const graph_array<std::uint32_t>& waits_for, char* text,
                    std::size_t size) const;

    runtime& rt;
    const char* name;
    graph_array<graph_record> records;
    graph_array<graph_edge> edges;
    graph_array<graph_choice> choices;   // sorted with the plan
    graph_array<graph_access> accesses;  // sorted with the plan
    graph_array<graph_inner> inner;
    graph_array<graph_idempotent> idempotent;  // sorted with the plan
    bool edited = false;
    bool measured = false;
    bool ranked = false;   // then measured, too
    bool special = false;  // has conditions or idempotent nodes; set with the plan
    mutex beginning;       // of runs: graphs that run this one may do so at once
    task_id last;          // the run that was begun last

    // The plan. Changed between runs only.
    graph_array<graph_edge> all_edges;  // the user's, then of groups, then of accesses
    std::size_t of_accesses = 0;        // where those begin
    graph_array<graph_plan> plan;       // by node
    graph_array<core::own_task> successors;
    graph_array<std::uint32_t> order;  // each node after its predecessors, so roots come first
    std::size_t roots = 0;
    std::uint32_t sinks = 0;  // nodes without successors
    std::size_t live = 0;     // nodes that are not erased, now; groups are two
    std::size_t groups = 0;
    std::uint64_t sorted = 0;        // how often the plan was made
    std::uint64_t plan_number = 0;   // of the process
    std::uint32_t runs_of_plan = 0;  // since it has that number
    std::uint32_t reported_to = 0;   // core::listening() when the last run was reported

    graph_array<graph_stamp> stamps;  // by node, if measured
    std::int64_t began = 0;           // the last measured run
    graph_ranking ranking;            // if ranked
    atomic<std::uint64_t> reruns{0};
};

/// The run of a graph is a task; this is in its storage, until the last node has ended.
struct graph_run {
    graph_state* graph;
    /// The body of the run.
    static void begin(void* storage, task_context* context);
    /// A node that was taken out of the ranks.
    void run_ranked(core::seat& w, std::uint32_t run, std::uint32_t node) const;
    /// The second attempt at a node.
    void run_again(core::seat& w, task_id run, std::uint32_t node) const;
    /// The kind of the nodes.
    static void run(runtime& rt, core::seat& w, std::uint32_t index, bool more);
    static void ended(runtime& rt, core::seat& w, std::uint32_t index);

private:
    class sequence;

    void report_run(core::seat& w) const;
    void report_ready(core::seat& w, const graph_plan& plan, task_id released_by) const;
    void queue_ready(core::seat& w, const graph_plan& plan) const;
    bool is_at_hand(core::own_task node) const;
    void reset(core::seat& w, std::uint32_t run) const;
    void start_clock() const;
    /// Returns the time.
    std::int64_t stop_clock(const graph_plan& plan) const;
    bool left_out(const graph_plan& plan) const;
    void run_nodes(core::seat& w, std::uint32_t run, const graph_plan* plan, bool more) const;
    const graph_plan* next_node(core::seat& w, task_id run) const;
    const graph_plan* by_rank(core::seat& w, const graph_plan* ticket, bool any) const;
    void cancel(core::seat& w, task_id run, const graph_plan& plan, task_id id) const;
    void identify(std::uint32_t run) const;
    struct node_end {
        bool closed = false;               // own_task::close_unknown()
        bool completion_reported = false;  // observers know that it completes
    };
    void end_node(core::seat& w, const graph_plan& plan, task_id id, node_end how,
                  const graph_plan** next) const;
};

}  // namespace detail
BRAID_NAMESPACE_END
