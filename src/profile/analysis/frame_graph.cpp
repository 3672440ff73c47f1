#include "profile/analysis/frame_graph.hpp"

#include <algorithm>
#include <unordered_map>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

class graph_builder {
public:
    graph_builder(const history& from, const frame_row& frame) : t_(from) {
        graph_.from = &from;
        graph_.frame = frame;
    }
    frame_graph build();

private:
    struct piece_range {
        std::uint32_t first = 0, count = 0;
    };
    void add_bodies();
    void add_pieces(std::uint32_t body);
    void add_piece(std::uint32_t body, std::uint64_t begin, std::uint64_t end, bool after_wait);
    std::uint64_t preempted(std::uint32_t body, std::uint64_t begin, std::uint64_t end) const;
    void add_needs_of_pieces();
    void add_need_of_spawn(std::uint32_t node, const task_row& row);
    void add_needs_of_body(std::uint32_t node, const body_row& body);
    void add_needs_of_task(std::uint32_t node, std::uint32_t task);
    void add_need_of_wait(std::uint32_t node, const mark& end);
    void add_needs_of_completions();
    void add_what_is_outside();
    void add_end();
    void need(std::uint32_t node, std::uint32_t other);
    std::uint32_t completion_of(std::uint32_t task);
    std::uint32_t piece_at(std::uint32_t body, std::uint64_t time) const;
    std::uint32_t control_at(std::uint32_t body, std::uint64_t time) const;
    std::uint32_t last_completed(std::uint64_t after, std::uint64_t until) const;
    void index_needs();
    void sort();
    void mark_needed();
    void measure_gaps();

    const history& t_;
    frame_graph graph_;
    std::vector<std::uint32_t> bodies_;
    std::unordered_map<std::uint32_t, piece_range> pieces_;         // of a body
    std::unordered_map<std::uint32_t, std::uint32_t> completions_;  // of a task: its node
    std::vector<std::uint32_t> to_do_;                              // tasks with a new completion
    std::vector<std::pair<std::uint32_t, std::uint32_t>> needs_;    // node, what it needs
};

/// All that ran between the frame's begin and its end.
void graph_builder::add_bodies() {
    const std::uint64_t begin = graph_.frame.begin, end = graph_.frame.end;
    for (const lane_row& lane : t_.lanes) {
        const auto first = t_.bodies.begin() + lane.first_body;
        const auto last = first + lane.bodies;
        const auto earlier = [](const body_row& b, std::uint64_t time) { return b.begin < time; };
        const auto from = std::lower_bound(first, last, begin, earlier);
        const auto to = std::lower_bound(from, last, end, earlier);
        const std::size_t opens = bodies_.size();
        // Those that are open at the begin lie below the last one that had begun.
        for (auto body = from == first ? none
                                       : static_cast<std::uint32_t>(from - t_.bodies.begin() - 1);
             body != none; body = t_.bodies[body].below) {
            if (t_.bodies[body].end > begin) bodies_.push_back(body);
        }
        std::reverse(bodies_.begin() + static_cast<std::ptrdiff_t>(opens), bodies_.end());
        for (auto body = from; body != to; ++body) {
            bodies_.push_back(static_cast<std::uint32_t>(body - t_.bodies.begin()));
        }
    }
}

std::uint64_t graph_builder::preempted(std::uint32_t body, std::uint64_t begin,
                                       std::uint64_t end) const {
    const std::vector<absence>& all = t_.lanes[t_.bodies[body].lane].absences;
    if (all.empty()) return 0;
    std::uint64_t sum = 0;
    auto at = std::lower_bound(all.begin(), all.end(), begin,
                               [](const absence& a, auto time) { return a.when.end <= time; });
    for (; at != all.end() && at->when.begin < end; ++at) {
        if (at->body != body) continue;
        sum += std::min(at->when.end, end) - std::max(at->when.begin, begin);
    }
    return sum;
}

