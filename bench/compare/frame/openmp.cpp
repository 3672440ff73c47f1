#include "frame/frame.hpp"

namespace bench::frame {
namespace {

void run(std::uint64_t* r) {
    for (unsigned number = 0; number < stage_count; ++number) {
        const stage& s = stages[number];
#pragma omp task depend(iterator(i = 0 : s.after_count), in : r[s.after[i]]) depend(out : r[number])
        run_stage(number, r, [](std::size_t n, auto body) {
#pragma omp taskloop grainsize(2)
            for (std::size_t i = 0; i < n; ++i) body(i);
        });
    }
#pragma omp taskwait
}

}  // namespace

void add_openmp(suite& s) {
    for (const unsigned threads : thread_counts) {
        s.at(with_threads("frame", threads)).add("openmp", [=] {
            return [=] {
                return timed([=](std::uint64_t* r) {
#pragma omp parallel num_threads(threads)
#pragma omp single
                    run(r);
                });
            };
        });
    }
}

}  // namespace bench::frame
