#include "wait/wait.hpp"

namespace bench::wait {

void add(suite& s) {
    s.at("wait.child.t1", "ns", "spawn one child and wait for it, on one thread");
    s.at("wait.child.t2", "ns", "the same beside an idle thread");
    s.at("wait.nested", "ns", "task k spawns k - 1 and waits for it, 10,000 deep, each");
    s.at("wait.chain", "ns", "task i waits for i - 1, 16,000 in order, each");
    for (const std::int64_t us : two_us) {
        s.at(with_number("wait.two", us), "bodies", "wait(a), wait(b) on two threads");
    }
    for (const std::int64_t us : gaps_us) {
        s.at(with_number("wait.gap", us), "us", "spawn to start elsewhere after nothing, p50");
    }
    add_braid(s);
    add_tbb(s);
}

}  // namespace bench::wait
