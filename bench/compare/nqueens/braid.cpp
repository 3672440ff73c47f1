#include "nqueens/nqueens.hpp"

#include <braid/fork_join/join.hpp>

namespace bench::nqueens {
namespace {

using braid::fork_context;

/// The ways with a queen of `row` at `column`, or to the right of it.
long place(fork_context c, const board& b, int row, int column = 0) {
    if (row == n) return 1;
    for (; column < n; ++column) {
        if (!safe(b, row, column)) continue;
        const auto [here, others] = braid::join(
            c,
            [&b, row, column](fork_context inner) {
                return place(inner, with(b, row, column), row + 1);
            },
            [&b, row, column](fork_context inner) { return place(inner, b, row, column + 1); });
        return here + others;
    }
    return 0;
}

}  // namespace

void add_braid(suite& s) {
    bench::add_braid(s, "nqueens", "braid", expected, [](braid::scheduler& b) {
        return braid::fork_join(b, "nqueens", [](fork_context c) { return place(c, {}, 0); });
    });
}

}  // namespace bench::nqueens
