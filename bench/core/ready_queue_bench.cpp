// The queue of ready tasks by itself.
#include "core/ready/ready_queue.hpp"

#include <benchmark/benchmark.h>

#include <memory>

namespace {

constexpr std::size_t room = 1024;

struct queue {
    std::unique_ptr<braid::detail::ready_queue::cell[]> cells{
        new braid::detail::ready_queue::cell[room]()};
    braid::detail::ready_queue ready;
    queue() { ready.attach(cells.get(), room); }
};

void push_and_pop(benchmark::State& state) {
    queue q;
    for (auto _ : state) {
        q.ready.push(1);
        benchmark::DoNotOptimize(q.ready.pop());
    }
}
BENCHMARK(push_and_pop);

void push_and_steal(benchmark::State& state) {
    queue q;
    for (auto _ : state) {
        q.ready.push(1);
        benchmark::DoNotOptimize(q.ready.steal());
    }
}
BENCHMARK(push_and_steal);

void look_at_an_empty_queue(benchmark::State& state) {
    queue q;
    for (auto _ : state) benchmark::DoNotOptimize(q.ready.maybe_work());
}
BENCHMARK(look_at_an_empty_queue);

}  // namespace