void graph_builder::add_piece(std::uint32_t body, std::uint64_t begin, std::uint64_t end,
                              bool after_wait) {
    graph_node n;
    const body_row& row = t_.bodies[body];
    n.begin = std::clamp(begin, graph_.frame.begin, graph_.frame.end);
    n.end = std::clamp(end, n.begin, graph_.frame.end);
    n.preempted = preempted(body, n.begin, n.end);
    n.task = row.task;
    n.body = body;
    piece_range& range = pieces_[body];
    const auto number = static_cast<std::uint32_t>(graph_.nodes.size());
    if (range.count++ == 0) {
        range.first = number;
        n.first = row.begin >= graph_.frame.begin && row.kind != body_kind::root;
    } else {
        n.previous = number - 1;
    }
    n.after_wait = after_wait;
    graph_.nodes.push_back(n);
}

void graph_builder::add_pieces(std::uint32_t body) {
    const body_row& row = t_.bodies[body];
    const bool root = row.kind == body_kind::root;
    if (root && t_.lanes[row.lane].of_scheduler) return;
    const std::uint64_t begin = graph_.frame.begin, end = graph_.frame.end;
    const std::span<const mark> marks = t_.marks_of(row);
    auto at = std::lower_bound(marks.begin(), marks.end(), begin,
                               [](const mark& m, std::uint64_t time) { return m.time < time; });
    bool waits = at != marks.begin() && at[-1].waits;
    bool after_wait = waits;
    std::uint64_t from = std::max(row.begin, begin);
    for (; at != marks.end() && at->time <= end; ++at) {
        if (at->kind == mark_kind::wait_end) {
            from = at->time;
            waits = false;
            after_wait = true;
        } else if (!waits) {
            add_piece(body, from, at->time, after_wait);
            after_wait = false;
            from = at->time;
            waits = at->kind == mark_kind::wait_begin;
        }
    }
    if (!waits) add_piece(body, from, std::min(row.end, end), after_wait);
}

/// The last piece of the body that was over at that time.
std::uint32_t graph_builder::piece_at(std::uint32_t body, std::uint64_t time) const {
    const auto found = pieces_.find(body);
    if (found == pieces_.end()) return none;
    const auto first = graph_.nodes.begin() + found->second.first;
    const auto after =
        std::upper_bound(first, first + found->second.count, time,
                         [](std::uint64_t t, const graph_node& n) { return t < n.end; });
    return after == first ? none : static_cast<std::uint32_t>(after - graph_.nodes.begin() - 1);
}

/// What the thread had done when it came to that point. Between bodies the scheduler goes on from
/// the one that has ended: it releases its successors and spawns the nodes of a graph.
std::uint32_t graph_builder::control_at(std::uint32_t body, std::uint64_t time) const {
    if (body == none) return none;
    const std::uint32_t own = piece_at(body, time);
    if (!t_.is_idle(body, time)) return own;
    const lane_row& lane = t_.lanes[t_.bodies[body].lane];
    const auto first = t_.bodies.begin() + lane.first_body;
    const auto after =
        std::upper_bound(first, first + lane.bodies, time,
                         [](std::uint64_t t, const body_row& b) { return t < b.begin; });
    const auto last = static_cast<std::uint32_t>(after - t_.bodies.begin() - 1);
    const std::uint32_t above = t_.next_above(body, last);
    const std::uint32_t piece = above != none ? piece_at(above, time) : none;
    return piece != none && (own == none || graph_.nodes[piece].end >= graph_.nodes[own].end)
               ? piece
               : own;
}

