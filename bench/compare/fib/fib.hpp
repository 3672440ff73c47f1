#pragma once
// fib(35): 14.9 million forks with next to nothing in them. What a fork costs.

#include "threads.hpp"

namespace bench::fib {

inline constexpr int n = 35;
inline constexpr long expected = 9'227'465;

void add_serial(suite& s);
void add_braid(suite& s);
void add_tbb(suite& s);
inline void add(suite& s) {
    add_serial(s);
    add_braid(s);
    add_tbb(s);
}

}  // namespace bench::fib
