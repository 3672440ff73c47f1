// Building a graph, and the plan that its runs follow.
#include "braid/graph/graph.hpp"

#include "core/seat_lease.hpp"
#include "graph/graph_state.hpp"

#include <algorithm>
#include <cstdio>

BRAID_NAMESPACE_BEGIN

using detail::graph_edge;
using detail::graph_plan;
using detail::graph_record;
using detail::graph_state;
using detail::no_index;

graph::graph(scheduler& s, const char* name) : scheduler_(s), rt_(s.internals()), state_(nullptr) {
    void* bytes = rt_.memory.allocate(sizeof(graph_state), alignof(graph_state), memory_tag::graph);
    if (bytes == nullptr) return;
    state_ = ::new (bytes) graph_state(rt_, name != nullptr ? name : "graph");
}

graph::~graph() {
    if (state_ == nullptr) return;
    const detail::seat_lease seat(rt_, nullptr);
    // Again: without memory for a record a wait returns at once.
    while (rt_.is_open(state_->last)) {
        detail::outcome* received = nullptr;
        rt_.wait(*seat, {.task = state_->last}, forever, help::needed, &received);
        rt_.drop(received);  // tells the handler, if nobody else was told
    }
    static_cast<void>(state_->edges.reset(0));
    for (std::uint32_t i = 0; i < state_->records.size(); ++i) erase({i, this});
    state_->~graph_state();
    rt_.memory.release(state_, sizeof(graph_state), alignof(graph_state), memory_tag::graph);
}

// ---- building ----------------------------------------------------------------------------------

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
    if (state_ == nullptr || !rt_.good_options(as_task) ||
        !BRAID_EXPECT(rt_.options.assertion, !rt_.is_open(state_->last),
                      "a graph is edited between its runs; wait for the last one")) {
        return nullptr;
    }
    const detail::seat_lease seat(rt_, nullptr);
    const std::uint32_t index = rt_.slots.take(seat->slots);
    if (index == no_index) return nullptr;
    detail::slot& s = rt_.slots[index];
    s.name = o.name;
    s.way = &detail::graph_run::node;
    s.module = 0;
    const std::uint16_t flags = detail::runtime::flags_of(as_task);
    const bool detailed = (flags & (detail::flag_direct | detail::flag_resources)) != 0;
    const bool ok = (!detailed && rt_.turn == nullptr) ||
                    rt_.fill_detail(*seat, s, as_task, detail::draft_kind::spawned);
    const auto own = static_cast<std::uint16_t>(flags | detail::flag_own_way);
    if (!ok ||
        !state_->records.push({nullptr, index, own, detail::runtime::level_of(as_task), false})) {
        const std::uint32_t d = s.detail.load(relaxed);
        if (d != no_index) rt_.details.give(seat->details, d);
        rt_.give_slot(*seat, index);
        return nullptr;
    }
    ++state_->live;
    return s.storage;
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

bool graph::precede(graph_node earlier, graph_node later) {
    const auto own = [&](graph_node n) {
        return n.of == this && n.index < state_->records.size() && !state_->records[n.index].erased;
    };
    if (!BRAID_EXPECT(rt_.options.assertion, own(earlier) && own(later),
                      "both nodes must be in this graph, and not erased") ||
        !BRAID_EXPECT(rt_.options.assertion, earlier != later, "a node cannot precede itself") ||
        !BRAID_EXPECT(rt_.options.assertion, !rt_.is_open(state_->last),
                      "a graph is edited between its runs; wait for the last one")) {
        return false;
    }
    state_->edited = true;
    return state_->edges.push({earlier.index, later.index});
}

bool graph::erase(graph_node node) {
    if (state_ == nullptr || node.of != this || node.index >= state_->records.size()) return false;
    graph_record& r = state_->records[node.index];
    if (r.erased || !BRAID_EXPECT(rt_.options.assertion, !rt_.is_open(state_->last),
                                  "a graph is edited between its runs; wait for the last one")) {
        return false;
    }
    const detail::seat_lease seat(rt_, nullptr);
    detail::slot& s = rt_.slots[r.slot];
    if (r.call != nullptr) r.call(s.storage, nullptr);
    const std::uint32_t d = s.detail.load(relaxed);
    if (d != no_index) rt_.details.give(seat->details, d);
    rt_.give_slot(*seat, r.slot);
    r = {.call = nullptr, .slot = no_index, .flags = 0, .level = 0, .erased = true};
    --state_->live;
    state_->edges.remove_if(
        [&](const graph_edge& e) { return e.from == node.index || e.to == node.index; });
    state_->edited = true;
    return true;
}

std::size_t graph::size() const { return state_ != nullptr ? state_->live : 0; }

// ---- running -----------------------------------------------------------------------------------

task_id graph::run(const run_options& o) { return begin_run(o, detail::draft_kind::spawned); }

task_id graph::begin_run(const run_options& o, detail::draft_kind kind) {
    if (state_ == nullptr) return {};
    if (state_->edited) {
        if (!state_->sort()) return {};
        state_->edited = false;
    }
    const std::initializer_list<task_id> nothing = {}, last = {state_->last};
    const task_id id =
        detail::submit_as<detail::graph_run>(rt_, nullptr,
                                             {.name = state_->name,
                                              .after = o.after,
                                              .after_any = state_->last ? last : nothing,
                                              .parent = o.parent,
                                              .within = o.within,
                                              .environment = o.environment,
                                              .may_be_long = true},
                                             kind, &detail::graph_run::begin, state_);
    if (id) state_->last = id;  // a refused one leaves the one before it
    return id;
}

