#include "nqueens/nqueens.hpp"

#include <braid/fork_join/join.hpp>

namespace bench::nqueens {
namespace {

using braid::fork_context;

/// The first safe column of `row` from `column` on; n: there is none.
int next_safe(const board& b, int row, int column) {
    while (column < n && !safe(b, row, column)) ++column;
    return column;
}

long place(fork_context c, const board& b, int row);

/// The ways with the queen of `row` at `column`, which is safe, or to the right of it.
long place_from(fork_context c, const board& b, int row, int column) {
    const board next = with(b, row, column);
    const int right = next_safe(b, row, column + 1);
    if (right == n) return place(c, next, row + 1);
    const auto [here, others] = braid::join(
        c, [&next, row](fork_context inner) { return place(inner, next, row + 1); },
        [&b, row, right](fork_context inner) { return place_from(inner, b, row, right); });
    return here + others;
}

long place(fork_context c, const board& b, int row) {
    if (row == n) return 1;
    const int first = next_safe(b, row, 0);
    return first == n ? 0 : place_from(c, b, row, first);
}

}  // namespace

void add_braid(suite& s) {
    bench::add_braid(s, "nqueens", "braid", expected, [](braid::scheduler& b) {
        return braid::fork_join(b, "nqueens", [](fork_context c) { return place(c, {}, 0); });
    });
}

}  // namespace bench::nqueens
