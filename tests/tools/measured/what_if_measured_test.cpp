// What the model says of one thread, from a capture of two, against one thread that was measured.
// The frames of both come in turns, so that both meet the same machine; and while the one thread
// runs the other core has as much to do as in the capture, so that cores which share their units
// (virtual ones often do) are as fast in both.
#include "profile/analysis/what_if.hpp"

#include <gtest/gtest.h>
#include <braid/braid.hpp>
#include <braid/graph/graph.hpp>
#include <braid/profile/recorder.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using clock_type = std::chrono::steady_clock;

/// Arithmetic, about 20 us for each unit: the model leaves out memory, and says so.
std::uint64_t work(unsigned units) {
    std::uint64_t x = 0x9e37'79b9'7f4a'7c15U + units;
    for (unsigned i = 0; i < units * 10'000; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

/// A frame such as engines have: layers of unequal tasks, each after two of the layer before; a
/// part of it is a chain.
class frame {
public:
    frame(int workers, braid::observer* by)
        : s_({.workers = workers, .observer = by}), g_(s_), sums_(layers * wide + links) {
        std::vector<braid::graph_node> before;
        for (unsigned layer = 0; layer < layers; ++layer) {
            std::vector<braid::graph_node> here;
            for (unsigned i = 0; i < wide; ++i) {
                const unsigned units = 2 + (layer * 7 + i * 5) % 9;
                here.push_back(add("tile", layer * wide + i, units));
                if (before.empty()) continue;
                g_.precede(before[i], here[i]);
                g_.precede(before[(i + 1) % wide], here[i]);
            }
            before = here;
        }
        braid::graph_node last;
        for (unsigned i = 0; i < links; ++i) {
            const braid::graph_node next = add("link", layers * wide + i, 5);
            if (i != 0) g_.precede(last, next);
            last = next;
        }
    }

    /// ns. The calling thread takes part.
    double run() {
        const auto began = clock_type::now();
        g_.run_and_wait();
        return std::chrono::duration<double, std::nano>(clock_type::now() - began).count();
    }

private:
    static constexpr unsigned layers = 6, wide = 6, links = 6;

    braid::graph_node add(const char* name, unsigned place, unsigned units) {
        return g_.add({.name = name}, [this, place, units] { sums_[place] = work(units); });
    }

    braid::scheduler s_;
    braid::graph g_;
    std::vector<std::uint64_t> sums_;
};

/// Arithmetic on another core, while it is asked for.
class company {
public:
    company() = default;
    ~company() {
        say(what::end);
        thread_.join();
    }
    void begin() { say(what::work); }
    void end() { say(what::rest); }

private:
    enum class what : int { rest, work, end };

    void say(what next) {
        // seq_cst: nothing hangs on it but this flag.
        now_.store(next, std::memory_order_seq_cst);
        now_.notify_one();
    }
    void keep() {
        for (what seen = what::rest; seen != what::end;
             seen = now_.load(std::memory_order_seq_cst)) {
            if (seen == what::rest) now_.wait(seen, std::memory_order_seq_cst);
            if (seen == what::work) sum_ += work(1);
        }
    }

    std::atomic<what> now_{what::rest};
    std::uint64_t sum_ = 0;
    std::thread thread_{[this] { keep(); }};
};

double median(std::vector<double> all) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
}

struct comparison {
    double predicted = 0, measured = 0;
    double error() const { return predicted / measured - 1; }
};

comparison compare(frame& of_two, frame& of_one, company& beside, braid::profile::recorder& by,
                   const std::string& path) {
    constexpr int frames = 31;
    std::vector<double> one;
    EXPECT_TRUE(by.start(path));
    for (int i = 0; i < frames; ++i) {
        by.begin_frame(static_cast<std::uint64_t>(i));
        of_two.run();
        by.end_frame(static_cast<std::uint64_t>(i));
        beside.begin();
        one.push_back(of_one.run());
        beside.end();
    }
    EXPECT_TRUE(by.stop());
    braid::profile::capture read;
    EXPECT_TRUE(braid::profile::read_capture(path, read));
    const braid::profile::history all = make_history(read);
    braid::profile::machine on;
    on.cores = 1;
    const braid::profile::what_if_result said = what_if(all, std::span(&on, 1));
    EXPECT_EQ(said.frames, frames);
    return {static_cast<double>(said.rows[0].p50), median(one)};
}

TEST(WhatIfMeasured, TwoThreadsPredictTheMedianFrameOfOneWithinATenth) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("braid-what-if-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    // Emptied at the end only: its thread would take part of a core.
    braid::profile::recorder by({.flush_every = braid::nanoseconds{10'000'000'000}});
    frame of_two(1, &by), of_one(0, nullptr);  // and the calling thread
    company beside;
    of_two.run();
    of_one.run();
    // Other programs may have the machine for a while.
    double error = 1;
    for (int attempt = 0; attempt < 3 && error > 0.10; ++attempt) {
        std::vector<double> errors;
        for (int round = 0; round < 7; ++round) {
            const comparison c =
                compare(of_two, of_one, beside, by, (folder / "two.braid").string());
            std::printf("predicted %.3f ms, measured %.3f ms: %+.1f %%\n", c.predicted * 1e-6,
                        c.measured * 1e-6, 100 * c.error());
            errors.push_back(std::abs(c.error()));
        }
        error = median(errors);
    }
    std::filesystem::remove_all(folder);
    EXPECT_LE(error, 0.10);
}

}  // namespace
