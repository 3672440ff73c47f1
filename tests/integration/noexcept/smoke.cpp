// The smallest frame, compiled like the library without exceptions and run-time type information.
#include <braid/braid.hpp>

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
    return 0;
}
