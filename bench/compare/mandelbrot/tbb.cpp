#include "mandelbrot/mandelbrot.hpp"

#include <tbb/parallel_for.h>

namespace bench::mandelbrot {

void add_tbb(suite& s) {
    bench::add_tbb(s, "mandelbrot", expected(), [] {
        return picture([](auto body) { tbb::parallel_for(std::size_t{0}, rows, body); });
    });
}

}  // namespace bench::mandelbrot
