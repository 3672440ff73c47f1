#include "cilksort/cilksort.hpp"

namespace bench::cilksort {
namespace {

struct as_tasks {
    template <class F, class G>
    void operator()(F f, G g) const {
#pragma omp task shared(f)
        f(as_tasks{});
        g(as_tasks{});
#pragma omp taskwait
    }
};

}  // namespace

void add_openmp(suite& s) {
    for (const unsigned threads : thread_counts) {
        s.at(with_threads("cilksort", threads)).add("openmp", [=] {
            return [=] {
                return timed([=](numbers v, numbers spare) {
#pragma omp parallel num_threads(threads)
#pragma omp single
                    sort(as_tasks{}, v, spare);
                });
            };
        });
    }
}

}  // namespace bench::cilksort
