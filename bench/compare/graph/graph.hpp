#pragma once
// A layered graph, 64 × 64, three predecessors per node, rebuilt for every run or built once and
// run again. A node's value is made of its predecessors' values, so one that starts too early shows
// in the answer.

#include "driver.hpp"

#include <array>

namespace bench::graph {

inline constexpr unsigned width = 64, layers = 64, nodes = width * layers, fan_in = 3;

/// The nodes (of the layer before) that node `i` of layer 1 and up waits for. Fixed by a seed.
const std::array<unsigned, fan_in>& predecessors(unsigned i);

using value = std::uint64_t;
using values = std::array<value, nodes>;

/// The work of a node.
inline void compute(value* v, unsigned i) {
    value sum = i + 1;
    if (i >= width) {
        for (const unsigned p : predecessors(i)) sum += v[p];
    }
    v[i] = sum * 0x9e37'79b9'7f4a'7c15U ^ sum >> 32;
}

/// Throws wrong_answer unless every node ran once, after its predecessors.
void check(const values& v);

/// Calls `run(value*)`, which builds and runs or runs again, 64 times; ns per node.
template <class Run>
double repeat(Run&& run) {
    constexpr int times = 64;
    values v;
    double ns = 0;
    for (int i = 0; i < times; ++i) {
        v.fill(0);
        ns += time_ns([&] { run(v.data()); });
        check(v);
    }
    return ns / (times * static_cast<double>(nodes));
}

/// Rows graph.rebuild.t1 and .t2, graph.rerun.t1 and .t2.
void add(suite& s);

void add_braid(suite& s);
void add_tbb(suite& s);
void add_openmp(suite& s);
void add_serial(suite& s);  // and "raw": flat arrays with atomic counters, one and two threads

inline std::string rebuild_row(unsigned threads) {
    return "graph.rebuild.t" + std::to_string(threads);
}
inline std::string rerun_row(unsigned threads) { return "graph.rerun.t" + std::to_string(threads); }

}  // namespace bench::graph