std::uint32_t graph_builder::completion_of(std::uint32_t task) {
    if (task == none) return none;
    const task_row& row = t_.tasks[task];
    const std::uint64_t time = row.completed != unknown ? row.completed
                               : row.children == 0      ? row.ended
                                                        : unknown;
    if (time == unknown || time < graph_.frame.begin || time > graph_.frame.end) return none;
    if (row.body != none && row.children == 0) return piece_at(row.last_body, graph_.frame.end);
    const auto [at, added] =
        completions_.try_emplace(task, static_cast<std::uint32_t>(graph_.nodes.size()));
    if (added) {
        graph_node n;
        n.begin = n.end = time;
        if (row.external) {
            const bool before = row.spawned == unknown || row.spawned < graph_.frame.begin;
            n.begin = before ? graph_.frame.begin : std::min(row.spawned, time);
        }
        n.task = task;
        graph_.nodes.push_back(n);
        to_do_.push_back(task);
    }
    return at->second;
}

void graph_builder::need(std::uint32_t node, std::uint32_t other) {
    if (other != none && other != node) needs_.emplace_back(node, other);
}

void graph_builder::add_need_of_spawn(std::uint32_t node, const task_row& row) {
    if (row.spawned != unknown && row.spawned >= graph_.frame.begin) {
        need(node, control_at(row.spawned_in, row.spawned));
    }
}

/// A task that was suspended goes on after what it awaited. What it awaited later, it needed later.
void graph_builder::add_needs_of_body(std::uint32_t node, const body_row& body) {
    const task_row& row = t_.tasks[body.task];
    if (!row.was_suspended()) return add_needs_of_task(node, body.task);
    if (body.earlier == none) add_need_of_spawn(node, row);
    if (body.earlier != none) need(node, piece_at(body.earlier, graph_.frame.end));
    for (const std::uint32_t other : t_.predecessors_of(row)) {
        if (t_.tasks[other].completed <= body.begin) need(node, completion_of(other));
    }
}

void graph_builder::add_needs_of_task(std::uint32_t node, std::uint32_t task) {
    const task_row& row = t_.tasks[task];
    add_need_of_spawn(node, row);
    bool listed = false;
    for (const std::uint32_t other : t_.predecessors_of(row)) {
        need(node, completion_of(other));
        listed = listed || other == row.releaser;
    }
    if (!listed) need(node, completion_of(row.releaser));
}

/// The task that completed last in that time, of those that a frame may wait for.
std::uint32_t graph_builder::last_completed(std::uint64_t after, std::uint64_t until) const {
    auto at = std::upper_bound(
        t_.by_completion.begin(), t_.by_completion.end(), until,
        [&](std::uint64_t time, std::uint32_t task) { return time < t_.tasks[task].completed; });
    for (unsigned looks = 0; at != t_.by_completion.begin() && looks < 64; ++looks) {
        const std::uint32_t task = *--at;
        if (t_.tasks[task].completed < after) break;
        if (!t_.tasks[task].has(spawn_background)) return task;
    }
    return none;
}

/// A wait for a scope or for all work says no task: what completed last before its end ended it.
void graph_builder::add_need_of_wait(std::uint32_t node, const mark& end) {
    const std::uint32_t previous = graph_.nodes[node].previous;
    const std::uint64_t began = previous == none ? graph_.frame.begin : graph_.nodes[previous].end;
    if (end.task != none) {
        need(node, completion_of(end.task));
    } else if (end.from_body != none) {
        need(node, control_at(end.from_body, end.from_time));
    } else {
        need(node, completion_of(last_completed(began, end.time)));
    }
}

