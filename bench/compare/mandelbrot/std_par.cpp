#include "mandelbrot/mandelbrot.hpp"

#include <algorithm>
#include <execution>

namespace bench::mandelbrot {

void add_std_par(suite& s) {
    std::array<std::size_t, rows> indices;
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    bench::add_std_par(s, "mandelbrot", expected(), [indices] {
        return picture([&](auto body) {
            std::for_each(std::execution::par, indices.begin(), indices.end(), body);
        });
    });
}

}  // namespace bench::mandelbrot
