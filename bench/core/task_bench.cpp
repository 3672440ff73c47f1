// A task by itself: from the call to the end of its run, on one thread.
#include <braid/core/scheduler.hpp>
#include <braid/core/scope.hpp>
#include <braid/core/spawn_batch.hpp>

#include <benchmark/benchmark.h>

namespace {

void create_and_destroy(benchmark::State& state) {
    const auto workers = static_cast<int>(state.range(0));
    for (auto _ : state) braid::scheduler s({.workers = workers});
}
BENCHMARK(create_and_destroy)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond)->UseRealTime();

void spawn_and_wait(benchmark::State& state) {
    braid::scheduler s({.workers = 0});
    for (auto _ : state) s.wait(s.spawn([] {}));
}
BENCHMARK(spawn_and_wait);

void post_and_wait_for_the_scope(benchmark::State& state) {
    braid::scheduler s({.workers = 0});
    for (auto _ : state) {
        braid::scope tasks(s);
        tasks.post([] {});
        tasks.wait();
    }
}
BENCHMARK(post_and_wait_for_the_scope);

void children_of_a_task(benchmark::State& state) {
    braid::scheduler s({.workers = 0});
    for (auto _ : state) {
        s.wait(s.spawn([](braid::task_context& task) {
            for (int i = 0; i < 64; ++i) task.spawn_child([] {});
        }));
    }
    state.SetItemsProcessed(state.iterations() * 65);
}
BENCHMARK(children_of_a_task);

void chain(benchmark::State& state) {
    braid::scheduler s({.workers = 0});
    for (auto _ : state) {
        braid::task_id last;
        for (int i = 0; i < 64; ++i) last = s.spawn({.after = {last}}, [] {});
        s.wait(last);
    }
    state.SetItemsProcessed(state.iterations() * 64);
}
BENCHMARK(chain);

void batch(benchmark::State& state) {
    braid::scheduler s({.workers = 0});
    const auto count = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) s.wait(s.spawn_batch({}, count, [](std::size_t) {}));
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(batch)->Arg(2)->Arg(64)->Arg(4096);

}  // namespace