void graph_builder::add_needs_of_pieces() {
    for (const std::uint32_t body : bodies_) {
        const auto found = pieces_.find(body);
        if (found == pieces_.end()) continue;
        const body_row& row = t_.bodies[body];
        const std::uint32_t first = found->second.first;
        if (graph_.nodes[first].first) {
            if (row.kind == body_kind::task) add_needs_of_body(first, row);
            if (row.kind == body_kind::job) need(first, control_at(row.from_body, row.from_time));
        }
        for (std::uint32_t i = 0; i < found->second.count; ++i) {
            const std::uint32_t node = first + i;
            need(node, graph_.nodes[node].previous);
            if (!graph_.nodes[node].after_wait) continue;
            const std::span<const mark> marks = t_.marks_of(row);
            const auto end =
                std::lower_bound(marks.begin(), marks.end(), graph_.nodes[node].begin,
                                 [](const mark& m, std::uint64_t time) { return m.time < time; });
            for (auto at = end; at != marks.end() && at->time == graph_.nodes[node].begin; ++at) {
                if (at->kind == mark_kind::wait_end) {
                    add_need_of_wait(node, *at);
                    break;
                }
            }
        }
        // A parent completes when its children have.
        if (row.kind == body_kind::task && t_.tasks[row.task].parent != none) {
            const std::uint32_t parent = completion_of(t_.tasks[row.task].parent);
            if (parent != none) need(parent, completion_of(row.task));
        }
    }
}

/// A task completes when all that it waits for outside has, and that has no bodies.
void graph_builder::add_what_is_outside() {
    for (const std::uint32_t task : t_.external) {
        const std::uint32_t parent = completion_of(t_.tasks[task].parent);
        if (parent != none) need(parent, completion_of(task));
    }
}

void graph_builder::add_needs_of_completions() {
    while (!to_do_.empty()) {
        const std::uint32_t task = to_do_.back();
        to_do_.pop_back();
        const std::uint32_t node = completions_.at(task);
        const task_row& row = t_.tasks[task];
        if (row.body != none) {
            need(node, piece_at(row.last_body, graph_.frame.end));
        } else {
            add_needs_of_task(node, task);
            if (row.parent != none) need(completion_of(row.parent), node);
        }
    }
}

/// need() with a completion outside of the frame on its left does nothing.
void graph_builder::index_needs() {
    std::erase_if(needs_, [](const auto& n) { return n.first == none; });
    for (const auto& [node, other] : needs_) ++graph_.nodes[node].needs;
    std::uint32_t next = 0;
    for (graph_node& n : graph_.nodes) {
        n.first_needs = next;
        next += n.needs;
        n.needs = 0;
    }
    graph_.needs.resize(needs_.size());
    for (const auto& [node, other] : needs_) {
        graph_node& n = graph_.nodes[node];
        graph_.needs[n.first_needs + n.needs++] = other;
    }
}

/// Kahn, "Topological sorting of large networks" (1962). What a broken capture puts into a circle
/// never comes; it is left out of the order and keeps the times that it has.
void graph_builder::sort() {
    const std::size_t count = graph_.nodes.size();
    std::vector<std::uint32_t> first(count + 1, 0), users(graph_.needs.size()), open(count);
    for (const std::uint32_t other : graph_.needs) ++first[other + 1];
    for (std::size_t i = 0; i < count; ++i) first[i + 1] += first[i];
    std::vector<std::uint32_t> at(first.begin(), first.end() - 1);
    for (std::uint32_t i = 0; i < count; ++i) {
        open[i] = graph_.nodes[i].needs;
        for (const std::uint32_t other : graph_.needs_of(graph_.nodes[i])) users[at[other]++] = i;
        if (open[i] == 0) graph_.order.push_back(i);
    }
    for (std::size_t next = 0; next < graph_.order.size(); ++next) {
        const std::uint32_t done = graph_.order[next];
        for (std::uint32_t u = first[done]; u < first[done + 1]; ++u) {
            if (--open[users[u]] == 0) graph_.order.push_back(users[u]);
        }
    }
}

void graph_builder::mark_needed() {
    if (graph_.last == none) return;
    graph_.nodes[graph_.last].needed = true;
    for (auto at = graph_.order.rbegin(); at != graph_.order.rend(); ++at) {
        if (!graph_.nodes[*at].needed) continue;
        for (const std::uint32_t o : graph_.needs_of(graph_.nodes[*at])) {
            graph_.nodes[o].needed = true;
        }
    }
}

