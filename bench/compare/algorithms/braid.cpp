#include "algorithms/algorithms.hpp"

#include <braid/fork_join/reduce.hpp>
#include <braid/fork_join/sort.hpp>

#include <atomic>

namespace bench::algorithms {

void add_braid(suite& s) {
    bench::add_braid(s, "reduce", "braid", expected().sum,
                     [](braid::scheduler& b) { return braid::reduce(b, numbers(), 0L); });
    bench::add_braid(s, "uneven", "braid", expected_uneven(), [](braid::scheduler& b) {
        std::atomic<long> sum{0};
        braid::parallel_for(b, elements, [&](braid::index_range r) {
            long part = 0;
            for (std::size_t i = r.begin; i != r.end; ++i) part += uneven_element(i);
            sum += part;
        });
        return sum.load();
    });
    add_braid_measure(s, "scan", "braid", [](braid::scheduler& b) {
        return timed_into(expected().scanned, "braid scan", [&](auto& v) {
            braid::inclusive_scan(b, numbers(), v.begin(), std::uint32_t{0});
        });
    });
    add_braid_measure(s, "sort", "braid", [](braid::scheduler& b) {
        return timed_sort(expected().sorted, "braid sort", [&](auto& v) { braid::sort(b, v); });
    });
}

}  // namespace bench::algorithms
