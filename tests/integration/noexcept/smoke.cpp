// The smallest frame, compiled like the library without exceptions and run-time type information.
#include <braid/async.hpp>
#include <braid/braid.hpp>
#include <braid/fork_join.hpp>

#include <array>
#include <cstdio>

namespace {

braid::co<int> sum_until_closed(braid::channel<int>& from) {
    int sum = 0;
    while (true) {
        const auto n = co_await braid::as_result(from.pop());
        if (!n.value) co_return sum;
        sum += *n.value;
    }
}

braid::co<bool> went_well(braid::task_id awaited) {
    const braid::await_status how = co_await braid::as_result(awaited);
    co_return static_cast<bool>(how);
}

}  // namespace

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

    braid::channel<int> numbers(scheduler, {.capacity = 2});
    auto all = braid::co_spawn(scheduler, {}, sum_until_closed(numbers));
    const auto feeds = [](braid::channel<int>& to) -> braid::co<> {
        for (int i = 1; i <= 10; ++i) co_await to.push(i);
        to.close();
    };
    braid::co_spawn(scheduler, {}, feeds(numbers)).get();
    const bool well = braid::co_spawn(scheduler, {}, went_well(second)).get();
    if (const int got = all.get(); got != 55 || !well) {
        std::fprintf(stderr, "expected 55 of the coroutines, got %d\n", got);
        return 1;
    }
    return 0;
}
