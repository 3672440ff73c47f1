#include "scaling/scaling.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/fork_join/join.hpp>
#include <braid/fork_join/parallel_for.hpp>
#include <braid/graph/graph.hpp>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace bench::scaling {
namespace {

constexpr std::size_t pieces = 512;
constexpr unsigned threads = 16;
constexpr double total_ms = 400;

/// Those in the middle take 80 times as long as the first ones.
class sleeping_pieces {
public:
    sleeping_pieces() {
        std::vector<double> weights(pieces);
        for (std::size_t i = 0; i < pieces; ++i) {
            const double from_middle = static_cast<double>(i) / pieces - 0.5;
            weights[i] = 1 + 79 / (1 + 100 * from_middle * from_middle);
        }
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (const double w : weights) {
            sleeps_.push_back(
                std::chrono::nanoseconds(static_cast<std::int64_t>(total_ms * 1e6 * w / sum)));
        }
    }
    void run(std::size_t i) {
        std::this_thread::sleep_for(sleeps_[i]);
        over_.fetch_add(1, std::memory_order_relaxed);
    }
    /// How often the time that it would take if no thread ever waited for work, and none slept for
    /// longer than it asked to.
    template <class All>
    double over_ideal(All&& all) {
        over_ = 0;
        const double ns = time_ns(all);
        check_equal(over_.load(), pieces, "pieces that have run");
        return ns / 1e6 / (total_ms / threads);
    }

private:
    std::vector<std::chrono::nanoseconds> sleeps_;
    std::atomic<std::size_t> over_{0};
};

struct with_braid : sleeping_pieces {
    braid::scheduler scheduler{braid::scheduler_options{.workers = threads - 1}};
};
struct with_tbb : sleeping_pieces {
    tbb::global_control limit{tbb::global_control::max_allowed_parallelism, threads};
    tbb::task_arena arena{static_cast<int>(threads)};
};

/// run(state&) does all pieces.
template <class State, class Run>
void add(row& r, const char* system, Run run) {
    r.add(system, [=] {
        auto state = std::make_shared<State>();
        return [=] { return state->over_ideal([&] { run(*state); }); };
    });
}

void halve(with_braid& b, braid::fork_context c, std::size_t begin, std::size_t end) {
    if (end - begin == 1) return b.run(begin);
    const std::size_t middle = (begin + end) / 2;
    braid::join(
        c, [&, begin, middle](braid::fork_context inner) { halve(b, inner, begin, middle); },
        [&, middle, end](braid::fork_context inner) { halve(b, inner, middle, end); });
}
void halve(with_tbb& t, std::size_t begin, std::size_t end) {
    if (end - begin == 1) return t.run(begin);
    const std::size_t middle = (begin + end) / 2;
    tbb::parallel_invoke([&] { halve(t, begin, middle); }, [&] { halve(t, middle, end); });
}

void add_loops(suite& s) {
    row& loop = s.at("scaling.loop", "x", "a loop of 512 pieces that sleep, 16 threads");
    add<with_braid>(loop, "braid", [](with_braid& b) {
        braid::parallel_for(b.scheduler, pieces, [&](std::size_t i) { b.run(i); });
    });
    add<with_tbb>(loop, "tbb", [](with_tbb& t) {
        t.arena.execute(
            [&] { tbb::parallel_for(std::size_t{0}, pieces, [&](std::size_t i) { t.run(i); }); });
    });
    constexpr std::size_t outer = 16, inner = pieces / outer;
    row& nested = s.at("scaling.nested", "x", "16 loops of 32 in a loop");
    add<with_braid>(nested, "braid", [](with_braid& b) {
        braid::parallel_for(b.scheduler, outer, [&](std::size_t i, braid::fork_context c) {
            braid::parallel_for(c, inner, [&](std::size_t k) { b.run(i * inner + k); });
        });
    });
    add<with_tbb>(nested, "tbb", [](with_tbb& t) {
        t.arena.execute([&] {
            tbb::parallel_for(std::size_t{0}, outer, [&](std::size_t i) {
                tbb::parallel_for(std::size_t{0}, inner,
                                  [&](std::size_t k) { t.run(i * inner + k); });
            });
        });
    });
}

void add_tasks(suite& s) {
    row& join = s.at("scaling.join", "x", "512 pieces by joins of halves");
    add<with_braid>(join, "braid", [](with_braid& b) {
        braid::fork_join(b.scheduler, "halves",
                         [&](braid::fork_context c) { halve(b, c, 0, pieces); });
    });
    add<with_tbb>(join, "tbb", [](with_tbb& t) { t.arena.execute([&] { halve(t, 0, pieces); }); });
    add<with_braid>(s.at("scaling.batch", "x", "a batch of 512"), "braid", [](with_braid& b) {
        b.scheduler.wait(
            b.scheduler.spawn_batch({.name = "batch"}, pieces, [&](std::size_t i) { b.run(i); }));
    });
    struct with_graph : with_braid {
        braid::graph graph{scheduler};
        with_graph() {
            for (std::size_t i = 0; i < pieces; ++i) graph.add([this, i] { run(i); });
        }
    };
    add<with_graph>(s.at("scaling.graph", "x", "a graph of 512 nodes without edges"), "braid",
                    [](with_graph& g) { g.graph.run_and_wait(); });
}

}  // namespace

void add(suite& s) {
    // Expected: 1.1, since a sleep takes some 60 us longer than was asked for, 32 times a thread.
    add_loops(s);
    add_tasks(s);
}

}  // namespace bench::scaling
