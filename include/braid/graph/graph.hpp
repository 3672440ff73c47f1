#pragma once
// A graph of tasks that is built once and run as often as you like, every frame for example. A run
// allocates nothing; what differs from run to run are the bodies' data, not the graph.
//
//   braid::graph frame(scheduler, "frame");
//   const auto animate = frame.add({.name = "animate"}, [&] { … });
//   const auto skin = frame.add({.name = "skin"}, [&] { … });
//   frame.precede(animate, skin);
//   while (running) frame.run_and_wait();

#include "braid/base/status.hpp"
#include "braid/core/closure.hpp"
#include "braid/core/scheduler.hpp"
#include "braid/core/spawn_batch.hpp"
#include "braid/graph/idempotent.hpp"
#include "braid/graph/node.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

BRAID_NAMESPACE_BEGIN

namespace detail {

struct graph_state;

/// Calls the callable in `storage`, which stays. With a null context it destroys it.
template <class F>
void call_kept(void* storage, task_context* context) {
    if (context == nullptr) return stored<F>::destroy(storage);
    guarded(*context, [&] { call_task(stored<F>::get(storage), *context); });
}

template <class F>
concept range_body =
    std::is_invocable_v<F&, std::size_t> || std::is_invocable_v<F&, std::size_t, std::size_t>;

template <range_body F>
void call_range(F& body, std::size_t first, std::size_t last) {
    if constexpr (std::is_invocable_v<F&, std::size_t, std::size_t>) {
        body(first, last);
    } else {
        for (std::size_t k = first; k < last; ++k) body(k);
    }
}

}  // namespace detail

/// Built and edited by one thread at a time, and only between runs; run from any. Several graphs
/// may run at once; runs of one graph queue behind each other. Its nodes are tasks: they help in
/// waits, join, have children, are counted by the scope of the run, seen by observers and ordered
/// by choosers.
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
        return put_node<callable>(open_node(options), &detail::call_kept<callable>,
                                  std::forward<F>(f));
    }
    template <detail::task_callable F>
    graph_node add(F&& f, std::source_location where = std::source_location::current()) {
        return add(node_options{.where = where}, std::forward<F>(f));
    }
    /// A join: over when its predecessors are. Costs next to nothing.
    BRAID_API graph_node add(const node_options& options, empty_task);

    /// Members join it by node_options::in. Empty: refused, as add().
    BRAID_API graph_node add_group(const group_options& options);
    /// Takes a group; holds from the next run on.
    BRAID_API bool set_serial(graph_node group, bool serial);

    /// In each run calls `f(i)`, or `f(first, last)`, for all of 0 <= i < count(), in pieces of at
    /// least `grain`, by all threads; any number, 0: a few pieces for each thread. Complete when
    /// all pieces are. `count()`: below 0 counts as 0. The options `on`, `workers`, `uses` and the
    /// priority are those of `count()`, not of the pieces.
    template <std::invocable Count, detail::range_body F>
    graph_node add_range(const node_options& options, Count&& count, F&& f, std::size_t grain = 0);

    /// A node that two threads may run at once, when the first was switched out in a run with
    /// run_options::rerun_after: both call `compute() const`, which writes to nothing that lasts
    /// and whose inputs nobody changes before the run is complete; `publish` gets the result of the
    /// first that returns, once. It takes those options that leave it free to run on any thread,
    /// and has neither children nor waits. No other node is ever run twice.
    template <class Compute, class Publish>
        requires detail::computed_and_published<std::decay_t<Compute>, std::decay_t<Publish>>
    graph_node add_idempotent(const node_options& options, Compute&& compute, Publish&& publish);

    /// In each run runs `inner` as a part of this graph: once, behind runs of it that were begun
    /// elsewhere. `inner` must outlive the node; a graph inside itself is refused and reported.
    BRAID_API graph_node add_graph(const node_options& options, graph& inner);

    /// What `f` returns, a bool or a number, decides which nodes behind it run: see precede_if().
    template <std::invocable F>
        requires std::convertible_to<std::invoke_result_t<F&>, unsigned>
    graph_node add_condition(const node_options& options, F&& f);
    /// A precede() after which runs in which `condition` returned something else leave `later` out:
    /// it completes without having run, and so do the members of a group. What comes after it runs
    /// all the same, also behind a condition that is left out itself. Several values of one
    /// condition: any of them; several conditions: all. False also for a node that is none.
    BRAID_API bool precede_if(graph_node condition, unsigned value, graph_node later);

    /// In each run `later` starts after `earlier` and what that has spawned as children. False, and
    /// reported: a node of another graph, one that was erased, or twice the same.
    BRAID_API bool precede(graph_node earlier, graph_node later);
    /// Takes the node and its edges out, a group with its members. What it joined is not joined
    /// any more.
    BRAID_API bool erase(graph_node node);

    /// Groups count as one.
    BRAID_API std::size_t size() const;

    // ---- running -------------------------------------------------------------------------------

    /// Begins a run behind those that were begun before, however they end, and returns its id:
    /// complete when all nodes are. A node that throws cancels what comes after it, in this run;
    /// the rest runs, and who waits gets the failure of the node that was added first. Empty, and
    /// reported with its path: the graph has a cycle; also without memory, after a shutdown, and
    /// for a parent that is complete. Costs one pass over the nodes, about 5 ns each; the first run
    /// after an edit sorts the graph and may allocate.
    BRAID_API task_id run(const run_options& options = {});
    /// run(), and waits for it, helping. Throws its failure, also when it has ended before the wait
    /// began. False: the run was refused, and nothing has run; the handlers know.
    BRAID_API bool run_and_wait(const run_options& options = {});

    // ---- seeing --------------------------------------------------------------------------------

    /// From the next run on each node is timed: two reads of the clock more.
    BRAID_API void measure(bool on);
    /// How often a node was run a second time, since the graph was made.
    BRAID_API std::uint64_t reruns() const;
    /// The node's times in the last run; wait for it first.
    BRAID_API node_timing timing(graph_node node) const;

    /// From the next run on. critical_path times nodes, too.
    BRAID_API void set_priorities(graph_priorities by);
    /// Which nodes changed their place the last time that places changed, and why. Empty for
    /// declared priorities.
    BRAID_API std::string priorities_to_text() const;

    /// The graph in Graphviz's language, with the names of the nodes, groups as boxes, and if it is
    /// measured with the times of the last run and its critical path. (The text's memory is the
    /// standard library's.)
    BRAID_API std::string to_dot() const;
    /// Writes a picture into a file. Graphviz lays it out: the program `dot` must be installed.
    BRAID_API status write_svg(const char* path) const;
    /// Nodes, edges and times in lines of text, each node after its predecessors.
    BRAID_API std::string to_text() const;

    /// Not for programs. Null: there was no memory for it.
    detail::graph_state* internals() const { return state_; }

