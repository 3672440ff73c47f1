#include "graph/graph.hpp"

#include <exception>

namespace bench::graph {
namespace {

void build_and_run(value* v) {
    for (unsigned i = 0; i < nodes; ++i) {
        if (i < width) {
#pragma omp task depend(out : v[i]) firstprivate(i)
            compute(v, i);
            continue;
        }
        const auto& p = predecessors(i);
#pragma omp task depend(in : v[p[0]], v[p[1]], v[p[2]]) depend(out : v[i]) firstprivate(i)
        compute(v, i);
    }
#pragma omp taskwait
}

}  // namespace

void add_openmp(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(rebuild_row(threads)).add("openmp", [=] {
            return [=] {
                double ns = 0;
                std::exception_ptr error;  // must not leave a parallel region
#pragma omp parallel num_threads(threads)
#pragma omp single
                try {
                    ns = repeat(build_and_run);
                } catch (...) {
                    error = std::current_exception();
                }
                if (error) std::rethrow_exception(error);
                return ns;
            };
        });
    }
}

}  // namespace bench::graph
