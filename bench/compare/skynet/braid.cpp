#include "skynet/skynet.hpp"

#include <braid/fork_join/join.hpp>

namespace bench::skynet {
namespace {

using braid::fork_context;

long node(fork_context c, long first, long size);

/// The children [0, count) whose first leaf is `first`, each of `size` leaves.
long children(fork_context c, long first, long size, long count) {
    if (count == 1) return node(c, first, size);
    const long half = count / 2;
    const auto [a, b] = braid::join(
        c, [=](fork_context inner) { return children(inner, first, size, half); },
        [=](fork_context inner) {
            return children(inner, first + half * size, size, count - half);
        });
    return a + b;
}

long node(fork_context c, long first, long size) {
    return size == 1 ? first : children(c, first, size / 10, 10);
}

}  // namespace

void add_braid(suite& s) {
    bench::add_braid(s, "skynet", "braid", expected, [](braid::scheduler& b) {
        return braid::fork_join(b, "skynet", [](fork_context c) { return node(c, 0, leaves); });
    });
}

}  // namespace bench::skynet
