// Building a graph, and the plan that its runs follow.
#include "braid/graph/graph.hpp"

#include "braid/core/error.hpp"
#include "core/extension.hpp"
#include "graph/graph_state.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN

namespace core = detail::core;
using detail::graph_edge;
using detail::graph_record;
using detail::graph_state;
using detail::no_index;
using detail::node_kind;

graph::graph(scheduler& s, const char* name) : scheduler_(s), rt_(s.internals()), state_(nullptr) {
    void* bytes =
        core::memory(rt_).allocate(sizeof(graph_state), alignof(graph_state), memory_tag::graph);
    if (bytes == nullptr) return;
    state_ = ::new (bytes) graph_state(rt_, name != nullptr ? name : "graph");
}

graph::~graph() {
    if (state_ == nullptr) return;
    if (core::is_open(rt_, state_->last)) {
        core::failure unseen(rt_);  // goes to the handler, if nobody else got it
        // By a node of its own, which was reported: the run goes on, it stays.
        if (!core::wait(rt_, state_->last, help::needed, unseen)) return;
    }
    state_->edges.clear();
    state_->choices.clear();
    state_->accesses.clear();
    state_->inner.clear();
    state_->idempotent.clear();
    for (std::uint32_t i = 0; i < state_->records.size(); ++i) erase({i, this});
    state_->~graph_state();
    core::memory(rt_).release(state_, sizeof(graph_state), alignof(graph_state), memory_tag::graph);
}

/// The nodes of a run that goes on are reported here, and not as tasks, too.
void graph_state::show_code(code_search& to) const {
    for (const graph_record& r : records) {
        if (r.erased || r.call == nullptr) continue;
        const core::own_task node(rt, r.slot);
        held_code what{.use = code_use::node,
                       .name = node.name() != nullptr ? node.name() : name,
                       .address = reinterpret_cast<std::uintptr_t>(r.call)};
        if (to.where().has(what.address)) {
            to.report(what);
        } else {
            to.look_into(what, node.storage(), closure_bytes);
        }
    }
}

// ---- building ----------------------------------------------------------------------------------

bool graph::may_edit() const {
    return BRAID_EXPECT(core::misuse(rt_), !core::is_open(rt_, state_->last),
                        "a graph is edited between its runs; wait for the last one");
}

bool graph::is_own(graph_node node) const {
    return state_ != nullptr && node.of == this && node.index < state_->records.size() &&
           !state_->records[node.index].erased;
}

void* graph::open_node(const node_options& o) {
    const task_options as_task{.name = o.name,
                               .priority = o.priority,
                               .category = o.category,
                               .runs_as = o.runs_as,
                               .on = o.on,
                               .workers = o.workers,
                               .uses = o.uses,
                               .never_waits = o.never_waits,
                               .may_be_long = o.may_be_long};
    core::point(rt_);
    if (state_ == nullptr || !core::good_options(rt_, as_task) || !may_edit() ||
        !BRAID_EXPECT(core::misuse(rt_),
                      !o.in || (is_own(o.in) && state_->records[o.in.index].is_group()),
                      "`in` must be a group of this graph")) {
        return nullptr;
    }
    const core::seat_lease seat(rt_, nullptr);
    const std::uint32_t index = core::make_own_task<detail::graph_run>(rt_, *seat, as_task);
    if (index == no_index) return nullptr;
    if (!state_->records.push({.call = nullptr,
                               .slot = index,
                               .group = o.in.index,
                               .traits = core::own_traits(as_task),
                               .kind = node_kind::work,
                               .erased = false,
                               .where = o.where})) {
        core::free_own_task(rt_, *seat, index);
        return nullptr;
    }
    ++state_->live;
    for (const auto* const list : {&o.reads, &o.writes}) {
        for (const void* what : *list) {
            if (state_->accesses.push({what, next_index() - 1, list == &o.writes})) continue;
            drop_node();
            return nullptr;
        }
    }
    return core::own_task(rt_, index).storage();
}

void graph::drop_node() {
    const auto last = static_cast<std::uint32_t>(state_->records.size() - 1);
    state_->records[last].call = nullptr;
    erase({last, this});
}

