#include "tasks/tasks.hpp"
#include "tbb_threads.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

#include <memory>

namespace bench::tasks {
namespace {

void run(std::size_t n) {
    tbb::task_group group;
    for (std::size_t i = 0; i < n; ++i) group.run([] { count_one(); });
    group.wait();
}

void run_work(std::size_t n) {
    tbb::task_group group;
    for (std::size_t i = 0; i < n; ++i) group.run([i] { count_work(i); });
    group.wait();
}

void batch(std::size_t n) {
    // Grain 1 and no merging: one task per element.
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, n, 1), [](const auto&) { count_one(); },
        tbb::simple_partitioner());
}

std::function<measure()> rounds(unsigned threads, const load& l, void (*round)(std::size_t)) {
    return [=] {
        return [=, s = std::make_shared<tbb_threads>(threads)] {
            return s->arena.execute([&] { return timed(l, round); });
        };
    };
}

}  // namespace

void add_tbb(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(with_threads("tasks.post", threads)).add("tbb", rounds(threads, in_rounds, run));
        s.at(with_threads("tasks.spawn", threads)).add("tbb", rounds(threads, in_rounds, run));
        s.at(with_threads("tasks.flood", threads)).add("tbb", rounds(threads, at_once, run));
        s.at(with_threads("tasks.live", threads)).add("tbb", rounds(threads, at_once, run));
        s.at(with_threads("tasks.batch", threads)).add("tbb", rounds(threads, at_once, batch));
        s.at(with_threads("tasks.200ns", threads))
            .add("tbb", rounds(threads, with_work(), run_work));
    }
}

}  // namespace bench::tasks
