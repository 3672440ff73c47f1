// No scheduler at all: the nodes in order ("serial"), and what any scheduler must do at least
// ("raw"): build arrays of successors and counters, count down, keep ready nodes on a stack.
// With two threads each has a stack of its own and nobody steals.
#include "graph/graph.hpp"

#include <atomic>
#include <memory>
#include <thread>

namespace bench::graph {
namespace {

class raw_graph {
public:
    void build() {
        next_edge_ = 0;
        for (unsigned i = 0; i < nodes; ++i) {
            first_[i] = none;
            waits_for_[i].store(i < width ? 0 : fan_in, std::memory_order_relaxed);
            if (i < width) continue;
            for (const unsigned p : predecessors(i)) {
                edges_[next_edge_] = {i, first_[p]};
                first_[p] = next_edge_++;
            }
        }
        left_.store(nodes, std::memory_order_release);
    }

    /// Runs the sources [begin, end) and what becomes ready here, until all nodes are done.
    void run(value* v, unsigned begin, unsigned end) {
        std::array<unsigned, nodes> stack;
        unsigned size = 0;
        while (begin != end) stack[size++] = begin++;
        unsigned ran = 0;
        while (size != 0) {
            const unsigned i = stack[--size];
            compute(v, i);
            ++ran;
            for (unsigned e = first_[i]; e != none; e = edges_[e].next) {
                const unsigned to = edges_[e].to;
                if (waits_for_[to].fetch_sub(1, std::memory_order_acq_rel) == 1) {
                    stack[size++] = to;
                }
            }
        }
        left_.fetch_sub(ran, std::memory_order_acq_rel);
    }
    bool done() const { return left_.load(std::memory_order_acquire) == 0; }

private:
    static constexpr unsigned none = UINT32_MAX;
    struct edge {
        unsigned to, next;
    };
    std::array<unsigned, nodes> first_{};
    std::array<std::atomic<unsigned>, nodes> waits_for_{};
    std::array<edge, nodes * fan_in> edges_{};
    unsigned next_edge_ = 0;
    std::atomic<unsigned> left_{0};
};

double raw_one_thread(raw_graph& g) {
    return rebuild([&](value* v) {
        g.build();
        g.run(v, 0, width);
    });
}

double raw_two_threads(raw_graph& g) {
    std::atomic<value*> work{nullptr};
    std::atomic<bool> answered{false}, over{false};
    std::jthread other([&] {
        while (!over.load(std::memory_order_acquire)) {
            value* v = work.exchange(nullptr, std::memory_order_acq_rel);
            if (v == nullptr) continue;
            g.run(v, width / 2, width);
            answered.store(true, std::memory_order_release);
        }
    });
    const double ns = rebuild([&](value* v) {
        g.build();
        answered.store(false, std::memory_order_relaxed);
        work.store(v, std::memory_order_release);
        g.run(v, 0, width / 2);
        while (!answered.load(std::memory_order_acquire) || !g.done()) {
        }
    });
    over.store(true, std::memory_order_release);
    return ns;
}

double in_order() {
    return rebuild([](value* v) {
        for (unsigned i = 0; i < nodes; ++i) compute(v, i);
    });
}

}  // namespace

void add_serial(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(row_name(threads)).add("serial", [] { return in_order; }).add("raw", [=] {
            return [=, g = std::make_shared<raw_graph>()] {
                return threads == 1 ? raw_one_thread(*g) : raw_two_threads(*g);
            };
        });
    }
}

}  // namespace bench::graph
