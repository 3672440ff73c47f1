#include "skynet/skynet.hpp"

#include <braid/fork_join/join.hpp>

namespace bench::skynet {
namespace {

using braid::fork_context;

long node(fork_context c, long first, long size) {
    if (size == 1) return first;
    const long tenth = size / 10;
    const auto child = [=](long i) {
        const long from = first + i * tenth;
        return [from, tenth](fork_context inner) { return node(inner, from, tenth); };
    };
    const auto sums = braid::join(c, child(0), child(1), child(2), child(3), child(4), child(5),
                                  child(6), child(7), child(8), child(9));
    return std::apply([](auto... sum) { return (sum + ...); }, sums);
}

}  // namespace

void add_braid(suite& s) {
    bench::add_braid(s, "skynet", "braid", expected, [](braid::scheduler& b) {
        return braid::fork_join(b, "skynet", [](fork_context c) { return node(c, 0, leaves); });
    });
}

}  // namespace bench::skynet
