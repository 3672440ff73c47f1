#pragma once
// A million empty tasks from one thread. An empty task counts itself, so that none is lost.

#include "driver.hpp"

#include <algorithm>

namespace bench::tasks {

inline constexpr std::size_t total = 1'000'000;
inline constexpr std::size_t live = 4096;  // in rounds of so many, as a frame would

/// Rows (each .t1 and .t2): post, rounds of `live`; spawn, the same with ids where the rival has
/// any; flood, all of them before the wait; batch, one call for all of them.
void add(suite& s);

void add_braid(suite& s);
void add_tbb(suite& s);
void add_openmp(suite& s);
void add_serial(suite& s);

/// ".t1", ".t2"
inline std::string with_threads(const char* name, unsigned threads) {
    return std::string(name) + ".t" + std::to_string(threads);
}

/// Calls `round(n)`, which runs n empty tasks, until all have run. ns per task.
template <class Round>
double in_rounds_of(std::size_t size, Round&& round) {
    const std::uint64_t before = counted();
    const double ns = time_ns([&] {
        for (std::size_t done = 0; done < total; done += size) {
            round(std::min(size, total - done));
        }
    });
    check_equal(counted() - before, total, "tasks executed");
    return ns / static_cast<double>(total);
}

}  // namespace bench::tasks
