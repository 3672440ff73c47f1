// The plan that runs follow: edges of groups, the order of nodes, cycles.
#include "graph/graph_state.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

BRAID_NAMESPACE_BEGIN
namespace detail {

bool graph_state::contains(const graph_state* other) const {
    if (this == other) return true;
    return std::any_of(inner.begin(), inner.end(),
                       [&](const graph_inner& i) { return i.graph->contains(other); });
}

void graph_state::number_plan() {
    static constinit atomic<std::uint64_t> numbers{0};
    plan_number = numbers.fetch_add(1, relaxed) + 1;
    runs_of_plan = 0;
}

bool graph_state::sort() {
    const std::size_t n = records.size();
    graph_array<std::uint32_t> left(core::memory(rt));  // predecessors not in the order yet
    order.clear();
    if (!collect_edges() || !plan.reset(n) || !successors.reset(all_edges.size()) ||
        !left.reset(n) || !stamps.reset(measured ? n : 0) || (ranked && !ranking.reset(n)) ||
        !count_edges(left)) {
        return false;
    }
    special = choices.size() != 0 || idempotent.size() != 0;
    number_plan();
    for (const graph_edge& e : all_edges) {
        graph_plan& p = plan[e.from];
        successors[p.first + p.successors++] = plan[e.to].task;
        plan[e.to].task.set_number(e.to + 1);
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
        const graph_plan& p = plan[order[done]];
        for (std::uint32_t k = 0; k < p.successors; ++k) {
            const std::uint32_t to = successors[p.first + k].number() - 1;
            if (--left[to] == 0 && !order.push(to)) return false;
        }
    }
    if (order.size() == live) {
        ++sorted;
        return true;
    }
    char text[512];
    name_cycle(left, text, sizeof text);
    report_misuse(core::misuse(rt), "the graph has no cycle", text, __FILE__, __LINE__);
    return false;
}

bool graph_state::sort_if_edited() {
    const locked lock(beginning);
    if (edited && sort()) edited = false;
    return !edited;
}

bool graph_state::collect_edges() {
    std::sort(choices.begin(), choices.end());
    std::sort(idempotent.begin(), idempotent.end(),
              [](const auto& a, const auto& b) { return a.node < b.node; });
    all_edges.clear();
    for (const graph_edge& e : edges) {
        if (!all_edges.push(e)) return false;
    }
    return (groups == 0 || add_members()) && add_accesses();
}

/// begin -> each member -> end; serial: begin -> first -> second … -> end.
bool graph_state::add_members() {
    const std::size_t n = records.size();
    // What the end of a group has still to wait for, or no_index.
    graph_array<std::uint32_t> open(core::memory(rt));
    if (!open.reset(n)) return false;
    for (std::uint32_t i = 0; i < n; ++i) open[i] = i;
    for (std::uint32_t i = 0; i < n; ++i) {
        const graph_record& r = records[i];
        if (r.erased || r.kind == node_kind::group_end || r.group == no_index) continue;
        const std::uint32_t group = r.group;
        if (records[group].kind == node_kind::serial_begin) {
            if (!all_edges.push({open[group], i})) return false;
            open[group] = end_of(i);
        } else {
            if (!all_edges.push({group, i}) || !all_edges.push({end_of(i), group + 1}))
                return false;
            open[group] = no_index;
        }
    }
    for (std::uint32_t i = 0; i < n; ++i) {
        const graph_record& r = records[i];
        if (r.erased || !r.is_group() || open[i] == no_index) continue;
        if (!all_edges.push({open[i], i + 1})) return false;
    }
    return true;
}

/// A reader after the last writer, a writer after that and after those who have read since.
bool graph_state::add_accesses() {
    std::sort(accesses.begin(), accesses.end(), [](const graph_access& a, const graph_access& b) {
        if (a.what != b.what) return std::less<>()(a.what, b.what);
        return a.node != b.node ? a.node < b.node : a.writes > b.writes;
    });
    of_accesses = all_edges.size();
    std::size_t writer = accesses.size(), first_reader = 0;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        const graph_access& a = accesses[i];
        if (i == 0 || a.what != accesses[i - 1].what) {
            writer = accesses.size();
            first_reader = i;
        } else if (a.node == accesses[i - 1].node) {
            continue;  // it reads what it writes, or says so twice
        }
        const bool written = writer != accesses.size();
        if (written && !all_edges.push({accesses[writer].node, a.node})) return false;
        if (!a.writes) continue;
        for (std::size_t r = first_reader; r < i; ++r) {
            const std::uint32_t reader = accesses[r].node;
            const bool other = !accesses[r].writes && reader != a.node;
            if (other && !all_edges.push({reader, a.node})) return false;
        }
        writer = i;
        first_reader = i + 1;
    }
    return true;
}

/// Predecessors and successors of each node; roots open the order.
bool graph_state::count_edges(graph_array<std::uint32_t>& left) {
    const std::size_t n = records.size();
    for (std::size_t i = 0; i < n; ++i) {
        plan[i].call = records[i].call;
        plan[i].index = records[i].slot;
        if (!records[i].erased) plan[i].task = core::own_task(rt, records[i].slot);
    }
    for (const graph_edge& e : all_edges) {
        ++plan[e.from].successors;
        ++plan[e.to].waits_for;
    }
    std::uint32_t first = 0;
    sinks = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        graph_plan& p = plan[i];
        p.first = first;
        first += p.successors;
        left[i] = p.waits_for;
        if (records[i].erased) continue;
        sinks += p.successors == 0;
        if (p.waits_for == 0 && !order.push(i)) return false;
        p.successors = 0;  // counted again by sort()
    }
    roots = order.size();
    return true;
}

/// A node that is left waits for another one that is left: walking backwards meets a node again.
void graph_state::name_cycle(const graph_array<std::uint32_t>& left, char* text,
                             std::size_t size) const {
    const auto before = [&](std::uint32_t node) {
        for (const graph_edge& e : all_edges) {
            if (e.to == node && left[e.from] != 0) return e.from;
        }
        return no_index;
    };
    std::uint32_t at = 0;
    while (left[at] == 0) ++at;
    for (std::size_t n = 0; n < left.size(); ++n) at = before(at);  // on the cycle by now
    const auto text_of = [&](std::uint32_t node) {
        if (records[node].kind == node_kind::group_end) --node;
        return *name_of(node) != '\0' ? name_of(node) : "(no name)";
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

BRAID_NAMESPACE_END
