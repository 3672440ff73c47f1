#include "fanout/fanout.hpp"

#include <algorithm>
#include <thread>

namespace bench::fanout {
namespace {

void sleep_if(bool cold, const std::function<void(std::int64_t)>& announce) {
    if (!cold) return;
    constexpr std::chrono::nanoseconds time = std::chrono::milliseconds(2);
    const auto end = std::chrono::steady_clock::now() + time;
    if (announce) announce(time.count());
    std::this_thread::sleep_until(end);
}

/// What the bodies take one after the other, with the clock's share in it.
double serial_us(const shape& s) {
    std::vector<double> times;
    for (int i = 0; i < 15; ++i) {
        trace t;
        times.push_back(time_ns([&] {
                            for (unsigned n = 0; n < s.bodies; ++n) t.body(s, n);
                        }) /
                        1000);
    }
    return median(std::move(times));
}

}  // namespace

unsigned trace::finish(const shape& s) {
    unsigned threads = 0;
    for (unsigned i = 0; i < s.bodies; ++i) {
        if (who_[i] == 0) throw wrong_answer("a body of the loop did not run");
        bool seen = false;
        for (unsigned n = 0; n < i; ++n) seen = seen || who_[n] == who_[i];
        threads += seen ? 0 : 1;
    }
    return threads;
}

double over_ideal(const shape& s, unsigned threads, const std::function<void(trace&)>& loop,
                  const std::function<void(std::int64_t)>& announce) {
    const double ideal = serial_us(s) / threads;
    // A cold wake may take as long as the bodies: then one thread does it all, and rightly so.
    const bool must_share = !s.cold;
    // A neighbour on the other core may keep the second thread out for a while: look on longer.
    const int times = s.cold ? 25 : 300;
    const int at_most = 100 * times;
    std::vector<double> over;
    unsigned most = 0;
    for (int i = 0; i < times || (must_share && most < threads && i < at_most); ++i) {
        sleep_if(s.cold, announce);
        trace t;
        over.push_back(time_ns([&] { loop(t); }) / 1000 - ideal);
        most = std::max(most, t.finish(s));
    }
    if (must_share && most < threads)
        throw wrong_answer("no second thread took part in any repetition");
    return median(std::move(over));
}

void add(suite& s) {
    for (const shape& shape : shapes) {
        s.at(shape.name, "us over", "parallel loop on two threads, time over half the serial time");
    }
    add_serial(s);
    add_braid(s);
    add_tbb(s);
    add_openmp(s);
}

}  // namespace bench::fanout
