#pragma once
// All ways to put 13 queens on a board of 13 by 13: an irregular tree, a fork at each safe square.

#include "threads.hpp"

#include <array>
#include <cstdint>

namespace bench::nqueens {

inline constexpr int n = 13;
inline constexpr long expected = 73'712;

/// Columns of the queens in the rows so far.
using board = std::array<std::uint8_t, 16>;

inline bool safe(const board& b, int row, int column) {
    for (int i = 0; i < row; ++i) {
        const int other = b[static_cast<std::size_t>(i)];
        if (other == column || other - column == row - i || column - other == row - i) return false;
    }
    return true;
}
inline board with(board b, int row, int column) {
    b[static_cast<std::size_t>(row)] = static_cast<std::uint8_t>(column);
    return b;
}

void add_serial(suite& s);
void add_braid(suite& s);
void add_tbb(suite& s);
inline void add(suite& s) {
    add_serial(s);
    add_braid(s);
    add_tbb(s);
}

}  // namespace bench::nqueens
