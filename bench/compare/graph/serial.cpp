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
            if (i < width) continue;
            for (const unsigned p : predecessors(i)) {
                edges_[next_edge_] = {i, first_[p]};
                first_[p] = next_edge_++;
            }
        }
    }
    void reset() {
        for (unsigned i = width; i < nodes; ++i) {
            waits_for_[i].store(fan_in, std::memory_order_relaxed);
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

/// `begin()` makes the graph ready for a run.
template <class Begin>
double raw_one_thread(raw_graph& g, Begin&& begin) {
    return repeat([&](value* v) {
        begin();
        g.run(v, 0, width);
    });
}

template <class Begin>
double raw_two_threads(raw_graph& g, Begin&& begin) {
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
    const double ns = repeat([&](value* v) {
        begin();
        answered.store(false, std::memory_order_relaxed);
        work.store(v, std::memory_order_release);
        g.run(v, 0, width / 2);
        while (!answered.load(std::memory_order_acquire) || !g.done()) {
        }
    });
    over.store(true, std::memory_order_release);
    return ns;
}

double raw(raw_graph& g, unsigned threads, bool built) {
    if (built) g.build();
    const auto begin = [&] {
        if (!built) g.build();
        g.reset();
    };
    return threads == 1 ? raw_one_thread(g, begin) : raw_two_threads(g, begin);
}

double in_order() {
    return repeat([](value* v) {
        for (unsigned i = 0; i < nodes; ++i) compute(v, i);
    });
}

}  // namespace

void add_serial(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        for (const bool built : {false, true}) {
            s.at(built ? rerun_row(threads) : rebuild_row(threads))
                .add("serial", [] { return in_order; })
                .add("raw", [=] {
                    return
                        [=, g = std::make_shared<raw_graph>()] { return raw(*g, threads, built); };
                });
        }
    }
}

}  // namespace bench::graph
