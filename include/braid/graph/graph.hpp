#pragma once
// A graph of tasks that is built once and run as often as you like, every frame for example. A run
// allocates nothing. What differs from run to run is the data of the bodies, not the graph.
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

/// Calls the callable in `storage`, and leaves it there for the next run. With a null context it
/// destroys the callable instead.
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

/// A graph is built and edited by one thread at a time, and only between runs. Any thread may run
/// it. Several graphs may run at once; runs of one graph queue behind each other. The nodes of a
/// graph are tasks: they help in waits, join, have children, are counted by the scope of the run,
/// seen by observers and ordered by choosers.
class graph {
public:
    /// `name` must outlive the graph; it names the runs, too.
    BRAID_API explicit graph(scheduler& s, const char* name = "graph");
    /// Waits for the runs of the graph.
    BRAID_API ~graph();
    graph(const graph&) = delete;
    graph& operator=(const graph&) = delete;

    // ---- building ------------------------------------------------------------------------------

    /// Adds a node. `f` is called once in each run, and destroyed with the node. Returns an empty
    /// node if the call is refused (out of memory, invalid options, or a run is in progress), which
    /// is reported to the handlers. A callable of up to 48 bytes needs no allocation of its own.
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
    /// Adds a node without work, to join others: it is complete when its predecessors are. Costs
    /// next to nothing.
    BRAID_API graph_node add(const node_options& options, empty_task);

    /// Adds a group. Nodes become members by node_options::in. Returns an empty node if the call is
    /// refused, as add() does.
    BRAID_API graph_node add_group(const group_options& options);
    /// Sets whether the members of `group` run one after the other, from the next run on. Returns
    /// false, and reports it, if `group` is no group of this graph or a run is in progress.
    BRAID_API bool set_serial(graph_node group, bool serial);

    /// Adds a node that in each run calls `f(i)`, or `f(first, last)`, for all of 0 <= i < count(),
    /// in pieces that all threads run. A count below 0 counts as 0. A piece has at least `grain`
    /// elements: any number, where 0 means a few pieces for each thread. The node is complete when
    /// all pieces are. The options `on`, `workers`, `uses` and the priority apply to `count()`, not
    /// to the pieces.
    template <std::invocable Count, detail::range_body F>
    graph_node add_range(const node_options& options, Count&& count, F&& f, std::size_t grain = 0);

    /// Adds a node that two threads may run at once, if the first was switched out in a run with
    /// run_options::rerun_after. Both call `compute() const`, which must not write to anything that
    /// lasts, and whose inputs nobody may change before the run is complete. `publish` is called
    /// once, with the result of the first call that returns. The node takes only those options that
    /// let it run on any thread, and it has neither children nor waits. No other node is ever run
    /// twice.
    template <class Compute, class Publish>
        requires detail::computed_and_published<std::decay_t<Compute>, std::decay_t<Publish>>
    graph_node add_idempotent(const node_options& options, Compute&& compute, Publish&& publish);

    /// Adds a node that in each run runs `inner` once, as a part of this graph, behind runs of
    /// `inner` that were begun elsewhere. `inner` must outlive the node. A graph inside itself, or
    /// of another scheduler, is refused and reported.
    BRAID_API graph_node add_graph(const node_options& options, graph& inner);

    /// Adds a node whose `f` returns a bool or a number, which decides which nodes behind it run:
    /// see precede_if().
    template <std::invocable F>
        requires std::convertible_to<std::invoke_result_t<F&>, unsigned>
    graph_node add_condition(const node_options& options, F&& f);
    /// Adds an edge as precede() does. Runs in which `condition` returned something other than
    /// `value` leave `later` out: it completes without having run, and so do the members if it is a
    /// group. What comes after `later` runs all the same, also behind a condition that is left out
    /// itself. With edges for several values of one condition, any of these values lets `later`
    /// run; with several conditions, all must choose it. Returns false as precede() does, and
    /// (reported) if `condition` was not made by add_condition().
    BRAID_API bool precede_if(graph_node condition, unsigned value, graph_node later);

    /// Adds an edge: in each run `later` starts after `earlier` and the children that `earlier` has
    /// spawned. Returns false, and reports it, if a node is of another graph or was erased, if both
    /// nodes are the same, or while a run is in progress. Also returns false if there is no memory.
    BRAID_API bool precede(graph_node earlier, graph_node later);
    /// Removes the node and its edges, and a group with its members. What the node joined is not
    /// joined any more. Returns false if the node is not in this graph, or (reported) while a run
    /// is in progress.
    BRAID_API bool erase(graph_node node);

