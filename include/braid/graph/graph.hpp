#pragma once
// A graph of tasks is built once and can run any number of times, for example in every frame. A run
// allocates nothing, except for the first run after an edit. The data that the bodies use may
// differ from run to run, but the graph stays the same.
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

/// Calls the callable in `storage`, and leaves it there for the next run. If the context is null,
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

/// Only one thread at a time may build and edit a graph, and only between runs. Any thread may run
/// the graph. Several graphs may run at once. Runs of one graph run one after the other. The nodes
/// of a graph are tasks. A node can wait for other tasks, and its thread then helps. A node can
/// have children. The scope of the run counts the nodes, observers see them, and choosers order
/// them.
class graph {
public:
    /// `name` must outlive the graph. The runs of the graph have the same name.
    BRAID_API explicit graph(scheduler& s, const char* name = "graph");
    /// Waits for the runs of the graph.
    BRAID_API ~graph();
    graph(const graph&) = delete;
    graph& operator=(const graph&) = delete;

    // ---- building ------------------------------------------------------------------------------

    /// Adds a node. `f` is called once in each run, and destroyed with the node. If there is no
    /// memory, if the options are invalid, or if a run is in progress, add() calls the scheduler's
    /// handlers and returns an empty node. A callable of up to 48 bytes needs no allocation of its
    /// own.
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
    /// Adds a node without work. The node joins other nodes: it is complete when all its
    /// predecessors are complete. A node without work costs next to nothing.
    BRAID_API graph_node add(const node_options& options, empty_task);

    /// Adds a group. A node becomes a member of the group by node_options::in. Returns an empty
    /// node in the same cases as add().
    BRAID_API graph_node add_group(const group_options& options);
    /// Sets whether the members of `group` run one after the other, from the next run on. If
    /// `group` is not a group of this graph, or if a run is in progress, set_serial() calls the
    /// assertion handler and returns false.
    BRAID_API bool set_serial(graph_node group, bool serial);

    /// Adds a node that processes all i in [0, count()) in each run. The node calls `f(i)` for each
    /// i. If `f` accepts two numbers, the node instead calls `f(first, last)` for ranges [first,
    /// last). The indices are divided into pieces, which all threads share. A negative count means
    /// 0. A piece has at least `grain` elements, or all elements if there are fewer. Any `grain` is
    /// allowed, and 0 means a few pieces for each thread. The node is complete when all pieces are
    /// complete. The options `on`, `workers`, `uses` and `priority` apply to `count()`, not to the
    /// pieces.
    template <std::invocable Count, detail::range_body F>
    graph_node add_range(const node_options& options, Count&& count, F&& f, std::size_t grain = 0);

    /// Adds a node that a second thread may run again if the operating system has switched out the
    /// first thread. This happens only in a run with run_options::rerun_after. Both threads then
    /// call `compute() const`, perhaps at the same time. `compute` must not write to anything that
    /// outlives the call, and nobody may change its inputs before the run is complete. The call of
    /// `compute` that ends first decides. If this call returns, `publish` is called once with the
    /// result. If this call throws, the node fails and `publish` is not called. The options must
    /// allow any thread to run the node: `on`, `workers`, `uses` and `runs_as` must have their
    /// defaults. The node must have no children and must not wait. Only nodes that were added by
    /// add_idempotent() can run twice in a run.
    template <class Compute, class Publish>
        requires detail::computed_and_published<std::decay_t<Compute>, std::decay_t<Publish>>
    graph_node add_idempotent(const node_options& options, Compute&& compute, Publish&& publish);

    /// Adds a node that runs `inner` once in each run, as a part of this graph. This run of `inner`
    /// starts after all runs of `inner` that other nodes or threads started before. `inner` must
    /// outlive the node. If `inner` is this graph, contains this graph, or belongs to another
    /// scheduler, add_graph() calls the assertion handler and returns an empty node.
    BRAID_API graph_node add_graph(const node_options& options, graph& inner);

    /// Adds a node whose `f` returns a bool or a number. The returned value decides which
    /// successors of the node run: see precede_if().
    template <std::invocable F>
        requires std::convertible_to<std::invoke_result_t<F&>, unsigned>
    graph_node add_condition(const node_options& options, F&& f);
    /// Adds an edge as precede() does. If `condition` returns another value than `value` in a run,
    /// the run leaves out `later`. A node that is left out completes without having run. If a group
    /// is left out, its members are left out as well. The successors of `later` still run. If a
    /// condition is itself left out, all its successors run. If one condition has edges to `later`
    /// for several values, `later` runs if the condition returns any of these values. If several
    /// conditions have edges to `later`, it runs only if all of them choose it. Returns false in
    /// the same cases as precede(). If `condition` was not made by add_condition(), precede_if()
    /// calls the assertion handler and returns false.
    BRAID_API bool precede_if(graph_node condition, unsigned value, graph_node later);