graph_node graph::close_node(detail::closure_fn call) {
    const auto last = static_cast<std::uint32_t>(state_->records.size() - 1);
    state_->records[last].call = call;
    state_->edited = true;
    return {last, this};
}

graph_node graph::add(const node_options& options, empty_task) {
    return open_node(options) != nullptr ? close_node(nullptr) : graph_node{};
}

graph_node graph::add_group(const group_options& o) {
    const graph_node begin = add({.name = o.name, .in = o.in, .where = {}}, empty);
    if (!begin) return {};
    const graph_node end = add({.name = o.name, .in = o.in, .where = {}}, empty);
    if (!end) {
        erase(begin);
        return {};
    }
    state_->records[begin.index].kind = o.serial ? node_kind::serial_begin : node_kind::group_begin;
    state_->records[end.index].kind = node_kind::group_end;
    ++state_->groups;
    return begin;
}

bool graph::set_serial(graph_node group, bool serial) {
    core::point(rt_);
    if (!BRAID_EXPECT(core::misuse(rt_), is_own(group) && state_->records[group.index].is_group(),
                      "set_serial() takes a group of this graph") ||
        !may_edit()) {
        return false;
    }
    state_->records[group.index].kind = serial ? node_kind::serial_begin : node_kind::group_begin;
    state_->edited = true;
    return true;
}

graph_node graph::add_graph(const node_options& options, graph& inner) {
    core::point(rt_);
    if (state_ == nullptr || inner.state_ == nullptr ||
        !BRAID_EXPECT(core::misuse(rt_), !inner.state_->contains(state_),
                      "a graph cannot run itself, nor one that runs it") ||
        !BRAID_EXPECT(core::misuse(rt_), &inner.rt_ == &rt_,
                      "a graph cannot run one of another scheduler")) {
        return {};
    }
    const graph_node node =
        add(options, [this, &inner](task_context& task) { run_inner(task, inner); });
    if (node && !state_->inner.push({node.index, inner.state_})) {
        erase(node);
        return {};
    }
    return node;
}

void graph::run_inner(task_context& task, graph& inner) {
    if (inner.run({.parent = task.id()})) return;
    // What comes after it must not take it for done.
#if BRAID_HAS_EXCEPTIONS
    detail::fail_task(task, std::make_exception_ptr(task_cancelled()));
#else
    static_cast<void>(task);
#endif
}

std::uint32_t graph::next_index() const {
    return state_ != nullptr ? static_cast<std::uint32_t>(state_->records.size()) : 0;
}

std::size_t graph::pieces(std::size_t count, std::size_t grain) const {
    constexpr std::size_t for_each_thread = 8;
    if (count == 0) return 0;
    if (grain != 0) return std::max<std::size_t>(1, count / grain);
    return std::min(count, for_each_thread * (scheduler_.worker_count() + std::size_t{1}));
}

graph_node graph::as_condition(graph_node node) {
    if (node) state_->records[node.index].kind = node_kind::condition;
    return node;
}

bool graph::add_edge(graph_node earlier, graph_node later) {
    core::point(rt_);
    if (!BRAID_EXPECT(core::misuse(rt_), is_own(earlier) && is_own(later),
                      "both nodes must be in this graph, and not erased") ||
        !BRAID_EXPECT(core::misuse(rt_), earlier != later, "a node cannot precede itself") ||
        !may_edit()) {
        return false;
    }
    state_->edited = true;
    return state_->edges.push({state_->end_of(earlier.index), later.index});
}

bool graph::precede(graph_node earlier, graph_node later) { return add_edge(earlier, later); }

bool graph::precede_if(graph_node condition, unsigned value, graph_node later) {
    if (!BRAID_EXPECT(
            core::misuse(rt_),
            is_own(condition) && state_->records[condition.index].kind == node_kind::condition,
            "precede_if() takes a node that add_condition() made") ||
        !add_edge(condition, later)) {
        return false;
    }
    if (state_->choices.push({condition.index, later.index, value})) return true;
    state_->edges.pop();
    return false;
}

