#pragma once
// A tree of ten children a node with 10 million leaves; the sum of their numbers.

#include "threads.hpp"

namespace bench::skynet {

inline constexpr long leaves = 10'000'000;
inline constexpr long expected = leaves * (leaves - 1) / 2;

void add_serial(suite& s);
void add_braid(suite& s);
void add_tbb(suite& s);
inline void add(suite& s) {
    add_serial(s);
    add_braid(s);
    add_tbb(s);
}

}  // namespace bench::skynet
