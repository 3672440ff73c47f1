#include "fib/fib.hpp"

namespace bench::fib {
namespace {

long fib(int k) { return k < 2 ? k : fib(k - 1) + fib(k - 2); }

}  // namespace

void add_serial(suite& s) {
    bench::add_serial(s, "fib", "fib(35), a fork at each node", expected, [] {
        int k = n;
        asm("" : "+r"(k));  // not known to the compiler
        return fib(k);
    });
}

}  // namespace bench::fib
