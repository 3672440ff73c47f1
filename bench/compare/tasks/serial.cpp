#include "tasks/tasks.hpp"

namespace bench::tasks {
namespace {

struct call {
    void (*function)(std::uint64_t);
    std::uint64_t argument;
};

/// The least that "later" can cost: an array of calls, filled, then made.
void run(std::vector<call>& calls, std::size_t n, void (*function)(std::uint64_t)) {
    for (std::size_t i = 0; i < n; ++i) calls[i] = {function, i};
    for (std::size_t i = 0; i < n; ++i) calls[i].function(calls[i].argument);
}

void empty(std::uint64_t) { count_one(); }

std::function<measure()> rounds(const load& l, void (*function)(std::uint64_t)) {
    return [=] {
        return [=, calls = std::vector<call>(l.round)]() mutable {
            return timed(l, [&](std::size_t n) { run(calls, n, function); });
        };
    };
}

}  // namespace

void add_serial(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(with_threads("tasks.post", threads)).add("serial", rounds(in_rounds, empty));
        s.at(with_threads("tasks.spawn", threads)).add("serial", rounds(in_rounds, empty));
        s.at(with_threads("tasks.flood", threads)).add("serial", rounds(at_once, empty));
        s.at(with_threads("tasks.live", threads)).add("serial", rounds(at_once, empty));
        s.at(with_threads("tasks.batch", threads)).add("serial", rounds(at_once, empty));
        s.at(with_threads("tasks.200ns", threads)).add("serial", rounds(with_work(), count_work));
    }
}

}  // namespace bench::tasks