void graph::run_and_wait(const run_options& o) {
    // Held, so that its failure is not lost when it is over before the wait begins.
    const task_id id = begin_run(o, detail::draft_kind::valued);
    if (!id) return;
    struct hold {
        detail::runtime& rt;
        task_id id;
        ~hold() { rt.release_holder(*detail::seat_lease(rt, nullptr), id); }
    } held{rt_, id};
    scheduler_.wait(id);
    const detail::slot& s = rt_.slots[detail::index_of(id.value)];
    if (s.has(detail::flag_failed)) rt_.raise(rt_.keep(rt_.outcome_of(s)));
}

// ---- the plan ----------------------------------------------------------------------------------

namespace detail {

bool graph_state::sort() {
    const std::size_t n = records.size();
    hooked_array<std::uint32_t> left(rt.memory);  // predecessors that are not in the order yet
    hooked_array<std::uint32_t> order(rt.memory);
    if (!plan.reset(n) || !successors.reset(edges.size()) || !roots.reset(0) || !left.reset(n) ||
        !order.reset(0)) {
        return false;
    }
    for (std::size_t i = 0; i < n; ++i) {
        plan[i].call = records[i].call;
        plan[i].index = records[i].slot;
        if (!records[i].erased) plan[i].slot = &rt.slots[records[i].slot];
    }
    for (const graph_edge& e : edges) {
        ++plan[e.from].successors;
        ++plan[e.to].waits_for;
    }
    std::uint32_t first = 0;
    sinks = 0;
    for (std::size_t i = 0; i < n; ++i) {
        graph_plan& p = plan[i];
        p.first = first;
        first += p.successors;
        left[i] = p.waits_for;
        if (records[i].erased) continue;
        sinks += p.successors == 0;
        const auto node = static_cast<std::uint32_t>(i);
        if (p.waits_for == 0 && (!roots.push(node) || !order.push(node))) return false;
        p.successors = 0;  // counted again below
    }
    for (const graph_edge& e : edges) {
        graph_plan& p = plan[e.from];
        successors[p.first + p.successors++] = {plan[e.to].slot};
        plan[e.to].slot->ordinal.store(e.to + 1, relaxed);
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
        const graph_plan& p = plan[order[done]];
        for (std::uint32_t k = 0; k < p.successors; ++k) {
            const std::uint32_t to = successors[p.first + k].slot->ordinal.load(relaxed) - 1;
            if (--left[to] == 0 && !order.push(to)) return false;
        }
    }
    if (order.size() == live) return true;
    char text[512];
    name_cycle(left, text, sizeof text);
    report_misuse(rt.options.assertion, "the graph has no cycle", text, __FILE__, __LINE__);
    return false;
}

/// Whoever is left waits for somebody who is left: walking backwards meets a node again.
void graph_state::name_cycle(const hooked_array<std::uint32_t>& left, char* text,
                             std::size_t size) const {
    const auto before = [&](std::uint32_t node) {
        for (const graph_edge& e : edges) {
            if (e.to == node && left[e.from] != 0) return e.from;
        }
        return no_index;
    };
    std::uint32_t at = 0;
    while (left[at] == 0) ++at;
    for (std::size_t n = 0; n < left.size(); ++n) at = before(at);  // on the cycle by now
    const auto text_of = [&](std::uint32_t node) {
        const char* own = rt.slots[records[node].slot].name;
        return own != nullptr ? own : "(no name)";
    };
    std::size_t used = 0;
    const auto say = [&](const char* what, const char* who) {
        if (used >= size) return;
        const int written = std::snprintf(text + used, size - used, "%s%s", what, who);
        used += written > 0 ? static_cast<std::size_t>(written) : 0;
    };
    say("graph '", name);
    say("' goes round, each waits for the next: ", text_of(at));
    for (std::uint32_t node = before(at);; node = before(node)) {
        say(" <- ", text_of(node));
        if (node == at) break;
    }
    say("; take one of these edges out", "");
}

}  // namespace detail

// ---- seeing ------------------------------------------------------------------------------------

std::string graph::to_dot() const {
    std::string text = "digraph {\n    rankdir=LR; node [shape=box, fontname=sans];\n";
    const auto quoted = [](const char* name) {
        std::string out = "\"";
        for (const char* c = name; *c != '\0'; ++c) {
            if (*c == '"' || *c == '\\') out += '\\';
            out += *c;
        }
        return out + '"';
    };
    for (std::uint32_t i = 0; state_ != nullptr && i < state_->records.size(); ++i) {
        const graph_record& r = state_->records[i];
        if (r.erased) continue;
        const char* name = rt_.slots[r.slot].name;
        text += "    n" + std::to_string(i) + " [label=" + quoted(name != nullptr ? name : "");
        text += r.call == nullptr ? ", shape=point];\n" : "];\n";
    }
    for (std::size_t i = 0; state_ != nullptr && i < state_->edges.size(); ++i) {
        const graph_edge& e = state_->edges[i];
        text += "    n" + std::to_string(e.from) + " -> n" + std::to_string(e.to) + ";\n";
    }
    return text + "}\n";
}

BRAID_NAMESPACE_END
