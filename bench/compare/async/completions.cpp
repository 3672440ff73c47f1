#include "async/async.hpp"
#include "time_of_parts.hpp"

#include <braid/async.hpp>
#include <braid/core/scheduler.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace bench::async {
namespace {

constexpr int tasks = 200, parts = 1'000;

void add_complete(suite& s) {
    const auto make = [] {
        return std::make_shared<braid::scheduler>(braid::scheduler_options{.workers = 0});
    };
    s.at("async.complete", "ns", "a part of a task that is deferred and completed, or a child task")
        .add("braid",
             [=] {
                 return [b = make()] {
                     return time_of_parts(*b, tasks, parts,
                                          [&](braid::task_context& task, std::int64_t& done) {
                                              done += b->complete(task.defer());
                                          });
                 };
             })
        .add("child", [=] {
            return [b = make()] {
                return time_of_parts(*b, tasks, parts,
                                     [](braid::task_context& task, std::int64_t& done) {
                                         task.spawn_child([&done] { ++done; });
                                     });
            };
        });
}

constexpr int arrivals = 300;

/// The other side sleeps by then.
void let_sleep() { std::this_thread::sleep_for(std::chrono::microseconds(500)); }

/// us from complete() to the body of what comes after.
double arrival_of_completion(braid::scheduler& b) {
    std::vector<double> us;
    for (int i = 0; i < arrivals; ++i) {
        std::atomic<std::uint64_t> id{0};
        std::atomic<std::int64_t> ran{0};
        const braid::task_id asked = b.spawn([&](braid::task_context& task) {
            id.store(task.defer().value, std::memory_order_release);
        });
        b.spawn({.after = {asked}}, [&] { ran.store(now(), std::memory_order_release); });
        while (id.load(std::memory_order_acquire) == 0) {
        }
        let_sleep();
        const std::int64_t begin = now();
        if (!b.complete({id.load(std::memory_order_relaxed)})) throw wrong_answer("was complete");
        while (ran.load(std::memory_order_acquire) == 0) {
        }
        us.push_back(static_cast<double>(ran.load(std::memory_order_relaxed) - begin) / 1e3);
    }
    return median(std::move(us));
}

/// us from complete() to what the coroutine does next.
double arrival_of_coroutine(braid::scheduler& b) {
    std::vector<double> us;
    for (int i = 0; i < arrivals; ++i) {
        std::atomic<std::uint64_t> id{0};
        std::atomic<std::int64_t> ran{0};
        const auto waits = [](auto& armed, auto& at) -> braid::co<> {
            const braid::completion_id asked = braid::this_task::defer();
            armed.store(asked.value, std::memory_order_release);
            co_await asked.task();
            at.store(now(), std::memory_order_release);
        };
        braid::future<void> resumed = braid::co_spawn(b, {}, waits(id, ran));
        while (id.load(std::memory_order_acquire) == 0) {
        }
        let_sleep();
        const std::int64_t begin = now();
        if (!b.complete({id.load(std::memory_order_relaxed)})) throw wrong_answer("was complete");
        while (ran.load(std::memory_order_acquire) == 0) {
        }
        us.push_back(static_cast<double>(ran.load(std::memory_order_relaxed) - begin) / 1e3);
        resumed.get();
    }
    return median(std::move(us));
}

/// us from one wake by the system to the woken thread's next instruction.
double arrival_of_futex() {
    std::atomic<int> go{0}, asleep{0};
    std::atomic<std::int64_t> woken{0};
    std::thread other([&] {
        for (int i = 1; i <= arrivals; ++i) {
            asleep.store(i, std::memory_order_release);
            go.wait(i - 1, std::memory_order_acquire);
            woken.store(now(), std::memory_order_release);
        }
    });
    std::vector<double> us;
    for (int i = 1; i <= arrivals; ++i) {
        while (asleep.load(std::memory_order_acquire) != i) {
        }
        woken.store(0, std::memory_order_relaxed);
        let_sleep();
        const std::int64_t begin = now();
        go.store(i, std::memory_order_release);
        go.notify_one();
        std::int64_t end = 0;
        while ((end = woken.load(std::memory_order_acquire)) == 0) {
        }
        us.push_back(static_cast<double>(end - begin) / 1e3);
    }
    other.join();
    return median(std::move(us));
}

void add_arrival(suite& s) {
    const auto make = [] {
        return std::make_shared<braid::scheduler>(
            braid::scheduler_options{.workers = 1, .idle = braid::parking::power});
    };
    s.at("async.arrival", "us",
         "from complete() on one thread to what waits for it, on a sleeping one")
        .add("braid", [=] { return [b = make()] { return arrival_of_coroutine(*b); }; })
        .add("braid task", [=] { return [b = make()] { return arrival_of_completion(*b); }; })
        .add("futex wake", [] { return [] { return arrival_of_futex(); }; });
}

}  // namespace

void add(suite& s) {
    add_complete(s);
    add_arrival(s);
}

}  // namespace bench::async
