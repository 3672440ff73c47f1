#include "nqueens/nqueens.hpp"

namespace bench::nqueens {
namespace {

long place(const board& b, int row) {
    if (row == n) return 1;
    long ways = 0;
    for (int column = 0; column < n; ++column) {
        if (safe(b, row, column)) ways += place(with(b, row, column), row + 1);
    }
    return ways;
}

}  // namespace

void add_serial(suite& s) {
    bench::add_serial(s, "nqueens", "13 queens, a fork at each safe square", expected,
                      [] { return place({}, 0); });
}

}  // namespace bench::nqueens
