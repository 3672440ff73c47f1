#include "matmul/matmul.hpp"

#include <tbb/parallel_invoke.h>

namespace bench::matmul {
namespace {

void multiply(view c, view a, view b) {
    if (c.size == block) return multiply_block(c, a, b);
    for (std::size_t k = 0; k < 2; ++k) {
        const auto part = [&](std::size_t i, std::size_t j) {
            return [=] { multiply(c.quarter(i, j), a.quarter(i, k), b.quarter(k, j)); };
        };
        tbb::parallel_invoke(part(0, 0), part(0, 1), part(1, 0), part(1, 1));
    }
}

}  // namespace

void add_tbb(suite& s) {
    bench::add_tbb(s, "matmul", expected(), [] { return shared().run(multiply); });
}

}  // namespace bench::matmul
