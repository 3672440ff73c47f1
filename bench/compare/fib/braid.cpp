#include "fib/fib.hpp"

#include <braid/fork_join/join.hpp>

namespace bench::fib {
namespace {

using braid::fork_context;

long with_context(fork_context c, int k) {
    if (k < 2) return k;
    const auto [a, b] = braid::join(
        c, [k](fork_context inner) { return with_context(inner, k - 1); },
        [k](fork_context inner) { return with_context(inner, k - 2); });
    return a + b;
}

long plain(int k) {
    if (k < 2) return k;
    const auto [a, b] = braid::join([k] { return plain(k - 1); }, [k] { return plain(k - 2); });
    return a + b;
}

}  // namespace

void add_braid(suite& s) {
    bench::add_braid(s, "fib", "braid", expected, [](braid::scheduler& b) {
        return braid::fork_join(b, "fib", [](fork_context c) { return with_context(c, n); });
    });
    s.at("fib.t4", "ms", "fib(35) on four threads").add("braid", [] {
        auto b = std::make_shared<braid::scheduler>(braid::scheduler_options{.workers = 3});
        return [b] {
            return timed_ms(
                [&] {
                    return braid::fork_join(*b, "fib",
                                            [](fork_context c) { return with_context(c, n); });
                },
                expected, "braid");
        };
    });
    bench::add_braid(s, "fib", "braid plain", expected, [](braid::scheduler& b) {
        return braid::fork_join(b, "fib", [] { return plain(n); });
    });
}

}  // namespace bench::fib
