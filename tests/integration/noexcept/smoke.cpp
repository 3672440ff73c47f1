// The smallest frame, compiled like the library without exceptions and run-time type information.
#include <braid/braid.hpp>
#include <braid/fork_join.hpp>

#include <array>
#include <cstdio>

int main() {
    int steps = 0;
    braid::scheduler scheduler;
    const auto first = scheduler.spawn({.name = "first"}, [&steps] { steps += 1; });
    const auto second =
        scheduler.spawn({.name = "second", .after = {first}}, [&steps] { steps *= 10; });
    scheduler.wait(second);
    if (steps != 10) {
        std::fprintf(stderr, "expected 10 after first and second, got %d\n", steps);
        return 1;
    }

    std::array<int, 100> squares{};
    braid::parallel_for(scheduler, squares.size(),
                        [&](std::size_t i) { squares[i] = static_cast<int>(i * i); });
    const int sum = braid::fork_join(scheduler, "sum", [&](braid::fork_context c) {
        const auto [low, high, none] = braid::join(
            c, [&] { return squares[0] + squares[1]; },
            [&](braid::fork_context inner) { return braid::reduce(inner, squares, 0); },
            [] { return 0; });
        return low + high + none;
    });
    if (sum != 328'351) {
        std::fprintf(stderr, "expected 328351 of the squares, got %d\n", sum);
        return 1;
    }
    return 0;
}
