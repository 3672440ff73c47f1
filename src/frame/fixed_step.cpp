#include "braid/frame/fixed_step.hpp"

#include <algorithm>
#include <cmath>

BRAID_NAMESPACE_BEGIN

fixed_step::fixed_step(const fixed_step_options& options) : options_(options) {
    options_.step.value = std::max<std::int64_t>(options_.step.value, 1);
    options_.most_steps = std::max(options_.most_steps, 1U);
    set_time_scale(options.time_scale);
}

void fixed_step::set_time_scale(double scale) {
    options_.time_scale = scale > 0 ? std::min(scale, 1e6) : 0;
}

unsigned fixed_step::advance(nanoseconds elapsed) {
    // A year, so that no sum below can overflow.
    constexpr std::int64_t longest = std::int64_t{31'536'000} * 1'000'000'000;
    const std::int64_t real = std::clamp<std::int64_t>(elapsed.value, 0, longest);
    std::int64_t game = real;
    if (options_.time_scale != 1.0) {
        const double exact = static_cast<double>(real) * options_.time_scale + fraction_;
        const double whole = std::floor(std::min(exact, static_cast<double>(longest)));
        fraction_ = exact - whole < 1 ? exact - whole : 0;
        game = static_cast<std::int64_t>(whole);
    }
    const std::int64_t step = options_.step.value;
    left_ = detail::saturated_sum(left_, game);
    const std::int64_t due = left_ / step;
    const auto steps = std::min<std::int64_t>(due, options_.most_steps);
    // Whole steps only: the rest keeps the rhythm of what is drawn.
    dropped_ = detail::saturated_sum(dropped_, (due - steps) * step);
    left_ -= due * step;
    steps_ += static_cast<std::uint64_t>(steps);
    return static_cast<unsigned>(steps);
}

BRAID_NAMESPACE_END
