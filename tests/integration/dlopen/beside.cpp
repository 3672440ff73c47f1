// A library with thread-local storage of its own, of which the program loads ten.
#include <cstddef>

namespace {
thread_local unsigned char own[512];
}

extern "C" unsigned use() {
    unsigned sum = 0;
    for (std::size_t i = 0; i < sizeof own; ++i) sum += ++own[i];
    return sum;
}
