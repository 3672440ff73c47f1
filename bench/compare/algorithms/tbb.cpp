#include "algorithms/algorithms.hpp"

#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>

#include <atomic>
#include <functional>
#include <numeric>

namespace bench::algorithms {

void add_tbb(suite& s) {
    using range = tbb::blocked_range<std::size_t>;
    bench::add_tbb(s, "reduce", expected().sum, [] {
        return tbb::parallel_reduce(
            range(0, count), 0L,
            [v = numbers().data()](const range& r, long sum) {
                return std::accumulate(v + r.begin(), v + r.end(), sum);
            },
            std::plus<>());
    });
    bench::add_tbb(s, "uneven", expected_uneven(), [] {
        std::atomic<long> sum{0};
        tbb::parallel_for(range(0, elements), [&](const range& r) {
            long part = 0;
            for (std::size_t i = r.begin(); i != r.end(); ++i) part += uneven_element(i);
            sum += part;
        });
        return sum.load();
    });
    add_tbb_measure(s, "scan", [] {
        return timed_into(expected().scanned, "tbb scan", [](auto& v) {
            tbb::parallel_scan(
                range(0, count), std::uint32_t{0},
                [in = numbers().data(), out = v.data()](const range& r, std::uint32_t sum,
                                                        bool last) {
                    if (!last) return std::accumulate(in + r.begin(), in + r.end(), sum);
                    for (std::size_t i = r.begin(); i != r.end(); ++i) out[i] = sum += in[i];
                    return sum;
                },
                std::plus<>());
        });
    });
    add_tbb_measure(s, "sort", [] {
        return timed_sort(expected().sorted, "tbb sort",
                          [](auto& v) { tbb::parallel_sort(v.begin(), v.end()); });
    });
}

}  // namespace bench::algorithms
