#include "tasks/tasks.hpp"

namespace bench::tasks {

void add(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        const auto row = [&](const char* name, const char* about) {
            s.at(with_threads(name, threads), "ns/task", about);
        };
        row("tasks.post", "empty tasks from one thread, at most 4,096 live");
        row("tasks.spawn", "the same, each with an id where the rival has ids");
        row("tasks.flood", "1,000,000 tasks posted before the wait");
        row("tasks.batch", "1,000,000 tasks in one call");
    }
    add_serial(s);
    add_braid(s);
    add_tbb(s);
    add_openmp(s);
}

}  // namespace bench::tasks
