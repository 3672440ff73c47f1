#include "fib/fib.hpp"
#include "fib/neighbour.hpp"

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

struct two_threads {
    tbb::global_control limit{tbb::global_control::max_allowed_parallelism, 2};
    tbb::task_arena arena{2};
};

}  // namespace

void add_tbb(suite& s) {
    bench::add_tbb(s, "fib", expected, [] { return fib(n); });
    // Forks cost so much here that fewer will do.
    s.at("neighbour.fib").add("tbb", [] {
        return [a = std::make_shared<two_threads>()] {
            return a->arena.execute([] {
                return slowed_by_neighbour(
                    3, [] { return timed_ms([] { return fib(30); }, 832'040L, "tbb"); });
            });
        };
    });
}

}  // namespace bench::fib
