#pragma once
// Waits for tasks, and how long a task waits for a thread that had nothing to do.

#include "driver.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bench::wait {

/// Rows: child (.t1, .t2), one child and the wait for it; nested, task k spawns k - 1 and waits for
/// it; chain, task i waits for i - 1; two (.50, .200, .1000), two waits one after the other for
/// bodies of so many µs on two threads; gap (.10, .100, .1000), from spawn to start on another
/// thread after so many µs of nothing.
void add(suite& s);

void add_braid(suite& s);
void add_tbb(suite& s);

inline constexpr std::size_t children = 100'000;
inline constexpr std::size_t depth = 10'000, chain_length = 16'000;
inline constexpr std::array<std::int64_t, 3> two_us{50, 200, 1000}, gaps_us{10, 100, 1000};

/// "wait.two.50"
inline std::string with_number(const char* name, std::int64_t number) {
    return std::string(name) + '.' + std::to_string(number);
}

/// Bodies of `us` in two tasks at once, in bodies. `pair` starts two and waits for the first and
/// then for the second.
template <class Pair>
double two_bodies(std::int64_t us, Pair&& pair) {
    std::vector<double> all;
    for (int i = 0; i < 200; ++i) {
        std::atomic<int> ended{0};
        const double ns = time_ns([&] {
            pair([&ended, us] {
                busy_for(us * 1000);
                ended.fetch_add(1, std::memory_order_relaxed);
            });
        });
        check_equal(ended.load(), 2, "ended bodies");
        all.push_back(ns / static_cast<double>(us * 1000));
    }
    return median(all);
}

/// From the start of a task to its body on another thread, p50 in µs, while the caller watches.
/// `start` makes a task of a callable that runs elsewhere.
template <class Start>
double after_gap(std::int64_t us, Start&& start) {
    std::vector<double> all;
    for (int i = 0; i < 300; ++i) {
        std::atomic<std::int64_t> began{0};
        busy_for(us * 1000);
        const std::int64_t asked = now();
        start([&began] { began.store(now(), std::memory_order_release); });
        std::int64_t then = 0;
        while ((then = began.load(std::memory_order_acquire)) == 0) {
        }
        all.push_back(static_cast<double>(then - asked) / 1000);
    }
    return median(all);
}

}  // namespace bench::wait
