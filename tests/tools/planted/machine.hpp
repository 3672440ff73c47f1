#pragma once
// What a program needs to plant a cause on a machine on which others work, too: time that only it
// takes, cores that are its own, and threads that take those away when they are told to.

#include <atomic>
#include <cerrno>
#include <thread>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace planted {

/// Works for that long: in the thread's own time, which stands still while others have its core.
inline void work(double ms) {
    const auto now = [] {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
    };
    const double until = now() + ms;
    while (now() < until) {
    }
}

/// How urgent threads are among those of the program; others of the machine come after all of them.
enum class urgency { normal = 1, rival = 2, device = 3 };

/// Of the calling thread and of those that it starts. False: the system does not allow it, and
/// other programs are causes as well.
inline bool become(urgency wanted) {
    sched_param parameter{};
    parameter.sched_priority = static_cast<int>(wanted);
    return pthread_setschedparam(pthread_self(), SCHED_RR, &parameter) == 0;
}

inline void stay_on(int core) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(core), &only);
    pthread_setaffinity_np(pthread_self(), sizeof only, &only);
}

/// Where threads are not urgent one that is to wake late must at least be less so than its rival.
inline void yield_to_others() { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19); }

/// The n-th core that this program may use; the last one when they are fewer.
inline int core_number(int n) {
    cpu_set_t all;
    CPU_ZERO(&all);
    sched_getaffinity(0, sizeof all, &all);
    int last = 0;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(static_cast<unsigned>(core), &all)) continue;
        last = core;
        if (n-- == 0) break;
    }
    return last;
}

/// A thread that is no part of the scheduler and does one thing each time it is asked to.
template <class Does>
class helper {
public:
    explicit helper(Does does) : does_(does), thread_([this] { run(); }) {}
    ~helper() {
        ends_.store(true, std::memory_order_relaxed);  // ask() makes it visible
        ask();
        thread_.join();
    }
    helper(const helper&) = delete;
    helper& operator=(const helper&) = delete;

    void ask() {
        // release: pairs with the acquire in run().
        asked_.fetch_add(1, std::memory_order_release);
        asked_.notify_one();
    }

private:
    void run() {
        for (unsigned seen = 0;; ++seen) {
            // acquire: pairs with the release in ask().
            asked_.wait(seen, std::memory_order_acquire);
            if (ends_.load(std::memory_order_relaxed)) return;  // after the acquire above
            does_();
        }
    }

    const Does does_;
    std::atomic<unsigned> asked_{0};
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

/// Takes one core from whoever has it.
struct take_core {
    int core;
    double ms;
    void operator()() const {
        become(urgency::rival);
        stay_on(core);
        work(ms);
    }
};
using rival = helper<take_core>;

inline void pass(double ms) {
    timespec left{0, static_cast<long>(ms * 1e6)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

}  // namespace planted
