#pragma once
// Many small tasks from one thread. An empty task counts itself, so that none is lost; one with
// work counts what it computed.

#include "driver.hpp"

#include <algorithm>

namespace bench::tasks {

inline constexpr std::size_t total = 1'000'000;
inline constexpr std::size_t live = 4096;  // in rounds of so many, as a frame would

/// Rows (each .t1 and .t2): post, rounds of `live`; spawn, the same with ids where the rival has
/// any; flood and live, all of them before the wait, without and with ids; batch, one call for all
/// of them; 200ns, as spawn with work in each.
void add(suite& s);

void add_braid(suite& s);
void add_tbb(suite& s);
void add_openmp(suite& s);
void add_serial(suite& s);

/// ".t1", ".t2"
inline std::string with_threads(const char* name, unsigned threads) {
    return std::string(name) + ".t" + std::to_string(threads);
}

/// What a turn runs: so many tasks, in rounds of so many, that add so much to counted().
struct load {
    std::size_t all, round;
    std::uint64_t adds;
};
inline constexpr load in_rounds{total, live, total}, at_once{total, total, total};
/// Task i of a round calls work(i).
const load& with_work();

/// Takes about 200 ns. What it returns is to be counted.
std::uint64_t work(std::uint64_t i);
inline void count_work(std::uint64_t i) { thread_counter().value += work(i); }

/// Calls `round(n)`, which runs n tasks, until all have run. ns per task.
template <class Round>
double timed(const load& l, Round&& round) {
    const std::uint64_t before = counted();
    const double ns = time_ns([&] {
        for (std::size_t done = 0; done < l.all; done += l.round) {
            round(std::min(l.round, l.all - done));
        }
    });
    check_equal(counted() - before, l.adds, "what the tasks counted");
    return ns / static_cast<double>(l.all);
}

}  // namespace bench::tasks
