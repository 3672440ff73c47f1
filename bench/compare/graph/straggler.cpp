// What it is worth to run nodes again whose thread was switched out: a frame of 24 nodes of 100 µs
// and one after all of them, on two threads, beside a process that keeps one core busy, and alone.
// Measured until that last node runs; the run itself is over when the stragglers are back, too.
#include "graph/shapes.hpp"

#include "fib/neighbour.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/graph/graph.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>

namespace bench::graph {
namespace {

struct frame {
    frame() {
        const auto parts_of_it = graph.add_group({.name = "parts"});
        for (std::size_t i = 0; i < parts; ++i) {
            graph.add_idempotent(
                {.name = "part", .in = parts_of_it},
                [] {
                    busy_for(100'000);
                    return 1;
                },
                [this, i](int done) { results[i] += done; });
        }
        graph.precede(parts_of_it, graph.add({.name = "present"}, [this] { presented = now(); }));
    }
    /// In µs: of all frames the one that so many percent do not exceed.
    double percentile(unsigned percent, braid::nanoseconds rerun_after, bool beside) {
        constexpr int frames = 150;
        results.fill(0);
        std::optional<fib::neighbour> busy;
        if (beside) busy.emplace();
        std::vector<double> times;
        for (int i = 0; i < frames; ++i) {
            times.push_back(time_ns([&] { graph.run_and_wait({.rerun_after = rerun_after}); }) /
                            1000);
        }
        for (const int r : results) check_equal(r, frames, "results that were published");
        std::sort(times.begin(), times.end());
        return times[times.size() * percent / 100];
    }

    static constexpr std::size_t parts = 24;
    braid::scheduler scheduler{{.workers = 1}};
    std::array<int, parts> results{};
    std::int64_t presented = 0;
    braid::graph graph{scheduler, "frame"};
};

}  // namespace

void add_stragglers(suite& s) {
    const auto state = std::make_shared<std::unique_ptr<frame>>();
    const auto add = [&](const std::string& name, const char* about, unsigned percent,
                         bool beside) {
        s.at(name, "us", about);
        for (const std::int64_t after : {0, 200'000, 1'000'000}) {
            const std::string system =
                after == 0 ? "braid" : "braid, rerun after " + std::to_string(after / 1000) + " us";
            s.at(name).add(system, [=] {
                return [=] {
                    if (*state == nullptr) *state = std::make_unique<frame>();
                    return (*state)->percentile(percent, braid::nanoseconds{after}, beside);
                };
            });
        }
    };
    add("graph.straggler.quiet.p50",
        "24 idempotent nodes of 100 us and one after them, median frame", 50, false);
    add("graph.straggler.p50", "the same beside a busy process on one core", 50, true);
    add("graph.straggler.p95", "the same, 95 of 100 frames", 95, true);
}

}  // namespace bench::graph
