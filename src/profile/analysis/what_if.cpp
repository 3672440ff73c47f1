// List scheduling after Graham, "Bounds for certain multiprocessing anomalies" (1966), with events.
#include "profile/analysis/what_if.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>
#include <tuple>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

class simulation {
public:
    simulation(const frame_model& model, const machine& on)
        : model_(model), graph_(model.graph), on_(on), open_(graph_.nodes.size()) {
        const unsigned all = on.cores + model.devices;
        for (unsigned core = 0; core < all; ++core) idle_.insert(core);
        pinned_.resize(all);
        to_come_.resize(all);
        for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
            if (model.takes_part[i] && is_restricted(i)) ++to_come_[core_of(i)];
        }
        index_users();
    }
    double run();

private:
    enum class what : std::uint8_t { core_free, arrival, over_early };
    struct event {
        double time;
        std::uint32_t node;
        unsigned core;
        what kind;
        bool operator>(const event& o) const {
            return std::tie(time, kind, node) > std::tie(o.time, o.kind, o.node);
        }
    };
    struct waiting {
        unsigned rank;  // lower first
        std::uint64_t since;
        std::uint32_t node;
        bool operator>(const waiting& o) const {
            return std::tie(rank, since) > std::tie(o.rank, o.since);
        }
    };
    template <class T>
    using first_out = std::priority_queue<T, std::vector<T>, std::greater<>>;

    void index_users();
    void begin();
    /// All that it needs is over.
    void ready(std::uint32_t node);
    void enqueue(std::uint32_t node);
    void over(std::uint32_t node);
    void release_users(std::uint32_t node);
    unsigned rank_of(const graph_node& n) const;
    void dispatch();
    void end_piece(const event& e);
    void start(std::uint32_t node, unsigned core);
    double length(const graph_node& n, unsigned core) const;
    double time_outside(std::uint32_t node) const;
    bool is_restricted(std::uint32_t node) const;
    unsigned core_of(std::uint32_t node) const {
        const std::uint32_t lane = graph_.from->bodies[graph_.nodes[node].body].lane;
        const std::uint32_t number = model_.core_of_lane[lane];
        return graph_.from->lanes[lane].kind == lane_kind::device ? on_.cores + number
                                                                  : number % on_.cores;
    }
    bool is_device(unsigned core) const { return core >= on_.cores; }
    bool is_slow(unsigned core) const {
        return !is_device(core) && core + on_.slow_cores >= on_.cores;
    }

    const frame_model& model_;
    const frame_graph& graph_;
    const machine& on_;
    std::vector<std::uint32_t> open_, first_user_, users_;
    first_out<event> events_;
    first_out<waiting> queue_;
    std::vector<first_out<waiting>> pinned_;                  // of a core
    std::vector<std::uint32_t> to_come_;                      // restricted ones that did not begin
    std::unordered_set<std::uint32_t> over_early_, gone_on_;  // pieces with frame_model::less
    std::set<unsigned> idle_;                                 // fast ones have the low numbers
    std::vector<std::uint32_t> over_;                         // whose users are not told yet
    std::uint32_t continues_ = none;  // the piece after the one that is over, on its core
    std::uint64_t arrivals_ = 0;
    double now_ = 0, end_ = 0;
};

void simulation::index_users() {
    first_user_.assign(graph_.nodes.size() + 1, 0);
    const auto for_each_need = [&](auto&& take) {
        for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
            if (!model_.takes_part[i]) continue;
            for (const std::uint32_t other : graph_.needs_of(graph_.nodes[i])) {
                if (model_.takes_part[other]) take(i, other);
            }
        }
    };
    for_each_need([&](std::uint32_t i, std::uint32_t other) {
        ++open_[i];
        ++first_user_[other + 1];
    });
    for (std::size_t i = 1; i < first_user_.size(); ++i) first_user_[i] += first_user_[i - 1];
    users_.resize(first_user_.back());
    std::vector<std::uint32_t> at(first_user_.begin(), first_user_.end() - 1);
    for_each_need([&](std::uint32_t i, std::uint32_t other) { users_[at[other]++] = i; });
}

double simulation::length(const graph_node& n, unsigned core) const {
    double time = static_cast<double>(n.end - n.begin - std::min(n.preempted, n.end - n.begin));
    if (graph_.type_of(n) == on_.faster_type) time /= on_.times;
    if (n.first && !is_device(core)) time += static_cast<double>(model_.overhead);
    return is_slow(core) ? time * on_.slow_factor : time;
}

