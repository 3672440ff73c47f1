#include "graph/graph.hpp"

#include <random>
#include <utility>

namespace bench::graph {
namespace {

using table = std::array<std::array<unsigned, fan_in>, nodes>;

table make_predecessors() {
    table t{};
    std::mt19937 random(1);
    for (unsigned i = width; i < nodes; ++i) {
        std::array<unsigned, width> candidates;
        const unsigned layer = i / width - 1;
        for (unsigned n = 0; n < width; ++n) candidates[n] = layer * width + n;
        for (unsigned n = 0; n < fan_in; ++n) {
            std::swap(candidates[n], candidates[n + random() % (width - n)]);
            t[i][n] = candidates[n];
        }
    }
    return t;
}

const table predecessor_table = make_predecessors();

values make_expected() {
    values v{};
    for (unsigned i = 0; i < nodes; ++i) compute(v.data(), i);
    return v;
}

}  // namespace

const std::array<unsigned, fan_in>& predecessors(unsigned i) { return predecessor_table[i]; }

void check(const values& v) {
    static const values expected = make_expected();
    for (unsigned i = 0; i < nodes; ++i) check_equal(v[i], expected[i], "value of a node");
}

void add(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(rebuild_row(threads), "ns/node", "64 x 64 layered graph, 3 predecessors, rebuilt");
        s.at(rerun_row(threads), "ns/node", "the same graph, built once and run again");
    }
    add_serial(s);
    add_braid(s);
    add_tbb(s);
    add_openmp(s);
}

}  // namespace bench::graph
