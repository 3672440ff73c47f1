#include "skynet/skynet.hpp"

#include <tbb/task_group.h>

#include <array>
#include <numeric>

namespace bench::skynet {
namespace {

long node(long first, long size) {
    if (size == 1) return first;
    std::array<long, 10> sums{};
    tbb::task_group all;
    for (long i = 0; i < 9; ++i) {
        all.run([&sums, i, first, size] {
            sums[static_cast<std::size_t>(i)] = node(first + i * (size / 10), size / 10);
        });
    }
    sums[9] = node(first + 9 * (size / 10), size / 10);
    all.wait();
    return std::accumulate(sums.begin(), sums.end(), 0L);
}

}  // namespace

void add_tbb(suite& s) {
    bench::add_tbb(s, "skynet", expected, [] { return node(0, leaves); });
}

}  // namespace bench::skynet
