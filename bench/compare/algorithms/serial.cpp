#include "algorithms/algorithms.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace bench::algorithms {

const std::vector<std::uint32_t>& numbers() {
    static const std::vector<std::uint32_t> all = [] {
        std::mt19937 random(1);
        std::vector<std::uint32_t> v(count);
        for (auto& x : v) x = static_cast<std::uint32_t>(random());
        return v;
    }();
    return all;
}

long checksum(const std::vector<std::uint32_t>& v) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < v.size(); ++i) sum += static_cast<std::uint32_t>(i) * v[i];
    return sum;
}

const answers& expected() {
    static const answers all = [] {
        answers a{};
        auto& v = scratch();
        v = numbers();
        std::sort(v.begin(), v.end());
        a.sorted = checksum(v);
        for (const std::uint32_t x : numbers()) a.sum += x;
        v[0] = numbers()[0];
        for (std::size_t i = 1; i < count; ++i) v[i] = v[i - 1] + numbers()[i];
        a.scanned = checksum(v);
        return a;
    }();
    return all;
}

std::vector<std::uint32_t>& scratch() {
    static std::vector<std::uint32_t> v(count);
    return v;
}

long uneven_element(std::size_t i) {
    // About 5 us a unit.
    const unsigned units = i == long_one ? 1'000 : 1;
    return static_cast<long>(multiply_on(i, units * 4'000U) >> 40);
}
long expected_uneven() {
    static const long sum = [] {
        long all = 0;
        for (std::size_t i = 0; i < elements; ++i) all += uneven_element(i);
        return all;
    }();
    return sum;
}

void add_serial(suite& s) {
    bench::add_serial(s, "reduce", "sum of 10 million numbers", expected().sum,
                      [] { return std::accumulate(numbers().begin(), numbers().end(), 0L); });
    bench::add_serial(s, "uneven", "4,000 elements, one takes as long as 1,000", expected_uneven(),
                      [] {
                          long sum = 0;
                          for (std::size_t i = 0; i < elements; ++i) sum += uneven_element(i);
                          return sum;
                      });
    for (const unsigned threads : thread_counts) {
        s.at(with_threads("scan", threads), "ms", "inclusive scan of 10 million numbers")
            .add("serial", [] {
                return [] {
                    return timed_into(expected().scanned, "serial scan", [](auto& v) {
                        std::inclusive_scan(numbers().begin(), numbers().end(), v.begin());
                    });
                };
            });
        s.at(with_threads("sort", threads), "ms", "sort of 10 million numbers").add("serial", [] {
            return [] {
                return timed_sort(expected().sorted, "serial sort",
                                  [](auto& v) { std::sort(v.begin(), v.end()); });
            };
        });
    }
}

}  // namespace bench::algorithms
