#include "tasks/tasks.hpp"

namespace bench::tasks {
namespace {

struct call {
    void (*function)(void*);
    void* argument;
};

/// The least that "later" can cost: an array of calls, filled, then made.
void run(std::vector<call>& calls, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) calls[i] = {[](void*) { count_one(); }, nullptr};
    for (std::size_t i = 0; i < n; ++i) calls[i].function(calls[i].argument);
}

std::function<measure()> rounds(std::size_t size) {
    return [=] {
        return [=, calls = std::vector<call>(size)]() mutable {
            return in_rounds_of(size, [&](std::size_t n) { run(calls, n); });
        };
    };
}

}  // namespace

void add_serial(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(with_threads("tasks.post", threads)).add("serial", rounds(live));
        s.at(with_threads("tasks.spawn", threads)).add("serial", rounds(live));
        s.at(with_threads("tasks.flood", threads)).add("serial", rounds(total));
        s.at(with_threads("tasks.batch", threads)).add("serial", rounds(total));
    }
}

}  // namespace bench::tasks
