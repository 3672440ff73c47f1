// What a task costs, and how large one must be to be worth it: post, spawn and batch over bodies of
// several sizes, with one and two threads. Prints the table of docs/manual/granularity.md.
#include <braid/braid.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) {
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// `steps` dependent multiplications: time that no optimiser removes and no cache disturbs.
std::uint64_t body(std::uint64_t steps, std::uint64_t seed) {
    std::uint64_t x = seed | 1;
    for (std::uint64_t i = 0; i < steps; ++i) x = x * 0x9e37'79b9'7f4a'7c15U + i;
    return x;
}

std::uint64_t steps_per_microsecond() {
    constexpr std::uint64_t steps = 1'000'000;
    double best = 1e9;
    std::uint64_t sink = 0;
    for (int i = 0; i < 50; ++i) {
        const auto start = clock_type::now();
        sink += body(steps, static_cast<std::uint64_t>(i));
        best = std::min(best, seconds_since(start));
    }
    if (sink == 0) std::puts("");
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(steps / (best * 1e6)));
}

struct run {
    double seconds = 0;
    std::uint64_t sum = 0;  // checked: every body ran, once
};

run serial(std::size_t tasks, std::uint64_t steps) {
    const auto start = clock_type::now();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < tasks; ++i) sum += body(steps, i);
    return {seconds_since(start), sum};
}

enum class way { post, spawn, batch };
constexpr const char* name_of(way w) {
    return w == way::post ? "post" : w == way::spawn ? "spawn" : "batch";
}

run parallel(braid::scheduler& s, way how, std::size_t tasks, std::uint64_t steps) {
    std::vector<std::uint64_t> results(tasks);
    const auto one = [&results, steps](std::size_t i) { results[i] = body(steps, i); };
    const auto start = clock_type::now();
    if (how == way::batch) {
        s.wait(s.spawn_batch({.may_be_long = true}, tasks, one));
    } else if (how == way::post) {
        braid::scope all(s);
        for (std::size_t i = 0; i < tasks; ++i) all.post([&one, i] { one(i); });
        all.wait();
    } else {
        // A frame's shape: a root with its children.
        s.wait(s.spawn({.may_be_long = true}, [&](braid::task_context& task) {
            for (std::size_t i = 0; i < tasks; ++i) task.spawn_child([&one, i] { one(i); });
        }));
    }
    const double time = seconds_since(start);
    std::uint64_t sum = 0;
    for (const std::uint64_t r : results) sum += r;
    return {time, sum};
}

}  // namespace

int main() {
    const std::uint64_t per_us = steps_per_microsecond();
    std::printf("%-8s %-6s %10s %14s %14s %12s\n", "threads", "way", "body us", "task us",
                "overhead ns", "efficiency");
    for (const unsigned threads : {1U, 2U}) {
        braid::scheduler s({.workers = static_cast<int>(threads - 1)});
        for (const way how : {way::post, way::spawn, way::batch}) {
            for (const double us : {0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0}) {
                const auto steps = static_cast<std::uint64_t>(us * static_cast<double>(per_us));
                const auto tasks = static_cast<std::size_t>(2'000 / std::max(us, 0.4));
                // About 2 ms each, serial and parallel in turns, the best of each: short enough to
                // run undisturbed now and then on a machine that has other work.
                double alone = 1e9;
                double together = 1e9;
                for (int round = 0; round < 150; ++round) {
                    const run a = serial(tasks, steps);
                    const run b = parallel(s, how, tasks, steps);
                    if (a.sum != b.sum) {
                        std::fprintf(stderr, "granularity: %s gave a wrong sum.\n", name_of(how));
                        return 1;
                    }
                    alone = std::min(alone, a.seconds);
                    together = std::min(together, b.seconds);
                }
                const double n = static_cast<double>(tasks);
                const double thread_time = together * threads;
                std::printf("%-8u %-6s %10.2f %14.3f %14.0f %11.0f%%\n", threads, name_of(how),
                            alone / n * 1e6, together / n * 1e6, (thread_time - alone) / n * 1e9,
                            100 * alone / thread_time);
            }
        }
    }
    return 0;
}
