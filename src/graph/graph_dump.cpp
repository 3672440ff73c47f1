// What a graph looks like: times of nodes, Graphviz, text.
#include "base/platform/platform.hpp"
#include "braid/graph/graph.hpp"
#include "core/extension.hpp"
#include "graph/graph_state.hpp"

#include <cstdio>
#include <vector>

BRAID_NAMESPACE_BEGIN

using detail::graph_choice;
using detail::graph_edge;
using detail::graph_record;
using detail::graph_stamp;
using detail::graph_state;
using detail::no_index;
using detail::node_kind;

void graph::measure(bool on) {
    detail::core::point(rt_);
    if (state_ == nullptr || !may_edit()) return;
    state_->measured = on || state_->ranked;
    state_->edited = true;  // the next run makes room for the stamps
}

node_timing graph::timing(graph_node node) const {
    detail::core::point(rt_);
    if (!is_own(node) || node.index >= state_->stamps.size()) return {};
    const graph_stamp& stamp = state_->stamps[node.index];
    const auto since = [&](std::int64_t t) { return t - state_->began; };
    if (stamp.started == 0) return {};
    return {.ready = since(stamp.ready),
            .started = since(stamp.started),
            .ended = since(stamp.ended),
            .average = stamp.average,
            .seat = stamp.seat,
            .ran = true};
}

namespace {

std::string milliseconds_of(std::int64_t ns) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f ms", static_cast<double>(ns) / 1e6);
    return text;
}

/// In a string of Graphviz.
std::string escaped(const char* name) {
    std::string out;
    for (const char* c = name; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') out += '\\';
        out += *c;
    }
    return out;
}

bool timed(const graph_state& g, std::uint32_t node) {
    return node < g.stamps.size() && g.stamps[node].started != 0;
}

/// By node. From the node that ended last, back over the predecessor that ended last.
std::vector<bool> critical_path(const graph_state& g) {
    std::vector<bool> critical(g.records.size());
    if (g.edited || g.stamps.size() != g.records.size()) return critical;
    const auto ends_later = [&](std::uint32_t a, std::uint32_t b) {
        return b == no_index || g.stamps[a].ended > g.stamps[b].ended;
    };
    std::uint32_t at = no_index;
    for (const std::uint32_t node : g.order) {
        if (timed(g, node) && ends_later(node, at)) at = node;
    }
    while (at != no_index) {
        critical[at] = true;
        std::uint32_t before = no_index;
        for (const graph_edge& e : g.all_edges) {
            if (e.to == at && ends_later(e.from, before)) before = e.from;
        }
        at = before;
    }
    return critical;
}

/// One picture of one graph.
class dot_writer {
public:
    explicit dot_writer(const graph_state& g) : g_(g), critical_(critical_path(g)) {}

    std::string write() {
        text_ = "digraph {\n    rankdir=LR; compound=true; node [shape=box, fontname=sans];\n";
        write_members(no_index, "    ");
        for (const graph_edge& e : g_.edges) write_edge(e, false);
        for (std::size_t i = g_.of_accesses; i < g_.all_edges.size(); ++i) {
            write_edge(g_.all_edges[i], true);
        }
        return std::move(text_) + "}\n";
    }

private:
    void write_members(std::uint32_t group, const std::string& indent) {
        for (std::uint32_t i = 0; i < g_.records.size(); ++i) {
            const graph_record& r = g_.records[i];
            if (r.erased || r.group != group) continue;
            const std::string number = std::to_string(i);
            if (!r.is_group()) {
                if (r.kind != node_kind::group_end) write_node(i, indent);
                continue;
            }
            const std::string inner = indent + "    ";
            const char* const how = r.kind == node_kind::serial_begin ? " (serial)" : "";
            text_.append(indent).append("subgraph cluster_").append(number).append(" {\n");
            text_.append(inner).append("label=\"").append(escaped(g_.name_of(i))).append(how);
            text_.append("\"; fontname=sans; style=rounded;\n");
            text_.append(inner).append("n").append(number).append(" [shape=point, style=invis];\n");
            write_members(i, inner);
            text_.append(indent).append("}\n");
        }
    }

