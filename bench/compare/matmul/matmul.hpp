#pragma once
// C += A B, 1024 x 1024 floats, by quarters down to blocks of 64.

#include "threads.hpp"

#include <cstddef>
#include <vector>

namespace bench::matmul {

inline constexpr std::size_t n = 1024, block = 64;

struct view {
    float* data;
    std::size_t size;
    view quarter(std::size_t row, std::size_t column) const {
        const std::size_t half = size / 2;
        return {data + row * half * n + column * half, half};
    }
};

/// The innermost one.
void multiply_block(view c, view a, view b);

struct matrices {
    std::vector<float> a, b, c;
    matrices();
    /// Sets C to 0, calls multiply(c, a, b), and returns the sum of C, a whole number.
    template <class Multiply>
    long run(Multiply&& multiply) {
        c.assign(n * n, 0);
        multiply(view{c.data(), n}, view{a.data(), n}, view{b.data(), n});
        double sum = 0;
        for (const float x : c) sum += x;
        return static_cast<long>(sum);
    }
};
matrices& shared();
long expected();

void add_serial(suite& s);
void add_braid(suite& s);
void add_tbb(suite& s);
inline void add(suite& s) {
    add_serial(s);
    add_braid(s);
    add_tbb(s);
}

}  // namespace bench::matmul
