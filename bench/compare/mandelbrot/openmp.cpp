#include "mandelbrot/mandelbrot.hpp"

namespace bench::mandelbrot {

void add_openmp(suite& s) {
    bench::add_openmp(s, "mandelbrot", expected(), [](int threads) {
        return picture([threads](auto body) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
            for (std::size_t y = 0; y < rows; ++y) body(y);
        });
    });
}

}  // namespace bench::mandelbrot
