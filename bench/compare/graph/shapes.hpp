#pragma once
// Three shapes that are built once and run again: a chain and a fan of 10,000, and a wavefront of
// 128 x 128, in which each cell waits for its upper and its left neighbour.

#include "graph/graph.hpp"

#include <vector>

namespace bench::graph {

struct shape {
    std::string name;
    std::vector<std::vector<unsigned>> before;  // of each node: the nodes it waits for

    std::size_t size() const { return before.size(); }
    value compute(const value* v, unsigned i) const {
        value sum = i + 1;
        for (const unsigned p : before[i]) sum += v[p];
        return sum * 0x9e37'79b9'7f4a'7c15U ^ sum >> 32;
    }
    /// The values that each run should leave behind.
    std::vector<value> expected() const;
};

const std::vector<shape>& shapes();

/// Calls `run(values)` as often as takes some ms; ns per node. Checks every run.
template <class Run>
double repeat(const shape& s, Run&& run) {
    constexpr int times = 16;
    const std::vector<value> expected = s.expected();
    std::vector<value> v(s.size());
    double ns = 0;
    for (int i = 0; i < times; ++i) {
        std::fill(v.begin(), v.end(), 0);
        ns += time_ns([&] { run(v.data()); });
        if (v != expected) throw wrong_answer("values of a " + s.name);
    }
    return ns / (times * static_cast<double>(s.size()));
}

inline std::string shape_row(const shape& s, unsigned threads) {
    return "graph." + s.name + ".t" + std::to_string(threads);
}

/// Rows graph.chain, graph.fan and graph.wavefront, .t1 and .t2.
void add_shapes(suite& s);
void add_shapes_braid(suite& s);
void add_shapes_tbb(suite& s);
/// Rows graph.straggler.*
void add_stragglers(suite& s);

}  // namespace bench::graph
