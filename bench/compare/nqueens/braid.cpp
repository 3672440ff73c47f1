#include "nqueens/nqueens.hpp"

#include <braid/fork_join/join.hpp>

namespace bench::nqueens {
namespace {

using braid::fork_context;

/// The ways with the queen of `row` at `column` or to the right of it.
long place(fork_context c, const board& b, int row, int column) {
    while (column < n && !safe(b, row, column)) ++column;
    if (column == n) return 0;
    const board next = with(b, row, column);
    if (row + 1 == n) return 1 + place(c, b, row, column + 1);
    const auto [here, right] = braid::join(
        c, [&next, row](fork_context inner) { return place(inner, next, row + 1, 0); },
        [&b, row, column](fork_context inner) { return place(inner, b, row, column + 1); });
    return here + right;
}

}  // namespace

void add_braid(suite& s) {
    bench::add_braid(s, "nqueens", "braid", expected, [](braid::scheduler& b) {
        return braid::fork_join(b, "nqueens", [](fork_context c) { return place(c, {}, 0, 0); });
    });
}

}  // namespace bench::nqueens
