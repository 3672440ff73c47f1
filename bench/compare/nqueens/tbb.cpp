#include "nqueens/nqueens.hpp"

#include <tbb/task_group.h>

#include <numeric>

namespace bench::nqueens {
namespace {

long place(const board& b, int row) {
    if (row == n) return 1;
    std::array<long, n> ways{};
    tbb::task_group all;
    for (int column = 0; column < n; ++column) {
        if (!safe(b, row, column)) continue;
        all.run([&ways, next = with(b, row, column), row, column] {
            ways[static_cast<std::size_t>(column)] = place(next, row + 1);
        });
    }
    all.wait();
    return std::accumulate(ways.begin(), ways.end(), 0L);
}

}  // namespace

void add_tbb(suite& s) {
    bench::add_tbb(s, "nqueens", expected, [] { return place({}, 0); });
}

}  // namespace bench::nqueens
