#pragma once
// Merge sort by quarters, merges in parallel too: coarse joins over memory. The recursion is the
// same for all; each brings its way to run two parts at once.

#include "threads.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::cilksort {

inline constexpr std::size_t count = 4'000'000;
inline constexpr std::size_t by_one = 2'048;  // shorter pieces are sorted or merged by one thread

using numbers = std::span<std::uint32_t>;

// In both, fork(f, g) calls f(fork) and g(fork), perhaps at once, and returns after them.

template <class Fork>
void merge(Fork fork, numbers a, numbers b, std::uint32_t* out) {
    if (a.size() + b.size() <= by_one) {
        std::merge(a.begin(), a.end(), b.begin(), b.end(), out);
        return;
    }
    if (a.size() < b.size()) std::swap(a, b);
    const std::size_t in_a = a.size() / 2;
    const auto in_b =
        static_cast<std::size_t>(std::lower_bound(b.begin(), b.end(), a[in_a]) - b.begin());
    fork([=](Fork f) { merge(f, a.first(in_a), b.first(in_b), out); },
         [=](Fork f) { merge(f, a.subspan(in_a), b.subspan(in_b), out + in_a + in_b); });
}

/// `spare` is as long as `v`; its content is lost.
template <class Fork>
void sort(Fork fork, numbers v, numbers spare) {
    if (v.size() <= by_one) {
        std::sort(v.begin(), v.end());
        return;
    }
    const std::size_t half = v.size() / 2;
    const auto sort_half = [](Fork f, numbers part, numbers part_spare) {
        const std::size_t middle = part.size() / 2;
        f([=](Fork g) { sort(g, part.first(middle), part_spare.first(middle)); },
          [=](Fork g) { sort(g, part.subspan(middle), part_spare.subspan(middle)); });
        merge(f, part.first(middle), part.subspan(middle), part_spare.data());
    };
    fork([=](Fork f) { sort_half(f, v.first(half), spare.first(half)); },
         [=](Fork f) { sort_half(f, v.subspan(half), spare.subspan(half)); });
    merge(fork, spare.first(half), spare.subspan(half), v.data());
}

/// Time of sort(numbers, spare) in ms, of the same numbers each time.
double timed(const std::function<void(numbers, numbers)>& sort);

void add_serial(suite& s);
void add_braid(suite& s);
void add_tbb(suite& s);
void add_openmp(suite& s);
inline void add(suite& s) {
    add_serial(s);
    add_braid(s);
    add_tbb(s);
    add_openmp(s);
}

}  // namespace bench::cilksort
