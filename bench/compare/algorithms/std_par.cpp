#include "algorithms/algorithms.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <execution>
#include <numeric>

namespace bench::algorithms {

void add_std_par(suite& s) {
    bench::add_std_par(s, "reduce", expected().sum, [] {
        return std::reduce(std::execution::par, numbers().begin(), numbers().end(), 0L);
    });
    std::array<std::size_t, elements> indices;
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    bench::add_std_par(s, "uneven", expected_uneven(), [indices] {
        std::atomic<long> sum{0};
        std::for_each(std::execution::par, indices.begin(), indices.end(),
                      [&](std::size_t i) { sum += uneven_element(i); });
        return sum.load();
    });
    add_std_par_measure(s, "scan", [] {
        return timed_into(expected().scanned, "std par scan", [](auto& v) {
            std::inclusive_scan(std::execution::par, numbers().begin(), numbers().end(), v.begin());
        });
    });
    add_std_par_measure(s, "sort", [] {
        return timed_sort(expected().sorted, "std par sort",
                          [](auto& v) { std::sort(std::execution::par, v.begin(), v.end()); });
    });
}

}  // namespace bench::algorithms
