#include "fib/neighbour.hpp"

#include "driver.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace bench::fib {
namespace {

cpu_set_t last_usable_core() {
    cpu_set_t usable, last;
    CPU_ZERO(&last);
    sched_getaffinity(0, sizeof usable, &usable);
    for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
        if (!CPU_ISSET(core, &usable)) continue;
        CPU_SET(core, &last);
        break;
    }
    return last;
}

double median_of(int runs, const std::function<double()>& take) {
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) times.push_back(take());
    return median(std::move(times));
}

}  // namespace

neighbour::neighbour() {
    const cpu_set_t core = last_usable_core();
    process_ = fork();
    if (process_ < 0) throw std::runtime_error("no second process can be made.");
    if (process_ > 0) return;
    // The child of a program with threads: system calls only.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sched_setaffinity(0, sizeof core, &core);
    for (;;) asm volatile("");
}

neighbour::~neighbour() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
}

double slowed_by_neighbour(int runs, const std::function<double()>& take) {
    const double quiet = median_of(runs, take);
    const neighbour busy;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until it has moved to its core
    return median_of(runs, take) / quiet;
}

}  // namespace bench::fib
