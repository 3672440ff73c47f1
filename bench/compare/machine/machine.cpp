#include "machine/machine.hpp"

#include <braid/base/policy.hpp>

#include <sched.h>

#include <atomic>
#include <memory>
#include <thread>

namespace bench::machine {
namespace {

constexpr int many = 1'000'000;

struct alignas(64) word {
    std::atomic<std::uint32_t> value{0};
};

template <class Operation>
std::function<measure()> repeat(Operation operation) {
    return [operation] {
        return [operation] {
            word w;
            return time_ns([&] {
                       for (int i = 0; i < many; ++i) operation(w.value);
                   }) /
                   many;
        };
    };
}

/// A second thread that answers on the line on which it was asked.
double round_trip() {
    constexpr std::uint32_t trips = 20'000, batch = 500;
    std::vector<double> times;  // of batches: another program may take a core away for a while
    word w;
    std::thread other([&] {
        for (std::uint32_t i = 0; i < trips; ++i) {
            while (w.value.load(std::memory_order_acquire) != 2 * i + 1) {
            }
            w.value.store(2 * i + 2, std::memory_order_release);
        }
    });
    for (std::uint32_t i = 0; i < trips;) {
        times.push_back(time_ns([&] {
                            for (std::uint32_t n = 0; n < batch; ++n, ++i) {
                                w.value.store(2 * i + 1, std::memory_order_release);
                                while (w.value.load(std::memory_order_acquire) != 2 * i + 2) {
                                }
                            }
                        }) /
                        batch);
    }
    other.join();
    return median(std::move(times));
}

/// The calling thread runs on the first or the last of its cores, as long as this lives.
class on_core {
public:
    enum which : std::uint8_t { first, last };
    explicit on_core(which w) {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        for (int core = 0; core != CPU_SETSIZE; ++core) {
            if (!CPU_ISSET(core, &before_) || (w == first && CPU_COUNT(&one) != 0)) continue;
            CPU_ZERO(&one);
            CPU_SET(core, &one);
        }
        sched_setaffinity(0, sizeof one, &one);
    }
    ~on_core() { sched_setaffinity(0, sizeof before_, &before_); }
    on_core(const on_core&) = delete;
    on_core& operator=(const on_core&) = delete;

private:
    cpu_set_t before_;
};

/// From the wake of a thread that has slept for 2 ms until it runs, in µs. On another core: left
/// alone, Linux wakes it on the waker's, which costs a tenth and gives nobody a second core.
double wake_up() {
    constexpr unsigned wakes = 15;
    word w;
    std::atomic<std::int64_t> running{0};
    std::vector<double> times;
    std::thread sleeper([&] {
        const on_core there(on_core::last);
        for (std::uint32_t i = 0; i < wakes; ++i) {
            while (w.value.load(std::memory_order_acquire) == i) {
                braid::active_policy::wait(w.value, i, INT64_MAX);
            }
            running.store(now(), std::memory_order_release);
        }
    });
    const on_core here(on_core::first);
    for (unsigned i = 0; i < wakes; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        running.store(0, std::memory_order_relaxed);
        const std::int64_t begin = now();
        w.value.store(i + 1, std::memory_order_release);
        braid::active_policy::wake_one(w.value);
        std::int64_t end = 0;
        while ((end = running.load(std::memory_order_acquire)) == 0) {
        }
        times.push_back(static_cast<double>(end - begin) / 1000);
    }
    sleeper.join();
    return median(std::move(times));
}

}  // namespace

void add(suite& s) {
    s.at("machine.fetch_sub", "ns", "atomic fetch_sub, nobody else there")
        .add("machine", repeat([](auto& w) { w.fetch_sub(1, std::memory_order_acq_rel); }));
    s.at("machine.fence", "ns", "atomic_thread_fence(seq_cst) after a store")
        .add("machine", repeat([](auto& w) {
                 w.store(1, std::memory_order_relaxed);
                 std::atomic_thread_fence(std::memory_order_seq_cst);
             }));
    s.at("machine.cas", "ns", "compare_exchange that succeeds")
        .add("machine", repeat([](auto& w) {
                 std::uint32_t seen = w.load(std::memory_order_relaxed);
                 w.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel);
             }));
    s.at("machine.round_trip", "ns", "request and answer of two cores on one cache line")
        .add("machine", [] { return round_trip; });
    s.at("machine.wake", "us",
         "wake of a thread that has slept for 2 ms, until it runs on another core")
        .add("machine", [] { return wake_up; });
}

}  // namespace bench::machine
