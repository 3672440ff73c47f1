#pragma once
// Another program on one of the cores: how much does that slow down work on two threads?

#include <sys/types.h>

#include <functional>

namespace bench::fib {

/// A process that keeps the last core that we may use busy for as long as this object lives.
class neighbour {
public:
    neighbour();
    ~neighbour();
    neighbour(const neighbour&) = delete;
    neighbour& operator=(const neighbour&) = delete;

private:
    pid_t process_;
};

/// Median of `runs` times of take() beside a neighbour, over that without one.
double slowed_by_neighbour(int runs, const std::function<double()>& take);

}  // namespace bench::fib
