// What it costs to record: a task of a scheduler with a recorder beside one without, and a scope of
// the program, in turns within one process. Prints the table of docs/manual/profiler.md.
#include <braid/braid.hpp>
#include <braid/graph/graph.hpp>
#include <braid/profile/recorder.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace {

using clock_type = std::chrono::steady_clock;
constexpr std::size_t tasks = 1000;

/// Counts bytes and drops them: the disk is not what is measured.
struct nowhere final : braid::profile::capture_sink {
    bool take(std::span<const std::byte> chunks) override {
        bytes += chunks.size();
        return true;
    }
    std::size_t bytes = 0;
};

std::uint64_t ticks() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    return static_cast<std::uint64_t>(clock_type::now().time_since_epoch().count());
#endif
}

/// One thread does all: what is measured is the work, and not who wakes whom.
struct tasks_of {
    explicit tasks_of(braid::observer* by) : s({.workers = 0, .observer = by}), g(s) {
        for (std::size_t i = 0; i < tasks; ++i) {
            g.add({.name = "node"}, [this] { ++ran; });
        }
    }
    void run_graph() { g.run_and_wait(); }
    void run_chain() {
        braid::task_id last;
        for (std::size_t i = 0; i < tasks; ++i) {
            last = s.spawn({.name = "link", .after = {last}}, [this] { ++ran; });
        }
        s.wait(last);
    }
    void run_spawned() {
        s.wait(s.spawn({.name = "parent"}, [this](braid::task_context& t) {
            for (std::size_t i = 0; i < tasks; ++i) {
                t.spawn({.name = "child", .parent = t.id()}, [this] { ++ran; });
            }
        }));
    }
    braid::scheduler s;
    braid::graph g;
    std::uint64_t ran = 0;
};

struct row {
    const char* name;
    std::function<void()> run;
    std::vector<double> ns;
};

double median(std::vector<double> all) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                     all.end());
    return all[all.size() / 2];
}

}  // namespace

int main() {
    braid::profile::recorder resting, recording;
    nowhere sink;
    if (const braid::status went = recording.start(sink); !went) {
        std::fprintf(stderr, "recording: %s.\n", went.text.c_str());
        return 2;
    }
    tasks_of plain(nullptr), rests(&resting), records(&recording);
    std::uint64_t sum = 0;
    std::vector<row> rows;
    rows.push_back({"one read of the clock",
                    [&sum] {
                        for (std::size_t i = 0; i < tasks; ++i) sum += ticks();
                    },
                    {}});
    rows.push_back({"scope, recording",
                    [] {
                        for (std::size_t i = 0; i < tasks; ++i) {
                            const braid::profile::scope here("scope");
                        }
                    },
                    {}});
    const auto add = [&rows](const char* what, tasks_of& of, void (tasks_of::*run)()) {
        rows.push_back({what, [&of, run] { (of.*run)(); }, {}});
    };
    add("node of a graph, no recorder", plain, &tasks_of::run_graph);
    add("node of a graph, recorder at rest", rests, &tasks_of::run_graph);
    add("node of a graph, recording", records, &tasks_of::run_graph);
    add("spawned child, no recorder", plain, &tasks_of::run_spawned);
    add("spawned child, recorder at rest", rests, &tasks_of::run_spawned);
    add("spawned child, recording", records, &tasks_of::run_spawned);
    add("link of a chain, no recorder", plain, &tasks_of::run_chain);
    add("link of a chain, recording", records, &tasks_of::run_chain);

    constexpr int turns = 301;
    for (int turn = 0; turn < turns; ++turn) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the rings are emptied
        for (row& r : rows) {
            r.run();  // what the row before it has left in the caches is not measured
            const auto began = clock_type::now();
            r.run();
            const double seconds = std::chrono::duration<double>(clock_type::now() - began).count();
            r.ns.push_back(seconds * 1e9 / tasks);
        }
    }
    constexpr std::uint64_t each = 2 * turns * tasks;
    const bool right = plain.ran == 3 * each && rests.ran == 2 * each && records.ran == 3 * each;
    if (const braid::status went = recording.stop(); !went || !right || sum == 0) {
        std::fprintf(stderr, "recording: not all tasks ran.\n");
        return 1;
    }
    const braid::profile::recorder::counts all = recording.statistics();
    std::printf("| ns, median of %d | |\n|---|---:|\n", turns);
    for (const row& r : rows) std::printf("| %s | %.1f |\n", r.name, median(r.ns));
    std::printf("\n%llu records, %llu dropped, %.1f bytes a record\n",
                static_cast<unsigned long long>(all.records),
                static_cast<unsigned long long>(all.dropped),
                static_cast<double>(sink.bytes) / static_cast<double>(all.records));
    // The same without a recorder that is active.
    const auto began = clock_type::now();
    for (std::size_t i = 0; i < tasks * tasks; ++i) {
        const braid::profile::scope here("scope");
    }
    const double seconds = std::chrono::duration<double>(clock_type::now() - began).count();
    std::printf("scope, not recording: %.2f ns\n", seconds * 1e9 / (tasks * tasks));
}