private:
    template <class T, class... Arguments>
    graph_node put_node(void* opened, detail::closure_fn call, Arguments&&... arguments) {
        struct guard {
            graph& self;
            void* storage;
            ~guard() {
                if (storage != nullptr) self.drop_node();
            }
        } g{*this, opened};
        if (g.storage == nullptr) return {};
        if (!detail::stored<T>::put(rt_, g.storage, std::forward<Arguments>(arguments)...))
            return {};
        g.storage = nullptr;
        return close_node(call);
    }
    /// Storage for the callable of a new node; drop_node() or close_node() follows.
    BRAID_API void* open_node(const node_options& options);
    BRAID_API void drop_node();
    BRAID_API graph_node close_node(detail::closure_fn call);
    task_id begin_run(const run_options& options, detail::draft_kind kind);
    bool may_edit() const;
    bool is_own(graph_node node) const;
    bool add_edge(graph_node earlier, graph_node later);
    /// By the running node `condition`, which no edge leaves twice.
    BRAID_API void choose(std::uint32_t condition, unsigned value) const;
    BRAID_API std::uint32_t next_index() const;
    BRAID_API graph_node as_condition(graph_node node);
    BRAID_API bool may_be_idempotent(const node_options& options) const;
    /// Erases the node when there is no memory.
    BRAID_API graph_node keep_attempts(graph_node node, detail::attempts& of);
    /// By a running node, as its children.
    BRAID_API void run_inner(task_context& task, graph& inner);
    BRAID_API std::size_t pieces(std::size_t count, std::size_t grain) const;

    scheduler& scheduler_;
    detail::runtime& rt_;
    detail::graph_state* state_;
};

template <std::invocable Count, detail::range_body F>
graph_node graph::add_range(const node_options& options, Count&& count, F&& f, std::size_t grain) {
    return add(options, [this, count = std::forward<Count>(count), f = std::forward<F>(f),
                         grain](task_context& task) mutable {
        const auto counted = count();
        // Not const: it may be a constant, which a capture would not need.
        std::size_t size = counted > 0 ? static_cast<std::size_t>(counted) : 0;
        const std::size_t all = pieces(size, grain);
        const auto piece = [&body = f, size, all](std::size_t i) {
            // The first ones are longer by one when it does not come out even.
            const std::size_t least = size / all, more = size % all;
            const std::size_t first = i * least + (std::min)(i, more);
            detail::call_range(body, first, first + least + (i < more ? 1 : 0));
        };
        if (all == 1) return piece(0);
        if (all == 0 || scheduler_.spawn_batch(
                            {.name = task.name(), .parent = task.id(), .where = {}}, all, piece))
            return;
        for (std::size_t i = 0; i < all; ++i) piece(i);  // no memory for a batch
    });
}

template <class Compute, class Publish>
    requires detail::computed_and_published<std::decay_t<Compute>, std::decay_t<Publish>>
graph_node graph::add_idempotent(const node_options& options, Compute&& compute,
                                 Publish&& publish) {
    using body = detail::idempotent_body<std::decay_t<Compute>, std::decay_t<Publish>>;
    if (!may_be_idempotent(options)) return {};
    void* const storage = open_node(options);
    const graph_node node = put_node<body>(storage, &body::call, std::forward<Compute>(compute),
                                           std::forward<Publish>(publish));
    return node ? keep_attempts(node, detail::stored<body>::get(storage).tries) : node;
}

template <std::invocable F>
    requires std::convertible_to<std::invoke_result_t<F&>, unsigned>
graph_node graph::add_condition(const node_options& options, F&& f) {
    return as_condition(add(options, [this, self = next_index(), f = std::forward<F>(f)]() mutable {
        choose(self, static_cast<unsigned>(f()));
    }));
}

BRAID_NAMESPACE_END
