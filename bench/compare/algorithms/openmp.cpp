#include "algorithms/algorithms.hpp"

namespace bench::algorithms {

void add_openmp(suite& s) {
    bench::add_openmp(s, "reduce", expected().sum, [](int threads) {
        long sum = 0;
        const std::uint32_t* v = numbers().data();
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
        for (std::size_t i = 0; i < count; ++i) sum += v[i];
        return sum;
    });
    bench::add_openmp(s, "uneven", expected_uneven(), [](int threads) {
        long sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum) schedule(dynamic)
        for (std::size_t i = 0; i < elements; ++i) sum += uneven_element(i);
        return sum;
    });
}

}  // namespace bench::algorithms
