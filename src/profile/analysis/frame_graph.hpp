#pragma once
// One frame as a graph of pieces: bodies, cut where others depend on them or they on others. The
// critical path, slack, savings and what-if all come from it.

#include "profile/analysis/history.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

/// A piece of a body between two cuts; or the completion of a task, which takes no time; or the
/// work of somebody outside, which takes no core. Times are cut off at the frame's begin and end.
struct graph_node {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t ready = 0;      // all that it waits for is over; before that it cannot begin
    std::uint64_t preempted = 0;  // of end - begin
    std::int64_t gap = 0;         // from the end of the last one that it waits for to its begin
    std::uint32_t task = none;
    std::uint32_t body = none;                 // none: a completion, or outside
    std::uint32_t previous = none;             // the piece before it of its body
    std::uint32_t first_needs = 0, needs = 0;  // frame_graph::needs_of()
    std::uint32_t latest = none;               // of those the one that was over last
    bool first = false;                        // with it its body begins
    bool after_wait = false;                   // its body waited between `previous` and it
    bool needed = false;                       // the frame's end depends on it

    bool is_outside() const { return body == none && end > begin; }
};

struct frame_graph {
    const history* from = nullptr;
    frame_row frame;
    std::vector<graph_node> nodes;
    std::vector<std::uint32_t> needs;  // all nodes', one after the other
    std::vector<std::uint32_t> order;  // what is needed comes before what needs it
    std::uint32_t last = none;         // the node at whose end the frame ended

    std::span<const std::uint32_t> needs_of(const graph_node& n) const {
        return std::span(needs).subspan(n.first_needs, n.needs);
    }
    /// Of the body that the node is a piece of.
    std::uint32_t type_of(const graph_node& n) const {
        return n.body == none ? 0 : from->bodies[n.body].type;
    }
};

frame_graph make_frame_graph(const history& from, const frame_row& frame);

/// What would be otherwise in a frame.
struct change {
    std::uint32_t node = none;
    std::uint64_t less_gap = 0;   // it begins that much sooner after what it waits for
    std::uint64_t less_time = 0;  // it takes that much less
};

/// The frame with these changes, when each piece still begins as long after what it waits for as it
/// did, and takes as long: what other pieces make of the freed core does not count.
struct retimed {
    std::vector<std::int64_t> ends;     // of each node, since the frame's begin
    std::vector<std::uint32_t> latest;  // of what each node needs, the one that is over last now
    std::uint64_t saved = 0;            // how much sooner the frame ends
};
retimed retime(const frame_graph& graph, std::span<const change> changes);

/// How much sooner the frame would have ended: retimed::saved.
std::uint64_t saving(const frame_graph& graph, std::span<const change> changes);

}  // namespace profile
BRAID_NAMESPACE_END
