#include "skynet/skynet.hpp"

namespace bench::skynet {
namespace {

long node(long first, long size) {
    if (size == 1) return first;
    long sum = 0;
    for (long i = 0; i < 10; ++i) sum += node(first + i * (size / 10), size / 10);
    return sum;
}

}  // namespace

void add_serial(suite& s) {
    bench::add_serial(s, "skynet", "10 million leaves, ten children a node", expected, [] {
        long size = leaves;
        asm("" : "+r"(size));  // not known to the compiler
        return node(0, size);
    });
}

}  // namespace bench::skynet
