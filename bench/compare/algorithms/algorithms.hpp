#pragma once
// sort, reduce and scan of 10 million numbers, and a loop with one element 1,000 times as long as
// the others.

#include "threads.hpp"

#include <cstdint>
#include <vector>

namespace bench::algorithms {

inline constexpr std::size_t count = 10'000'000;

/// The same numbers each time, in no order.
const std::vector<std::uint32_t>& numbers();
/// Sum of position times value, mod 2^32: tells an order from another.
long checksum(const std::vector<std::uint32_t>& v);
/// What sort, reduce and scan must give.
struct answers {
    long sorted, sum, scanned;
};
const answers& expected();
/// Where results go: made once, so that nobody pays for fresh pages.
std::vector<std::uint32_t>& scratch();

/// Time of work(v) in ms, with v full of other numbers before.
template <class Work>
double timed_into(long answer, const char* what, Work&& work) {
    std::vector<std::uint32_t>& v = scratch();
    const double ns = time_ns([&] { work(v); });
    check_equal(checksum(v), answer, what);
    return ns / 1e6;
}
/// The same, with the numbers in v.
template <class Work>
double timed_sort(long answer, const char* what, Work&& work) {
    scratch() = numbers();
    return timed_into(answer, what, work);
}

// The uneven loop: element `long_one` takes 1,000 units of work, the others one.
inline constexpr std::size_t elements = 4'000, long_one = 1'000;
long uneven_element(std::size_t i);
long expected_uneven();

void add_serial(suite& s);
void add_braid(suite& s);
void add_tbb(suite& s);
void add_openmp(suite& s);
void add_std_par(suite& s);
inline void add(suite& s) {
    add_serial(s);
    add_braid(s);
    add_tbb(s);
    add_openmp(s);
    add_std_par(s);
}

}  // namespace bench::algorithms