void graph::choose(std::uint32_t condition, unsigned value) const {
    // Sorted by condition and then by what depends on it.
    const detail::graph_choice* const end = state_->choices.end();
    const detail::graph_choice* const begin = state_->choices.begin();
    const auto* c = std::lower_bound(begin, end, detail::graph_choice{condition, 0, 0});
    while (c != end && c->condition == condition) {
        const std::uint32_t to = c->to;
        bool chosen = false;
        for (; c != end && c->condition == condition && c->to == to; ++c) {
            chosen = chosen || c->value == value;
        }
        if (!chosen) state_->plan[to].task.leave_out();
    }
}

bool graph::erase(graph_node node) {
    core::point(rt_);
    if (!is_own(node) || !may_edit()) return false;
    if (state_->records[node.index].is_group()) {
        for (std::uint32_t i = 0; i < state_->records.size(); ++i) {
            const graph_record& r = state_->records[i];
            if (!r.erased && r.group == node.index) erase({i, this});
        }
        --state_->groups;
        state_->records[node.index].kind = node_kind::work;
        erase({node.index + 1, this});
    }
    graph_record& r = state_->records[node.index];
    if (r.call != nullptr) r.call(core::own_task(rt_, r.slot).storage(), nullptr);
    core::free_own_task(rt_, *core::seat_lease(rt_, nullptr), r.slot);
    r.call = nullptr;
    r.slot = no_index;
    r.erased = true;
    --state_->live;
    const auto gone = [&](std::uint32_t n) { return n == node.index; };
    state_->edges.remove_if([&](const graph_edge& e) { return gone(e.from) || gone(e.to); });
    state_->choices.remove_if(
        [&](const detail::graph_choice& c) { return gone(c.condition) || gone(c.to); });
    state_->inner.remove_if([&](const detail::graph_inner& i) { return gone(i.node); });
    state_->accesses.remove_if([&](const detail::graph_access& a) { return gone(a.node); });
    state_->idempotent.remove_if([&](const detail::graph_idempotent& i) { return gone(i.node); });
    state_->edited = true;
    return true;
}

std::size_t graph::size() const {
    core::point(rt_);
    return state_ != nullptr ? state_->live - state_->groups : 0;
}

// ---- running -----------------------------------------------------------------------------------

task_id graph::run(const run_options& o) { return begin_run(o, detail::draft_kind::spawned); }

task_id graph::begin_run(const run_options& o, detail::draft_kind kind) {
    if (state_ == nullptr) return {};
    core::point(rt_);
    // First: a thread may have to wait for a seat.
    const core::seat_lease seat(rt_, nullptr);
    detail::draft opened;
    {
        // Not over publish_task(): with a chooser another thread may go on there.
        const detail::locked lock(state_->beginning);
        if (state_->edited) {
            if (!state_->sort()) return {};
            state_->edited = false;
        }
        const std::initializer_list<task_id> nothing = {}, last = {state_->last};
        opened = detail::open_task(rt_, &*seat,
                                   {.name = state_->name,
                                    .after = o.after,
                                    .after_any = state_->last ? last : nothing,
                                    .parent = o.parent,
                                    .within = o.within,
                                    .environment = o.environment,
                                    .may_be_long = true,
                                    .where = {}},
                                   kind);
        if (opened.storage == nullptr) return {};  // the one before stays the last
        ::new (opened.storage) detail::graph_run{state_};
        state_->last = core::id_of(rt_, opened);
    }
    return detail::publish_task(rt_, opened, &detail::graph_run::begin);
}

bool graph::run_and_wait(const run_options& o) {
    // Held, so that its failure is not lost when it completes before the wait begins.
    const task_id id = begin_run(o, detail::draft_kind::valued);
    if (!id) return false;
    struct hold {
        detail::runtime& rt;
        task_id id;
        ~hold() { core::release_handle(rt, id); }
    } held{rt_, id};
    if (o.rerun_after.value > 0 && state_->idempotent.size() != 0 && !core::under_chooser(rt_)) {
        while (!scheduler_.wait_for(id, o.rerun_after)) {
            // Makes tasks, and waits for none: the spare seat will do.
            state_->rerun_stragglers(*core::seat_lease(rt_, nullptr), id, o.rerun_after.value);
        }
    } else {
        scheduler_.wait(id);
    }
    core::failure_of(rt_, id).raise();
    return true;
}

BRAID_NAMESPACE_END
