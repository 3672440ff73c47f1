#include "matmul/matmul.hpp"

namespace bench::matmul {
namespace {

void multiply(view c, view a, view b) {
    if (c.size == block) return multiply_block(c, a, b);
    for (std::size_t k = 0; k < 2; ++k) {
        for (std::size_t i = 0; i < 2; ++i) {
            for (std::size_t j = 0; j < 2; ++j) {
                multiply(c.quarter(i, j), a.quarter(i, k), b.quarter(k, j));
            }
        }
    }
}

}  // namespace

void multiply_block(view c, view a, view b) {
    for (std::size_t i = 0; i < block; ++i) {
        for (std::size_t k = 0; k < block; ++k) {
            const float x = a.data[i * n + k];
            for (std::size_t j = 0; j < block; ++j) c.data[i * n + j] += x * b.data[k * n + j];
        }
    }
}

// Small whole numbers: every sum is exact, in any order.
matrices::matrices() : a(n * n), b(n * n), c(n * n) {
    for (std::size_t i = 0; i < n * n; ++i) {
        a[i] = static_cast<float>(i * 7 % 5);
        b[i] = static_cast<float>(i * 3 % 4);
    }
}
matrices& shared() {
    static matrices all;
    return all;
}

long expected() {
    // The sum of C is, over k, that of column k of A times that of row k of B.
    const matrices& m = shared();
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
        double column = 0, row = 0;
        for (std::size_t i = 0; i < n; ++i) {
            column += m.a[i * n + k];
            row += m.b[k * n + i];
        }
        sum += column * row;
    }
    return static_cast<long>(sum);
}

void add_serial(suite& s) {
    bench::add_serial(s, "matmul", "1024 x 1024 floats, by quarters", expected(),
                      [] { return shared().run(multiply); });
}

}  // namespace bench::matmul
