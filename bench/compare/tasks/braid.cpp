#include "tasks/tasks.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/core/scope.hpp>
#include <braid/core/spawn_batch.hpp>

#include <memory>

namespace bench::tasks {
namespace {

struct state {
    explicit state(unsigned threads)
        : scheduler({.workers = static_cast<int>(threads) - 1}), tasks(scheduler) {}
    braid::scheduler scheduler;
    braid::scope tasks;
    braid::task_id ids[live];
};

void post(state& s, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) s.tasks.post([] { count_one(); });
    s.tasks.wait();
}

void spawn(state& s, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) s.ids[i] = s.tasks.spawn({}, [] { count_one(); });
    s.tasks.wait();
}

void batch(state& s, std::size_t n) {
    s.scheduler.wait(s.scheduler.spawn_batch({}, n, [](std::size_t) { count_one(); }));
}

std::function<measure()> rounds(unsigned threads, std::size_t size,
                                void (*round)(state&, std::size_t)) {
    return [=] {
        return [=, s = std::make_shared<state>(threads)] {
            return in_rounds_of(size, [&](std::size_t n) { round(*s, n); });
        };
    };
}

}  // namespace

void add_braid(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(with_threads("tasks.post", threads)).add("braid", rounds(threads, live, post));
        s.at(with_threads("tasks.spawn", threads)).add("braid", rounds(threads, live, spawn));
        s.at(with_threads("tasks.flood", threads)).add("braid", rounds(threads, total, post));
        s.at(with_threads("tasks.batch", threads)).add("braid", rounds(threads, total, batch));
    }
}

}  // namespace bench::tasks