    /// Returns the number of nodes. A group counts as one node, besides its members.
    BRAID_API std::size_t size() const;

    // ---- running -------------------------------------------------------------------------------

    /// Begins a run behind the runs that were begun before, however those end. Returns the id of
    /// the run, which is complete when all nodes are. A node that throws cancels what comes after
    /// it in this run. The rest runs, and waiters get the failure of the node that was added first.
    /// Returns an empty id if the graph has a cycle, which is reported with its path; also if there
    /// is no memory, after a shutdown, and for a parent that is complete. Costs one pass over the
    /// nodes, about 5 ns each. The first run after an edit sorts the graph and may allocate.
    BRAID_API task_id run(const run_options& options = {});
    /// Begins a run as run() does, and waits for it, helping. Throws the failure of the run, also
    /// if the run has ended before the wait began. Returns false if the run was refused: nothing
    /// has run, and the handlers have been notified.
    BRAID_API bool run_and_wait(const run_options& options = {});

    // ---- seeing --------------------------------------------------------------------------------

    /// Sets whether each node is timed, from the next run on. Costs two more reads of the clock for
    /// each node, and a third one for a node with several predecessors.
    BRAID_API void measure(bool on);
    /// Returns how often nodes were run a second time since the graph was made.
    BRAID_API std::uint64_t reruns() const;
    /// Returns the node's times in the last run. Wait for that run first.
    BRAID_API node_timing timing(graph_node node) const;

    /// Sets which ready nodes go first, from the next run on. critical_path times nodes, too.
    BRAID_API void set_priorities(graph_priorities by);
    /// Says which nodes changed their place the last time that places changed, and why. Returns an
    /// empty string for declared priorities, and after an edit until the graph is sorted again.
    BRAID_API std::string priorities_to_text() const;

    /// Returns the graph in Graphviz's language, with the names of the nodes, and groups as boxes.
    /// If the graph is measured, the times of the last run and its critical path are included. (The
    /// standard library allocates the text.)
    BRAID_API std::string to_dot() const;
    /// Writes a picture into a file. Graphviz lays it out: the program `dot` must be installed.
    BRAID_API status write_svg(const char* path) const;
    /// Returns nodes, edges and times as lines of text, each node after its predecessors.
    BRAID_API std::string to_text() const;

    /// Not for programs. Returns null if there was no memory for the state.
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
    /// Returns storage for the callable of a new node, or null if the node is refused. After
    /// storage was returned, drop_node() or close_node() must follow.
    BRAID_API void* open_node(const node_options& options);
    BRAID_API void drop_node();
    BRAID_API graph_node close_node(detail::closure_fn call);
    task_id begin_run(const run_options& options, detail::draft_kind kind);
    bool may_edit() const;
    bool is_own(graph_node node) const;
    bool add_edge(graph_node earlier, graph_node later);
    /// Called by the running node `condition`: leaves out the nodes behind it that `value` does not
    /// choose.
    BRAID_API void choose(std::uint32_t condition, unsigned value) const;
    BRAID_API std::uint32_t next_index() const;
    BRAID_API graph_node as_condition(graph_node node);
    BRAID_API bool may_be_idempotent(const node_options& options) const;
    /// Erases the node, and returns an empty one, if there is no memory.
    BRAID_API graph_node keep_attempts(graph_node node, detail::attempts& of);
    /// Called by a running node: begins a run of `inner` as a child of that node.
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
        // Not const: if it were a constant expression, the capture below would not be needed.
        std::size_t size = counted > 0 ? static_cast<std::size_t>(counted) : 0;
        const std::size_t all = pieces(size, grain);
        const auto piece = [&body = f, size, all](std::size_t i) {
            // The first pieces are longer by one if the count does not divide evenly.
            const std::size_t least = size / all, more = size % all;
            const std::size_t first = i * least + (std::min)(i, more);
            detail::call_range(body, first, first + least + (i < more ? 1 : 0));
        };
        if (all == 1) return piece(0);
        if (all == 0 || scheduler_.spawn_batch(
                            {.name = task.name(), .parent = task.id(), .where = {}}, all, piece))
            return;
        for (std::size_t i = 0; i < all; ++i) piece(i);  // there was no memory for a batch
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
