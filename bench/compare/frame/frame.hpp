#pragma once
// A frame as engines have it: stages that follow each other, a parallel loop in each. About 2 ms of
// work; input and submission have one thread.
//
//   input ─► ai ─┬─► animation ─┬─► culling ─┬─► view 1 … 4 ─► submit
//                └─► physics ───┘

#include "threads.hpp"

#include <array>
#include <cstdint>
#include <numeric>

namespace bench::frame {

struct stage {
    const char* name;
    unsigned bodies;
    unsigned us;  // of each body, about
    unsigned after_count;
    std::array<unsigned, 4> after;  // stages before it in the table
};
inline constexpr stage stages[] = {
    {.name = "input", .bodies = 1, .us = 20, .after_count = 0, .after = {}},
    {.name = "ai", .bodies = 256, .us = 2, .after_count = 1, .after = {0}},
    {.name = "animation", .bodies = 64, .us = 6, .after_count = 1, .after = {1}},
    {.name = "physics", .bodies = 32, .us = 10, .after_count = 1, .after = {1}},
    {.name = "culling", .bodies = 32, .us = 4, .after_count = 2, .after = {2, 3}},
    {.name = "view 1", .bodies = 16, .us = 8, .after_count = 1, .after = {4}},
    {.name = "view 2", .bodies = 16, .us = 8, .after_count = 1, .after = {4}},
    {.name = "view 3", .bodies = 16, .us = 8, .after_count = 1, .after = {4}},
    {.name = "view 4", .bodies = 16, .us = 8, .after_count = 1, .after = {4}},
    {.name = "submit", .bodies = 1, .us = 40, .after_count = 4, .after = {5, 6, 7, 8}},
};
inline constexpr unsigned stage_count = std::size(stages), most_bodies = 256;

/// About so many microseconds of arithmetic.
std::uint64_t work(std::uint64_t seed, unsigned us);

/// Makes r[number] of the results of the stages before, which shows one that began too early.
/// loop(n, body) calls body(i) for each i < n.
template <class Loop>
void run_stage(unsigned number, std::uint64_t* r, Loop&& loop) {
    const stage& s = stages[number];
    std::uint64_t seed = number;
    for (unsigned i = 0; i < s.after_count; ++i) seed += r[s.after[i]];
    std::array<std::uint64_t, most_bodies> values;
    loop(s.bodies, [&](std::size_t i) { values[i] = work(seed + i, s.us); });
    r[number] = std::accumulate(values.begin(), values.begin() + s.bodies, std::uint64_t{1});
}

/// Calls run_frame(results of stage_count stages) for 30 frames. The median in µs.
double timed(const std::function<void(std::uint64_t*)>& run_frame);

void add_serial(suite& s);
void add_braid(suite& s);
void add_tbb(suite& s);
void add_openmp(suite& s);
inline void add(suite& s) {
    add_serial(s);
    add_braid(s);
    add_tbb(s);
    add_openmp(s);
}

}  // namespace bench::frame