void graph_builder::measure_gaps() {
    for (const std::uint32_t i : graph_.order) {
        graph_node& n = graph_.nodes[i];
        for (const std::uint32_t other : graph_.needs_of(n)) {
            if (n.latest == none || graph_.nodes[other].end >= graph_.nodes[n.latest].end) {
                n.latest = other;
            }
        }
        n.ready = n.latest == none ? graph_.frame.begin : graph_.nodes[n.latest].end;
        n.gap = static_cast<std::int64_t>(n.begin - graph_.frame.begin) -
                static_cast<std::int64_t>(n.ready - graph_.frame.begin);
        if (n.first && n.task != none && t_.bodies[n.body].kind == body_kind::task) {
            const std::uint64_t said = t_.tasks[n.task].ready;
            if (said != unknown) n.ready = std::max(n.ready, said);
        }
        n.ready = std::min(n.ready, n.begin);
    }
}

/// The piece that said the frame's end. Where that is not known, what ended last.
void graph_builder::add_end() {
    graph_.last = control_at(graph_.frame.end_body, graph_.frame.end);
    if (graph_.last != none) return;
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
        const graph_node& n = graph_.nodes[i];
        if (n.body == none || n.task == none || t_.tasks[n.task].has(spawn_background)) continue;
        if (graph_.last == none || n.end > graph_.nodes[graph_.last].end) graph_.last = i;
    }
}

frame_graph graph_builder::build() {
    add_bodies();
    for (const std::uint32_t body : bodies_) add_pieces(body);
    add_end();
    add_needs_of_pieces();
    add_what_is_outside();
    add_needs_of_completions();
    index_needs();
    sort();
    measure_gaps();
    mark_needed();
    return std::move(graph_);
}

}  // namespace

frame_graph make_frame_graph(const history& from, const frame_row& frame) {
    return graph_builder(from, frame).build();
}

retimed retime(const frame_graph& graph, std::span<const change> changes) {
    std::unordered_map<std::uint32_t, change> of;
    for (const change& c : changes) {
        change& sum = of[c.node];
        sum.less_gap += c.less_gap;
        sum.less_time += c.less_time;
    }
    const auto base = graph.frame.begin;
    const auto since = [&](std::uint64_t t) { return static_cast<std::int64_t>(t - base); };
    retimed to;
    to.ends.resize(graph.nodes.size());
    to.latest.assign(graph.nodes.size(), none);
    for (std::size_t i = 0; i < to.ends.size(); ++i) to.ends[i] = since(graph.nodes[i].end);
    for (const std::uint32_t i : graph.order) {
        const graph_node& n = graph.nodes[i];
        std::int64_t begin = since(n.begin);
        for (const std::uint32_t other : graph.needs_of(n)) {
            std::uint32_t& latest = to.latest[i];
            if (latest == none || to.ends[other] >= to.ends[latest]) latest = other;
        }
        if (to.latest[i] != none) begin = to.ends[to.latest[i]] + n.gap;
        std::int64_t length = static_cast<std::int64_t>(n.end - n.begin);
        if (const auto found = of.find(i); found != of.end()) {
            // Two causes may have filled the same gap: there is no more of it than it has.
            begin -= std::min(static_cast<std::int64_t>(found->second.less_gap),
                              std::max<std::int64_t>(n.gap, 0));
            length -= std::min(length, static_cast<std::int64_t>(found->second.less_time));
        }
        to.ends[i] = begin + length;
    }
    if (graph.last == none) return to;
    const std::int64_t saved = since(graph.nodes[graph.last].end) - to.ends[graph.last];
    to.saved = saved > 0 ? static_cast<std::uint64_t>(saved) : 0;
    return to;
}

std::uint64_t saving(const frame_graph& graph, std::span<const change> changes) {
    return retime(graph, changes).saved;
}

}  // namespace profile
BRAID_NAMESPACE_END
