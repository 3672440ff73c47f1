#include "tasks/tasks.hpp"

namespace bench::tasks {
namespace {

/// How many multiplications take 200 ns here. The fastest of several tries: others slow it down.
std::uint64_t multiplications() {
    constexpr std::uint64_t tried = 100'000;
    double fastest = 1e9;
    std::uint64_t x = 1;
    for (int i = 0; i < 20; ++i) {
        fastest = std::min(fastest, time_ns([&] { x = multiply_on(x, tried); }));
    }
    asm("" : : "r"(x));  // wanted, or else nothing is multiplied
    return static_cast<std::uint64_t>(200 * tried / fastest);
}

}  // namespace

std::uint64_t work(std::uint64_t i) {
    static const std::uint64_t times = multiplications();
    return multiply_on(i, times) >> 40;
}

const load& with_work() {
    static const load all = [] {
        constexpr std::size_t rounds = 25;
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < live; ++i) sum += work(i);
        return load{rounds * live, live, rounds * sum};
    }();
    return all;
}

void add(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        const auto row = [&](const char* name, const char* about) {
            s.at(with_threads(name, threads), "ns/task", about);
        };
        row("tasks.post", "empty tasks from one thread, at most 4,096 live");
        row("tasks.spawn", "the same, each with an id where the rival has ids");
        row("tasks.flood", "1,000,000 tasks posted before the wait");
        row("tasks.live", "the same, each with an id where the rival has ids");
        row("tasks.batch", "1,000,000 tasks in one call");
        row("tasks.200ns", "tasks of 200 ns with ids, at most 4,096 live");
    }
    add_serial(s);
    add_braid(s);
    add_tbb(s);
    add_openmp(s);
}

}  // namespace bench::tasks
