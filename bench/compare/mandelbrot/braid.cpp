#include "mandelbrot/mandelbrot.hpp"

#include <braid/fork_join/parallel_for.hpp>

namespace bench::mandelbrot {

void add_braid(suite& s) {
    bench::add_braid(s, "mandelbrot", "braid", expected(), [](braid::scheduler& b) {
        return picture([&b](auto body) { braid::parallel_for(b, rows, body); });
    });
}

}  // namespace bench::mandelbrot
