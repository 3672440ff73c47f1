#include "graph/ranking.hpp"

#include "braid/graph/graph.hpp"
#include "graph/graph_state.hpp"

#include <cstdio>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace detail {

bool graph_ranking::reset(std::size_t nodes) {
    times_ = 0;
    if (!nodes_.reset(nodes) || !by_rank_.reset(nodes)) return false;
    for (std::uint32_t node = 0; node < nodes; ++node) nodes_[node].rank = node;
    const std::size_t wanted = basic_ready_ranks<active_policy>::words_for(nodes);
    if (wanted > word_count_) {
        free_words();
        void* bytes = memory_.allocate(wanted * sizeof(word), alignof(word), memory_tag::graph);
        if (bytes == nullptr) return false;
        words_ = static_cast<word*>(bytes);
        word_count_ = wanted;
        for (std::size_t i = 0; i < wanted; ++i) ::new (words_ + i) word(0);
    }
    ready = {words_, wanted};
    return true;
}

void graph_ranking::free_words() {
    memory_.release(words_, word_count_ * sizeof(word), alignof(word), memory_tag::graph);
    words_ = nullptr;
    word_count_ = 0;
}

/// Before a run, by its own work.
void graph_state::rank() {
    ranking.update(
        order, [&](std::uint32_t node) { return stamps[node].average; },
        [&](std::uint32_t node, auto&& f) { each_successor(node, f); });
}

}  // namespace detail

void graph::set_priorities(graph_priorities by) {
    detail::core::point(rt_);
    if (state_ == nullptr || !may_edit()) return;
    state_->ranked = by == graph_priorities::critical_path;
    state_->measured = state_->measured || state_->ranked;
    state_->edited = true;
}

std::string graph::priorities_to_text() const {
    detail::core::point(rt_);
    if (state_ == nullptr || !state_->ranked || state_->edited) return "";
    const detail::graph_ranking& ranking = state_->ranking;
    std::vector<std::uint32_t> moved;
    for (const std::uint32_t node : state_->order) {
        const detail::node_rank& r = ranking.of(node);
        if (state_->records[node].call != nullptr && r.rank != r.before) moved.push_back(node);
    }
    std::sort(moved.begin(), moved.end(), [&](std::uint32_t a, std::uint32_t b) {
        return ranking.of(a).rank < ranking.of(b).rank;
    });
    char line[160];
    std::snprintf(line, sizeof line,
                  "graph '%s', ranked %llu times; the last time that places changed, %zu did\n",
                  state_->name, static_cast<unsigned long long>(ranking.times()), moved.size());
    std::string text = line;
    for (const std::uint32_t node : moved) {
        const detail::node_rank& r = ranking.of(node);
        std::snprintf(line, sizeof line,
                      "  %u -> %u: %.3f ms to the end of the run, %.3f of its own: ", r.before + 1,
                      r.rank + 1, static_cast<double>(r.way) / 1e6,
                      static_cast<double>(r.average) / 1e6);
        text += line;
        text += state_->name_of(node);
        text += '\n';
    }
    return text;
}

BRAID_NAMESPACE_END
