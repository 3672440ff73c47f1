#pragma once
// A graph of tasks that is built once and run as often as you like, every frame for example. A run
// allocates nothing; what differs from run to run are the bodies' data, not the graph.
//
//   braid::graph frame(scheduler, "frame");
//   const auto animate = frame.add({.name = "animate"}, [&] { … });
//   const auto skin = frame.add({.name = "skin"}, [&] { … });
//   frame.precede(animate, skin);
//   while (running) frame.run_and_wait();

#include "braid/core/closure.hpp"
#include "braid/core/scheduler.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

BRAID_NAMESPACE_BEGIN

class graph;

/// Names a node for as long as it is in its graph. Plain data.
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
};

/// What a run can be given; each as in task_options. The priority of nodes is their own.
struct run_options {
    std::initializer_list<task_id> after = {};
    task_id parent = {};
    scope* within = nullptr;
    const task_environment* environment = nullptr;
};

namespace detail {

struct graph_state;

/// Calls the callable in `storage`, which stays. With a null context it destroys it.
template <class F>
void call_kept(void* storage, task_context* context) {
    if (context == nullptr) return stored<F>::destroy(storage);
    guarded(*context, [&] { call_task(stored<F>::get(storage), *context); });
}

}  // namespace detail

/// Built and edited by one thread at a time, and only between runs. Several graphs may run at
/// once; runs of one graph queue behind each other. Its nodes are tasks: they help in waits, join,
/// have children, are counted by the scope of the run, seen by observers and ordered by choosers.
class graph {
public:
    /// `name` outlives the graph; it names the runs, too.
    BRAID_API explicit graph(scheduler& s, const char* name = "graph");
    /// Waits for its runs.
    BRAID_API ~graph();
    graph(const graph&) = delete;
    graph& operator=(const graph&) = delete;

    // ---- building ------------------------------------------------------------------------------

    /// `f` is called once in each run and destroyed with the node. Empty: refused (out of memory,
    /// a run is going on); the handlers know. 48 bytes need no allocation of their own.
    template <detail::task_callable F>
    graph_node add(const node_options& options, F&& f) {
        using callable = std::decay_t<F>;
        struct guard {
            graph& self;
            void* storage;
            ~guard() {
                if (storage != nullptr) self.drop_node();
            }
        } g{*this, open_node(options)};
        if (g.storage == nullptr) return {};
        if (!detail::stored<callable>::put(rt_, g.storage, std::forward<F>(f))) return {};
        g.storage = nullptr;
        return close_node(&detail::call_kept<callable>);
    }
    template <detail::task_callable F>
    graph_node add(F&& f) {
        return add(node_options{}, std::forward<F>(f));
    }
    /// A join: over when its predecessors are. Costs next to nothing.
    BRAID_API graph_node add(const node_options& options, empty_task);

    /// In each run `later` starts after `earlier` and what that has spawned as children. False, and
    /// reported: a node of another graph, one that was erased, or twice the same.
    BRAID_API bool precede(graph_node earlier, graph_node later);
    /// Takes the node and its edges out. What it joined is not joined any more.
    BRAID_API bool erase(graph_node node);

    BRAID_API std::size_t size() const;

    // ---- running -------------------------------------------------------------------------------

    /// Begins a run behind those that were begun before, however they end, and returns its id:
    /// complete when all nodes are. A node that throws cancels what comes after it, in this run;
    /// the rest runs, and who waits gets the failure of the node that was added first. Empty, and
    /// reported with its path: the graph has a cycle. Costs one pass over the nodes, about 5 ns
    /// each; the first run after an edit sorts the graph and may allocate.
    BRAID_API task_id run(const run_options& options = {});
    /// run(), and waits for it, helping. Throws its failure, also when it was over at once.
    BRAID_API void run_and_wait(const run_options& options = {});

    // ---- seeing --------------------------------------------------------------------------------

    /// The graph in Graphviz's language, with the names of the nodes. (The text's memory is the
    /// standard library's.)
    BRAID_API std::string to_dot() const;

private:
    /// Storage for the callable of a new node; drop_node() or close_node() follows.
    BRAID_API void* open_node(const node_options& options);
    BRAID_API void drop_node();
    BRAID_API graph_node close_node(detail::closure_fn call);
    task_id begin_run(const run_options& options, detail::draft_kind kind);

    scheduler& scheduler_;
    detail::runtime& rt_;
    detail::graph_state* state_;
};

BRAID_NAMESPACE_END