/// It takes as long as it did, and no core.
double simulation::time_outside(std::uint32_t node) const {
    const graph_node& n = graph_.nodes[node];
    if (!n.is_outside()) return 0;
    const auto less = model_.less.find(node);
    const std::uint64_t time = n.end - n.begin;
    return static_cast<double>(less == model_.less.end() ? time
                                                         : time - std::min(time, less->second));
}

void simulation::start(std::uint32_t node, unsigned core) {
    idle_.erase(core);
    if (is_restricted(node)) --to_come_[core];
    const double time = length(graph_.nodes[node], core);
    const auto less = model_.less.find(node);
    const bool sooner = less != model_.less.end();
    const double early = sooner ? std::max(0.0, time - static_cast<double>(less->second)) : time;
    const bool shared = model_.shared.contains(node);
    events_.push({now_ + (shared ? early : time), node, core, what::core_free});
    if (sooner && !shared) events_.push({now_ + early, node, core, what::over_early});
}

/// Who comes back from a wait has its core at once: it never left it.
unsigned simulation::rank_of(const graph_node& n) const {
    if (!n.first || n.task == none) return 0;
    const auto& first = on_.favoured_types;
    if (std::find(first.begin(), first.end(), graph_.type_of(n)) != first.end()) return 0;
    if (on_.recorded_order) return 1;
    return 3 - std::min(graph_.from->tasks[n.task].priority(), 2U);
}

bool simulation::is_restricted(std::uint32_t node) const {
    const graph_node& n = graph_.nodes[node];
    if (n.body == none || n.task == none) return false;
    if (graph_.from->is_on_device(n.body)) return true;
    return graph_.from->tasks[n.task].has(spawn_restricted) && !model_.anywhere.contains(node);
}

void simulation::enqueue(std::uint32_t node) {
    const graph_node& n = graph_.nodes[node];
    if (n.body == none) return over_.push_back(node);
    const waiting entry{rank_of(n), on_.recorded_order ? n.begin : arrivals_++, node};
    if (is_restricted(node)) {
        pinned_[core_of(node)].push(entry);
    } else {
        queue_.push(entry);
    }
}

void simulation::ready(std::uint32_t node) {
    const graph_node& n = graph_.nodes[node];
    // A wait for something that the capture does not know takes as long as it did.
    const bool only_previous = n.after_wait && n.needs == (n.previous != none ? 1U : 0U);
    const double gap = only_previous && n.gap > 0 ? static_cast<double>(n.gap) : 0;
    const double delay = gap + time_outside(node);
    if (delay > 0) {
        events_.push({now_ + delay, node, 0, what::arrival});
    } else {
        enqueue(node);
    }
}

void simulation::release_users(std::uint32_t node) {
    if (node == graph_.last) end_ = now_;
    for (std::uint32_t u = first_user_[node]; u < first_user_[node + 1]; ++u) {
        const std::uint32_t user = users_[u];
        if (--open_[user] != 0) continue;
        const graph_node& n = graph_.nodes[user];
        if (n.previous == node && n.body != none && (!n.after_wait || n.needs > 1)) {
            continues_ = user;
        } else {
            ready(user);
        }
    }
}

/// With it completions may come, of its task and of those above; however many, one by one.
void simulation::over(std::uint32_t node) {
    over_.push_back(node);
    while (!over_.empty()) {
        const std::uint32_t next = over_.back();
        over_.pop_back();
        release_users(next);
    }
}

/// What may run anywhere takes a core for which restricted work is still to come only when there is
/// no other one: that work could go nowhere else.
void simulation::dispatch() {
    for (const bool keeps_free : {true, false}) {
        for (auto at = idle_.begin(); at != idle_.end();) {
            const unsigned core = *at++;
            first_out<waiting>& own = pinned_[core];
            const bool takes_any =
                !is_device(core) && !queue_.empty() && !(keeps_free && to_come_[core] != 0);
            const bool own_first = !own.empty() && (!takes_any || queue_.top() > own.top());
            if (!own_first && !takes_any) continue;
            first_out<waiting>& from = own_first ? own : queue_;
            const std::uint32_t node = from.top().node;
            from.pop();
            start(node, core);
        }
    }
}

/// What needs nothing in this frame was there at its begin, or came from outside at its time.
void simulation::begin() {
    for (const std::uint32_t i : graph_.order) {
        if (!model_.takes_part[i] || open_[i] != 0) continue;
        const graph_node& n = graph_.nodes[i];
        const std::uint64_t at = n.first ? n.ready : n.begin;
        const double since = static_cast<double>(at - graph_.frame.begin) + time_outside(i);
        events_.push({since, i, 0, what::arrival});
    }
}