    /// Adds an edge: in each run, `later` starts after `earlier` and all children of `earlier` are
    /// complete. If a node belongs to another graph or was erased, if both nodes are the same, or
    /// if a run is in progress, precede() calls the assertion handler and returns false. Returns
    /// false if there is no memory.
    BRAID_API bool precede(graph_node earlier, graph_node later);
    /// Removes the node and its edges. If the node is a group, its members are removed as well. The
    /// predecessors of the node then no longer precede its successors, except where other edges say
    /// so. Returns false if the node is not in this graph. If a run is in progress, erase() calls
    /// the assertion handler and returns false.
    BRAID_API bool erase(graph_node node);

    /// Returns the number of nodes, including the groups and their members.
    BRAID_API std::size_t size() const;

    // ---- running -------------------------------------------------------------------------------

    /// Starts a run and returns its id. The run is complete when all nodes are complete. Its nodes
    /// start after all earlier runs of this graph have ended, even if those runs failed or were
    /// cancelled. If a node throws, all nodes that must run after it are cancelled in this run. All
    /// other nodes run. If several nodes fail, waiters receive the failure of the node that was
    /// added first. Returns an empty id if there is no memory, after a shutdown, if the parent is
    /// complete, or if the graph has a cycle. If there is a cycle, the assertion handler receives
    /// the path of the cycle. A run costs one pass over the nodes, which takes about 5 ns for each
    /// node. The first run after an edit sorts the graph and may allocate.
    BRAID_API task_id run(const run_options& options = {});
    /// Starts a run as run() does, and waits for it. The waiting thread helps. If the run fails,
    /// throws its failure, even if the run ended before the wait started. Returns false if the run
    /// was refused. In that case no node has run, and the handlers have been notified.
    BRAID_API bool run_and_wait(const run_options& options = {});

    // ---- seeing --------------------------------------------------------------------------------

    /// Sets whether each node is timed, from the next run on. Timing costs two more clock reads for
    /// each node, and a third clock read for a node with several predecessors.
    BRAID_API void measure(bool on);
    /// Returns how often idempotent nodes were run a second time since the graph was constructed.
    BRAID_API std::uint64_t reruns() const;
    /// Returns the times of the node in the last measured run. The caller must wait for that run
    /// before the call.
    BRAID_API node_timing timing(graph_node node) const;

    /// Sets which ready nodes run first, from the next run on. If `by` is critical_path, each node
    /// is timed as well.
    BRAID_API void set_priorities(graph_priorities by);
    /// Returns text about the last change of the order: which nodes changed their places, and why.
    /// The text is empty with declared priorities. After an edit, the text is empty until the graph
    /// is sorted again.
    BRAID_API std::string priorities_to_text() const;

    /// Returns the graph in the language of Graphviz, with the names of the nodes, and with groups
    /// as boxes. If the graph is measured, the text includes the times of the last run and the
    /// critical path of that run. The standard library allocates the text.
    BRAID_API std::string to_dot() const;
    /// Writes a picture of the graph into a file. Graphviz lays the picture out, so the program
    /// `dot` must be installed.
    BRAID_API status write_svg(const char* path) const;
    /// Returns the nodes, edges and times as lines of text. The line of each node follows the lines
    /// of its predecessors.
    BRAID_API std::string to_text() const;

    /// This function is not for programs. Returns null if there was no memory for the state.
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
    /// Returns storage for the callable of a new node, or null if the node is refused. If
    /// open_node() returns storage, the caller must then call drop_node() or close_node().
    BRAID_API void* open_node(const node_options& options);
    BRAID_API void drop_node();
    BRAID_API graph_node close_node(detail::closure_fn call);
    task_id begin_run(const run_options& options, detail::draft_kind kind);
    bool may_edit() const;
    bool is_own(graph_node node) const;
    bool add_edge(graph_node earlier, graph_node later);
    /// Called by the running node `condition`. Leaves out those successors of `condition` that
    /// `value` does not choose.
    BRAID_API void choose(std::uint32_t condition, unsigned value) const;
    BRAID_API std::uint32_t next_index() const;
    BRAID_API graph_node as_condition(graph_node node);
    BRAID_API bool may_be_idempotent(const node_options& options) const;
    /// Records the attempts of the node. If there is no memory, erases the node and returns an
    /// empty node.
    BRAID_API graph_node keep_attempts(graph_node node, detail::attempts& of);
    /// Called by the running node `task`. Starts a run of `inner` as a child of this node.
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
        // `size` is not const. A const `size` may be a constant expression, and clang++ then warns
        // that the capture in `piece` is not needed.
        std::size_t size = counted > 0 ? static_cast<std::size_t>(counted) : 0;
        const std::size_t all = pieces(size, grain);
        const auto piece = [&body = f, size, all](std::size_t i) {
            // If `all` does not divide the count evenly, the first pieces are longer by one
            // element.
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
