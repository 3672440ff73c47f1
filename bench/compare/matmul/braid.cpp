#include "matmul/matmul.hpp"

#include <braid/fork_join/join.hpp>

namespace bench::matmul {
namespace {

using braid::fork_context;

void multiply(fork_context at, view c, view a, view b) {
    if (c.size == block) return multiply_block(c, a, b);
    for (std::size_t k = 0; k < 2; ++k) {
        const auto part = [&](std::size_t i, std::size_t j) {
            return [=](fork_context inner) {
                multiply(inner, c.quarter(i, j), a.quarter(i, k), b.quarter(k, j));
            };
        };
        braid::join(at, part(0, 0), part(0, 1), part(1, 0), part(1, 1));
    }
}

}  // namespace

void add_braid(suite& s) {
    bench::add_braid(s, "matmul", "braid", expected(), [](braid::scheduler& scheduler) {
        return shared().run([&](view c, view a, view b) {
            braid::fork_join(scheduler, "matmul", [&](fork_context at) { multiply(at, c, a, b); });
        });
    });
}

}  // namespace bench::matmul
