#pragma once
// A picture of the Mandelbrot set by a parallel loop of rows. Rows through the set take many times
// as long as those above it.

#include "threads.hpp"

#include <array>
#include <numeric>

namespace bench::mandelbrot {

inline constexpr std::size_t rows = 512, columns = 768;
inline constexpr int most_steps = 256;

/// The steps of all pixels of a row.
long row(std::size_t y);
long expected();

/// loop(body) calls body(y) for each row. The steps of all pixels.
template <class Loop>
long picture(Loop&& loop) {
    std::array<long, rows> steps{};
    loop([&](std::size_t y) { steps[y] = row(y); });
    return std::accumulate(steps.begin(), steps.end(), 0L);
}

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

}  // namespace bench::mandelbrot
