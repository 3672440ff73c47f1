#include "tasks/tasks.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/core/scope.hpp>
#include <braid/core/spawn_batch.hpp>

#include <memory>
#include <vector>

namespace bench::tasks {
namespace {

struct state {
    explicit state(unsigned threads)
        : scheduler({.workers = static_cast<int>(threads) - 1}), tasks(scheduler) {}
    braid::scheduler scheduler;
    braid::scope tasks;
    std::vector<braid::task_id> ids = std::vector<braid::task_id>(total);
};

void post(state& s, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) s.tasks.post([] { count_one(); });
    s.tasks.wait();
}

void spawn(state& s, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) s.ids[i] = s.tasks.spawn({}, [] { count_one(); });
    s.tasks.wait();
}

void spawn_work(state& s, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) s.ids[i] = s.tasks.spawn({}, [i] { count_work(i); });
    s.tasks.wait();
}

void batch(state& s, std::size_t n) {
    s.scheduler.wait(s.scheduler.spawn_batch({}, n, [](std::size_t) { count_one(); }));
}

std::function<measure()> rounds(unsigned threads, const load& l,
                                void (*round)(state&, std::size_t)) {
    return [=] {
        return [=, s = std::make_shared<state>(threads)] {
            return timed(l, [&](std::size_t n) { round(*s, n); });
        };
    };
}

}  // namespace

void add_braid(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(with_threads("tasks.post", threads)).add("braid", rounds(threads, in_rounds, post));
        s.at(with_threads("tasks.spawn", threads)).add("braid", rounds(threads, in_rounds, spawn));
        s.at(with_threads("tasks.flood", threads)).add("braid", rounds(threads, at_once, post));
        s.at(with_threads("tasks.live", threads)).add("braid", rounds(threads, at_once, spawn));
        s.at(with_threads("tasks.batch", threads)).add("braid", rounds(threads, at_once, batch));
        s.at(with_threads("tasks.200ns", threads))
            .add("braid", rounds(threads, with_work(), spawn_work));
    }
}

}  // namespace bench::tasks