    void write_node(std::uint32_t node, const std::string& indent) {
        text_ += indent + "n" + std::to_string(node) + " [label=\"" + escaped(g_.name_of(node));
        if (timed(g_, node)) {
            const graph_stamp& stamp = g_.stamps[node];
            text_ += "\\n" + milliseconds_of(stamp.ended - stamp.started);
        }
        text_ += '"';
        if (g_.records[node].call == nullptr) text_ += ", shape=point";
        if (critical_[node]) text_ += ", color=red, penwidth=2";
        text_ += "];\n";
    }

    void write_edge(const graph_edge& e, bool of_accesses) {
        // An edge of a group touches its frame.
        const std::uint32_t from =
            g_.records[e.from].kind == node_kind::group_end ? e.from - 1 : e.from;
        std::string how;
        const auto say = [&](const std::string& what) { how += (how.empty() ? "" : ", ") + what; };
        if (from != e.from) say("ltail=cluster_" + std::to_string(from));
        if (g_.records[e.to].is_group()) say("lhead=cluster_" + std::to_string(e.to));
        if (of_accesses) say("style=dotted");
        const std::string values = values_of(e);
        if (!values.empty()) say("style=dashed, label=\"" + values + "\", fontname=sans");
        if (critical_[e.from] && critical_[e.to]) say("color=red, penwidth=2");
        text_ += "    n" + std::to_string(from) + " -> n" + std::to_string(e.to);
        text_ += how.empty() ? ";\n" : " [" + how + "];\n";
    }

    std::string values_of(const graph_edge& e) const {
        std::string values;
        for (const graph_choice& c : g_.choices) {
            if (c.condition != e.from || c.to != e.to) continue;
            values += (values.empty() ? "" : " or ") + std::to_string(c.value);
        }
        return values;
    }

    const graph_state& g_;
    std::vector<bool> critical_;
    std::string text_;
};

}  // namespace

std::string graph::to_dot() const {
    detail::core::point(rt_);
    if (state_ == nullptr) return "digraph {\n}\n";
    state_->sort_if_edited();
    return dot_writer(*state_).write();
}

status graph::write_svg(const char* path) const {
    const std::string text = to_dot();
    const char* const arguments[] = {"dot", "-Tsvg", "-o", path, nullptr};
    char said[200];
    const int code = platform::run_program(arguments, text.data(), text.size(), said, sizeof said);
    if (code == 0) return {};
    if (code < 0 || code == 127) {
        return {-1, "the program `dot` could not be run; install graphviz"};
    }
    return {code, "dot could not write '" + std::string(path) + "': " + said};
}

std::string graph::to_text() const {
    detail::core::point(rt_);
    if (state_ == nullptr) return "";
    graph_state& g = *state_;
    if (!g.sort_if_edited()) return "";
    const std::vector<bool> critical = critical_path(g);
    std::string text = "graph '" + std::string(g.name) + "', " + std::to_string(size()) +
                       " nodes, " + std::to_string(g.edges.size()) + " edges\n";
    for (const std::uint32_t node : g.order) {
        const graph_record& r = g.records[node];
        if (r.call == nullptr) continue;
        if (timed(g, node)) {
            const graph_stamp& stamp = g.stamps[node];
            char times[96];
            std::snprintf(times, sizeof times, "%c at %9.3f ms, ran %9.3f ms, seat %2u  ",
                          critical[node] ? '*' : ' ',
                          static_cast<double>(stamp.started - g.began) / 1e6,
                          static_cast<double>(stamp.ended - stamp.started) / 1e6, stamp.seat);
            text += times;
        }
        text += g.name_of(node);
        const char* separator = " after ";
        for (const graph_edge& e : g.edges) {
            if (e.to != node) continue;
            text += separator;
            text += g.name_of(e.from);
            separator = ", ";
        }
        text += '\n';
    }
    return text;
}

BRAID_NAMESPACE_END
