#pragma once
// Short parallel loops from one thread, on two: how much longer than half the serial time?
// Bodies look at the clock until their time is over.

#include "driver.hpp"

#include <array>

namespace bench::fanout {

struct shape {
    const char* name;
    unsigned bodies;
    std::int64_t body_ns;
    bool cold;  // everybody has slept for 2 ms
};
inline constexpr shape shapes[] = {
    {"fanout.2x20.hot", 2, 20'000, false},
    {"fanout.64x2.hot", 64, 2'000, false},
    {"fanout.2x20.cold", 2, 20'000, true},
    {"fanout.64x2.cold", 64, 2'000, true},
};

/// Who ran body i.
class trace {
public:
    void body(const shape& s, std::size_t i) {
        busy_for(s.body_ns);
        who_[i] = thread_number() + 1;
    }
    /// Throws wrong_answer unless all bodies have run. How many threads took part.
    unsigned finish(const shape& s);

private:
    std::array<unsigned, 64> who_{};
};

/// `loop(trace&)` runs the shape once. Median of µs over the ideal. Throws wrong_answer if in no
/// repetition of a hot loop `threads` threads took part. `announce` is told before each sleep in
/// how many ns the loop comes.
double over_ideal(const shape& s, unsigned threads, const std::function<void(trace&)>& loop,
                  const std::function<void(std::int64_t)>& announce = {});

void add(suite& s);

void add_braid(suite& s);
void add_tbb(suite& s);
void add_openmp(suite& s);
void add_serial(suite& s);

}  // namespace bench::fanout
