#pragma once
// What the other threads of this process do while the one that measures sleeps.

#include <sys/resource.h>
#include <chrono>
#include <ctime>
#include <thread>

namespace bench {

/// Of all threads but this one, in a second: processor time in ms, and how often one was woken.
struct rest {
    double cpu_ms = 0, wakes = 0;
};

/// Looks for half a second, from 100 ms after the call on.
inline rest rest_of_others() {
    const auto read = [] {
        const auto ms = [](clockid_t clock) {
            timespec t{};
            clock_gettime(clock, &t);
            return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
        };
        rusage all{}, own{};
        getrusage(RUSAGE_SELF, &all);
        getrusage(RUSAGE_THREAD, &own);
        return rest{ms(CLOCK_PROCESS_CPUTIME_ID) - ms(CLOCK_THREAD_CPUTIME_ID),
                    static_cast<double>(all.ru_nvcsw - own.ru_nvcsw)};
    };
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const rest before = read();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const rest after = read();
    return {(after.cpu_ms - before.cpu_ms) * 2, (after.wakes - before.wakes) * 2};
}

}  // namespace bench
