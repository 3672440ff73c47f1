// What a plug-in does with Braid on a thread: tasks, joins, coroutines.
#include <braid/async.hpp>
#include <braid/braid.hpp>
#include <braid/fork_join.hpp>

namespace {

unsigned fib(braid::fork_context c, unsigned n) {
    if (n < 2) return n;
    const auto [a, b] = braid::join(
        c, [n](braid::fork_context to) { return fib(to, n - 1); },
        [n](braid::fork_context to) { return fib(to, n - 2); });
    return a + b;
}

braid::co<unsigned> added(unsigned a, unsigned b) { co_return a + b; }

braid::co<unsigned> sum_of(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i != n; ++i) sum = co_await added(sum, 1);
    co_return sum;
}

}  // namespace

extern "C" unsigned use() {
    braid::scheduler s({.workers = 1});
    const unsigned joined =
        braid::fork_join(s, "fib", [](braid::fork_context c) { return fib(c, 12); });
    const unsigned counted = braid::co_spawn(s, {}, sum_of(100)).get();
    unsigned ran = 0;
    s.wait(s.spawn({.name = "in the plug-in"}, [&ran] { ++ran; }));
    return joined + counted + ran;  // 144 + 100 + 1
}
