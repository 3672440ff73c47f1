#pragma once
// Which node of a graph goes first: the one with the longest way to the end of the run behind it,
// by what nodes took in the last runs. (Highest level first, T. C. Hu 1961; with durations:
// critical-path list scheduling, R. L. Graham 1969.)

#include "base/accounted_array.hpp"
#include "graph/ready_ranks.hpp"

#include <algorithm>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

template <class T>
using graph_array = accounted_array<T, memory_tag::graph>;

/// What a ranking knows of a node. Times in ns.
struct node_rank {
    std::int64_t way;            // the longest from its start to the end of the run
    std::int64_t average;        // when it was ranked
    std::uint32_t rank, before;  // before: the last time that any place changed
};

class graph_ranking {
public:
    explicit graph_ranking(accounted_memory& memory)
        : nodes_(memory), by_rank_(memory), memory_(memory) {}
    ~graph_ranking() { free_words(); }
    graph_ranking(const graph_ranking&) = delete;
    graph_ranking& operator=(const graph_ranking&) = delete;

    /// For that many nodes, in the order of adding. False: no memory.
    bool reset(std::size_t nodes);

    /// `order`: each node after its predecessors. `average(node)` in ns, 0: not known yet.
    /// `each_successor(node, f)` calls f(successor). True: the ranks were made anew, because the
    /// averages differ from those of the last time by an eighth of their sum.
    template <class Average, class EachSuccessor>
    bool update(const graph_array<std::uint32_t>& order, Average&& average,
                EachSuccessor&& each_successor);

    std::size_t size() const { return nodes_.size(); }
    const node_rank& of(std::uint32_t node) const { return nodes_[node]; }
    std::uint32_t node_at(std::uint32_t rank) const { return by_rank_[rank]; }
    std::uint64_t times() const { return times_; }

    basic_ready_ranks<active_policy> ready;

private:
    using word = basic_ready_ranks<active_policy>::word;
    void free_words();

    graph_array<node_rank> nodes_;
    graph_array<std::uint32_t> by_rank_;
    accounted_memory& memory_;
    word* words_ = nullptr;
    std::size_t word_count_ = 0;
    std::uint64_t times_ = 0;
};

template <class Average, class EachSuccessor>
bool graph_ranking::update(const graph_array<std::uint32_t>& order, Average&& average,
                           EachSuccessor&& each_successor) {
    constexpr std::int64_t tolerance = 8;
    std::int64_t sum = 0, change = 0;
    for (const std::uint32_t node : order) {
        const std::int64_t now = average(node), then = nodes_[node].average;
        sum += now;
        change += now > then ? now - then : then - now;
    }
    if (times_ != 0 && change * tolerance <= sum) return false;
    for (std::size_t i = order.size(); i-- != 0;) {
        node_rank& r = nodes_[order[i]];
        r.average = average(order[i]);
        r.way = 0;
        each_successor(order[i], [&](std::uint32_t s) { r.way = std::max(r.way, nodes_[s].way); });
        // Nodes without a known time still count: then the longest chain goes first.
        r.way += std::max<std::int64_t>(r.average, 1);
        by_rank_[i] = order[i];
    }
    std::sort(by_rank_.begin(), by_rank_.begin() + order.size(),
              [&](std::uint32_t a, std::uint32_t b) {
                  return nodes_[a].way != nodes_[b].way ? nodes_[a].way > nodes_[b].way : a < b;
              });
    bool moved = false;
    for (std::uint32_t r = 0; r < order.size(); ++r) moved = moved || nodes_[by_rank_[r]].rank != r;
    for (std::uint32_t rank = 0; moved && rank < order.size(); ++rank) {
        node_rank& r = nodes_[by_rank_[rank]];
        r.before = r.rank;
        r.rank = rank;
    }
    ++times_;
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
