#include "upkeep/upkeep.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/graph/graph.hpp>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace bench::upkeep {
namespace {

double read(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Processor time of all threads but this one, in ns. The sleep of the thread that measures takes
/// more than what is measured.
double processor_time() { return read(CLOCK_PROCESS_CPUTIME_ID) - read(CLOCK_THREAD_CPUTIME_ID); }

/// ms of processor time in a second, from 100 ms after the burst on.
template <class Burst>
double idle_cpu(Burst&& burst) {
    constexpr auto looked_at = std::chrono::milliseconds(500);
    burst();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double before = processor_time();
    std::this_thread::sleep_for(looked_at);
    const double used = processor_time() - before;
    return used / 1e6 / std::chrono::duration<double>(looked_at).count();
}

/// A task is posted, a while after the one before has run; the poster does not help.
struct posted_now_and_then {
    explicit posted_now_and_then(braid::parking idle) : scheduler({.workers = 1, .idle = idle}) {}
    braid::scheduler scheduler;
    std::atomic<bool> ran{false};

    /// us from the post to the body, the middle of `times`.
    double latency(std::chrono::nanoseconds pause, int times) {
        std::vector<double> us;
        for (int i = 0; i < times; ++i) {
            pass(pause);
            ran.store(false, std::memory_order_relaxed);
            us.push_back(time_ns([&] {
                             scheduler.post([this] { ran.store(true, std::memory_order_release); });
                             while (!ran.load(std::memory_order_acquire)) {
                             }
                         }) /
                         1e3);
        }
        std::nth_element(us.begin(), us.begin() + times / 2, us.end());
        return us[static_cast<std::size_t>(times / 2)];
    }
    /// ms of processor time that the worker takes in a second with a post every ms.
    double cpu() {
        const double before = processor_time();
        const double ns = time_ns([&] { latency(std::chrono::milliseconds(1), 200); });
        return (processor_time() - before) / ns * 1e3;
    }

private:
    static void pass(std::chrono::nanoseconds pause) {
        const auto end = std::chrono::steady_clock::now() + pause;
        while (std::chrono::steady_clock::now() < end) {
        }
    }
};

void add_parking(suite& s) {
    const std::pair<const char*, braid::parking> presets[] = {
        {"braid", braid::parking::balanced},
        {"braid latency", braid::parking::latency},
        {"braid power", braid::parking::power}};
    for (const auto& [name, idle] : presets) {
        const auto make = [idle = idle] { return std::make_shared<posted_now_and_then>(idle); };
        s.at("upkeep.post.5us", "us", "from a post to its body, 5 us after the last one ended")
            .add(name, [=] {
                return [p = make()] { return p->latency(std::chrono::microseconds(5), 1'000); };
            });
        s.at("upkeep.post.30us", "us", "the same, 30 us after it").add(name, [=] {
            return [p = make()] { return p->latency(std::chrono::microseconds(30), 1'000); };
        });
        s.at("upkeep.post.1ms", "us", "the same, 1 ms after it").add(name, [=] {
            return [p = make()] { return p->latency(std::chrono::milliseconds(1), 100); };
        });
        s.at("upkeep.post.cpu", "ms/s", "processor time of the worker, with a post every ms")
            .add(name, [=] { return [p = make()] { return p->cpu(); }; });
    }
}

/// us from the end of a task of 20 us on the worker to the return of the wait for it, the middle of
/// `times`.
double wait_return(braid::scheduler& b, int times) {
    std::vector<double> us;
    for (int i = 0; i < times; ++i) {
        std::atomic<bool> started{false}, waits{false};
        std::int64_t ended = 0;
        const braid::task_id task = b.spawn([&] {
            started.store(true, std::memory_order_release);
            while (!waits.load(std::memory_order_acquire)) {
            }
            busy_for(20'000);
            ended = now();
        });
        while (!started.load(std::memory_order_acquire)) {
        }
        waits.store(true, std::memory_order_release);
        b.wait(task);
        us.push_back(static_cast<double>(now() - ended) / 1e3);
    }
    return median(std::move(us));
}

/// Of many in a row. After a pause most of the time is the processor's, which was asleep.
template <class Work>
double mean_us(Work&& work) {
    constexpr int times = 50;
    return time_ns([&] {
               for (int i = 0; i < times; ++i) work();
           }) /
           1e3 / times;
}

void burst_of_tasks(braid::scheduler& b) {
    for (int i = 0; i < 1'000; ++i) b.wait(b.spawn([] { count_one(); }));
}

}  // namespace

void add(suite& s) {
    add_parking(s);
    s.at("upkeep.wait.20us", "us",
         "from the end of a task elsewhere to the return of a wait for it")
        .add("braid", [] {
            return
                [b = std::make_shared<braid::scheduler>(braid::scheduler_options{.workers = 1})] {
                    return wait_return(*b, 500);
                };
        });
    s.at("upkeep.life", "us", "made and ended again and again, with one thread besides the caller")
        .add("thread", [] { return [] { return mean_us([] { std::thread([] {}).join(); }); }; })
        .add("braid", [] {
            return [] { return mean_us([] { const braid::scheduler b({.workers = 1}); }); };
        });
    s.at("upkeep.idle", "ms/s",
         "processor time of a scheduler that has nothing to do, after a burst")
        .add("braid",
             [] {
                 return [b = std::make_shared<braid::scheduler>(braid::scheduler_options{
                             .workers = 1})] { return idle_cpu([&] { burst_of_tasks(*b); }); };
             })
        .add("tbb", [] {
            struct state {
                tbb::global_control limit{tbb::global_control::max_allowed_parallelism, 2};
                tbb::task_arena arena{2};
            };
            return [a = std::make_shared<state>()] {
                return idle_cpu([&] {
                    a->arena.execute([] { tbb::parallel_for(0, 1'000, [](int) { count_one(); }); });
                });
            };
        });
    s.at("upkeep.graph_allocations", "calls", "heap allocations for 100 runs of a graph, after one")
        .add("braid", [] {
            return
                [b = std::make_shared<braid::scheduler>(braid::scheduler_options{.workers = 1})] {
                    braid::graph g(*b);
                    braid::graph_node before;
                    for (int i = 0; i < 100; ++i) {
                        const auto node = g.add([] { count_one(); });
                        if (before) g.precede(before, node);
                        if (i % 10 == 0) before = node;
                    }
                    g.run_and_wait();
                    const std::uint64_t allocations = b->allocations();
                    for (int i = 0; i < 100; ++i) g.run_and_wait();
                    return static_cast<double>(b->allocations() - allocations);
                };
        });
    s.at("upkeep.allocations", "calls", "heap allocations for 100,000 tasks, once it runs")
        .add("braid", [] {
            return
                [b = std::make_shared<braid::scheduler>(braid::scheduler_options{.workers = 1})] {
                    burst_of_tasks(*b);
                    const std::uint64_t before = b->allocations();
                    for (int i = 0; i < 100; ++i) burst_of_tasks(*b);
                    return static_cast<double>(b->allocations() - before);
                };
        });
}

}  // namespace bench::upkeep
