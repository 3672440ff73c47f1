#include "tasks/tasks.hpp"

namespace bench::tasks {
namespace {

void run(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
#pragma omp task
        count_one();
    }
#pragma omp taskwait
}

void run_work(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
#pragma omp task firstprivate(i)
        count_work(i);
    }
#pragma omp taskwait
}

/// The nearest to a batch: a loop that hands out one element at a time.
std::function<measure()> batch(unsigned threads) {
    return [=] {
        return [=] {
            return timed(at_once, [=](std::size_t n) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
                for (std::size_t i = 0; i < n; ++i) count_one();
            });
        };
    };
}

std::function<measure()> rounds(unsigned threads, const load& l, void (*round)(std::size_t)) {
    return [=] {
        return [=] {
            double ns = 0;
            std::exception_ptr error;  // must not leave a parallel region
#pragma omp parallel num_threads(threads)
#pragma omp single
            try {
                ns = timed(l, round);
            } catch (...) {
                error = std::current_exception();
            }
            if (error) std::rethrow_exception(error);
            return ns;
        };
    };
}

}  // namespace

void add_openmp(suite& s) {
    for (unsigned threads = 1; threads <= 2; ++threads) {
        s.at(with_threads("tasks.post", threads)).add("openmp", rounds(threads, in_rounds, run));
        s.at(with_threads("tasks.flood", threads)).add("openmp", rounds(threads, at_once, run));
        s.at(with_threads("tasks.batch", threads)).add("openmp", batch(threads));
        s.at(with_threads("tasks.200ns", threads))
            .add("openmp", rounds(threads, with_work(), run_work));
    }
}

}  // namespace bench::tasks
