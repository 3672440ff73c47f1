#include "mandelbrot/mandelbrot.hpp"

namespace bench::mandelbrot {
namespace {

long serial() {
    return picture([](auto body) {
        for (std::size_t y = 0; y < rows; ++y) body(y);
    });
}

}  // namespace

long row(std::size_t y) {
    long all = 0;
    const double c_y = 2.4 * (static_cast<double>(y) / rows) - 1.2;
    for (std::size_t column = 0; column < columns; ++column) {
        const double c_x = 3.2 * (static_cast<double>(column) / columns) - 2.2;
        double x = 0, y_now = 0;
        int step = 0;
        for (; step < most_steps && x * x + y_now * y_now <= 4; ++step) {
            const double next = x * x - y_now * y_now + c_x;
            y_now = 2 * x * y_now + c_y;
            x = next;
        }
        all += step;
    }
    return all;
}

long expected() {
    static const long steps = serial();
    return steps;
}

void add_serial(suite& s) {
    bench::add_serial(s, "mandelbrot", "768 x 512 pixels, a parallel loop of rows", expected(),
                      serial);
}

}  // namespace bench::mandelbrot