/// What is over early leaves its core as late as ever, unless its own body goes on there.
void simulation::end_piece(const event& e) {
    if (e.kind == what::core_free && gone_on_.contains(e.node)) return;
    const bool early = e.kind == what::over_early;
    const bool known = !early && over_early_.contains(e.node);
    if (!early) idle_.insert(e.core);
    if (known) return;
    continues_ = none;
    if (early) over_early_.insert(e.node);
    over(e.node);
    if (continues_ == none) return;
    if (early) gone_on_.insert(e.node);
    start(continues_, e.core);
}

double simulation::run() {
    begin();
    while (!events_.empty()) {
        now_ = events_.top().time;
        while (!events_.empty() && events_.top().time <= now_) {
            const event e = events_.top();
            events_.pop();
            if (e.kind == what::arrival) {
                if (graph_.nodes[e.node].body == none) {
                    over(e.node);
                } else {
                    enqueue(e.node);
                }
                continue;
            }
            end_piece(e);
        }
        dispatch();
    }
    return end_;
}

}  // namespace

frame_model make_frame_model(const history& from, const frame_row& frame) {
    frame_model model;
    model.graph = make_frame_graph(from, frame);
    model.overhead = time_between_bodies(from, {frame.begin, frame.end});
    std::set<std::uint32_t> lanes;
    for (std::uint32_t i = 0; i < from.lanes.size(); ++i) {
        if (from.lanes[i].kind == lane_kind::worker) lanes.insert(i);
    }
    // Which frame a task serves that nothing of this one needs is known only when there is one.
    std::vector<bool> ordered(model.graph.nodes.size(), false);
    for (const std::uint32_t i : model.graph.order) ordered[i] = true;
    model.takes_part.resize(ordered.size());
    for (std::size_t i = 0; i < ordered.size(); ++i) {
        const graph_node& n = model.graph.nodes[i];
        const bool foreign = n.task == none || from.tasks[n.task].has(spawn_background);
        model.takes_part[i] = ordered[i] && (n.needed || (frame.alone && !foreign));
        const bool on_core = n.body != none && !from.is_on_device(n.body);
        if (model.takes_part[i] && n.first && on_core) lanes.insert(from.bodies[n.body].lane);
    }
    model.recorded_cores =
        std::clamp<unsigned>(static_cast<unsigned>(lanes.size()), 1, machine::most_cores);
    model.core_of_lane.resize(from.lanes.size());
    std::uint32_t core = 0;
    for (const std::uint32_t lane : lanes) model.core_of_lane[lane] = core++;
    for (std::size_t i = 0; i < from.lanes.size(); ++i) {
        if (from.lanes[i].kind == lane_kind::device) model.core_of_lane[i] = model.devices++;
    }
    return model;
}

std::uint64_t simulate(const frame_model& model, const machine& on) {
    if (model.graph.last == none) return model.graph.frame.length();
    machine there = on;
    if (there.cores == 0) there.cores = model.recorded_cores;
    there.cores = std::min(there.cores, machine::most_cores);
    return static_cast<std::uint64_t>(std::llround(simulation(model, there).run()));
}

double what_if_result::error() const {
    if (recorded_p50 == 0) return 0;
    return static_cast<double>(modelled_p50) / static_cast<double>(recorded_p50) - 1;
}

what_if_result what_if(const history& from, std::span<const machine> machines,
                       std::size_t most_frames) {
    what_if_result result;
    std::vector<std::vector<std::uint64_t>> lengths(machines.size());
    std::vector<std::uint64_t> recorded, modelled;
    const std::size_t all = from.frames.size();
    result.frames = std::min(all, most_frames);
    for (std::size_t i = 0; i < result.frames; ++i) {
        const frame_row& frame = from.frames[i * all / result.frames];
        const frame_model model = make_frame_model(from, frame);
        for (std::size_t m = 0; m < machines.size(); ++m) {
            lengths[m].push_back(simulate(model, machines[m]));
        }
        result.recorded_cores = std::max(result.recorded_cores, model.recorded_cores);
        recorded.push_back(frame.length());
        modelled.push_back(simulate(model, {}));
    }
    for (std::size_t m = 0; m < machines.size(); ++m) {
        result.rows.push_back(
            {machines[m], percentile(lengths[m], 0.50), percentile(lengths[m], 0.95)});
    }
    result.recorded_p50 = percentile(recorded, 0.50);
    result.modelled_p50 = percentile(modelled, 0.50);
    return result;
}

}  // namespace profile
BRAID_NAMESPACE_END
