#include "frame/frame.hpp"

#include <algorithm>

namespace bench::frame {
namespace {

constexpr std::size_t bodies_of_a_task = 2;

void run(std::uint64_t* r) {
    for (unsigned number = 0; number < stage_count; ++number) {
        const stage& s = stages[number];
#pragma omp task depend(iterator(unsigned i = 0 : s.after_count), in : r[s.after[i]]) \
    depend(out : r[number])
        run_stage(number, r, [](std::size_t n, auto body) {
            for (std::size_t i = 0; i < n; i += bodies_of_a_task) {
#pragma omp task firstprivate(i)
                for (std::size_t k = i; k < std::min(n, i + bodies_of_a_task); ++k) body(k);
            }
#pragma omp taskwait
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
