#include "fib/fib.hpp"
#include "fib/neighbour.hpp"

#include <braid/fork_join/join.hpp>

#include <algorithm>

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

long on(braid::scheduler& b) {
    return braid::fork_join(b, "fib", [](fork_context c) { return with_context(c, n); });
}

std::shared_ptr<braid::scheduler> with_workers(int count) {
    return std::make_shared<braid::scheduler>(braid::scheduler_options{.workers = count});
}

}  // namespace

void add_braid(suite& s) {
    bench::add_braid(s, "fib", "braid", expected, on);
    bench::add_braid(s, "fib", "braid plain", expected, [](braid::scheduler& b) {
        return braid::fork_join(b, "fib", [] { return plain(n); });
    });
    if (std::ranges::find(thread_counts, 4U) == thread_counts.end()) {
        s.at("fib.t4", "ms", "fib(35) on four threads").add("braid", [] {
            return [b = with_workers(3)] {
                return timed_ms([&] { return on(*b); }, expected, "braid");
            };
        });
    }
    s.at("neighbour.fib", "/quiet",
         "fib(35) on two threads (oneTBB: fib(30)) beside a busy process on one core")
        .add("braid", [] {
            return [b = with_workers(1)] {
                return slowed_by_neighbour(
                    15, [&] { return timed_ms([&] { return on(*b); }, expected, "braid"); });
            };
        });
}

}  // namespace bench::fib
