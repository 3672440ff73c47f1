#include "frame/frame.hpp"

namespace bench::frame {
namespace {

void in_order(std::uint64_t* r) {
    for (unsigned i = 0; i < stage_count; ++i) {
        run_stage(i, r, [](unsigned n, auto body) {
            for (unsigned k = 0; k < n; ++k) body(k);
        });
    }
}

}  // namespace

std::uint64_t work(std::uint64_t seed, unsigned us) { return multiply_on(seed, us * 800); }

double timed(const std::function<void(std::uint64_t*)>& run_frame) {
    using results = std::array<std::uint64_t, stage_count>;
    static const results expected = [] {
        results r{};
        in_order(r.data());
        return r;
    }();
    std::vector<double> times;
    for (int i = 0; i < 30; ++i) {
        results r{};
        times.push_back(time_ns([&] { run_frame(r.data()); }) / 1000);
        for (unsigned n = 0; n < stage_count; ++n) check_equal(r[n], expected[n], stages[n].name);
    }
    return median(std::move(times));
}

void add_serial(suite& s) {
    for (const unsigned threads : thread_counts) {
        s.at(with_threads("frame", threads), "us", "a frame of ten stages with loops inside")
            .add("serial", [] { return [] { return timed(in_order); }; });
    }
}

}  // namespace bench::frame
