#include "fib/fib.hpp"

#include <tbb/task_group.h>

namespace bench::fib {
namespace {

long fib(int k) {
    if (k < 2) return k;
    long a = 0;
    tbb::task_group both;
    both.run([&a, k] { a = fib(k - 1); });
    const long b = fib(k - 2);
    both.wait();
    return a + b;
}

}  // namespace

void add_tbb(suite& s) {
    bench::add_tbb(s, "fib", expected, [] { return fib(n); });
}

}  // namespace bench::fib
