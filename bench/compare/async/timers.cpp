#include "async/timers.hpp"

#include "others.hpp"

#include <braid/async/timer.hpp>
#include <braid/core/event.hpp>
#include <braid/core/scheduler.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace bench::async {
namespace {

constexpr std::size_t timers = 100'000;
// The first is due when all were armed and some cancelled, also on a busy machine; the others are
// due within the 100 ms after it.
constexpr std::int64_t first_ns = 2'000'000'000, window_ns = 100'000'000;
/// One of four is cancelled before it is due.
constexpr bool is_cancelled(std::size_t i) { return i % 4 == 0; }
constexpr std::size_t fired = timers - timers / 4;

/// When each is due, in an order that has nothing to do with it.
std::int64_t delay(std::size_t i) {
    return first_ns + static_cast<std::int64_t>(multiply_on(i, 3) % window_ns);
}

double cpu_ns() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// What one storm has shown.
struct storm {
    double cpu_each = 0;  // ns
    double late_us = 0;   // the 99th of a hundred
};

double late_p99(std::vector<std::int64_t>& late) {
    const auto at = late.begin() + static_cast<std::ptrdiff_t>(late.size() / 100 * 99);
    std::nth_element(late.begin(), at, late.end());
    return static_cast<double>(*at) / 1e3;
}

storm braid_storm() {
    braid::scheduler b({.workers = 1, .main_thread = nullptr});
    std::vector<std::int64_t> late(timers);  // all of them, should one be cancelled too late
    std::atomic<std::size_t> ticks{0};
    const double before = cpu_ns();
    {
        std::vector<std::optional<braid::timer>> all(timers);
        for (std::size_t i = 0; i < timers; ++i) {
            all[i].emplace(b, braid::timer_options{.in = braid::nanoseconds{delay(i)}},
                           [&](const braid::timer_tick& tick) {
                               late[ticks.fetch_add(1, std::memory_order_relaxed)] =
                                   now() - tick.due;
                           });
        }
        for (std::size_t i = 0; i < timers; ++i) {
            if (is_cancelled(i)) all[i]->cancel();
        }
        while (ticks.load() < fired) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const double used = cpu_ns() - before;
    check_equal(ticks.load(), fired, "braid");
    late.resize(fired);
    return {used / timers, late_p99(late)};
}

storm asio_storm() {
    boost::asio::io_context io;
    auto guard = boost::asio::make_work_guard(io);
    std::thread worker([&] { io.run(); });
    std::vector<std::int64_t> late(timers);  // as none may be cancelled in time
    std::atomic<std::size_t> ticks{0};
    const double before = cpu_ns();
    {
        std::vector<std::optional<boost::asio::steady_timer>> all(timers);
        for (std::size_t i = 0; i < timers; ++i) {
            all[i].emplace(io, std::chrono::nanoseconds(delay(i)));
            const std::int64_t due = all[i]->expiry().time_since_epoch().count();
            all[i]->async_wait([&, due](const boost::system::error_code& error) {
                if (error) return;
                late[ticks.fetch_add(1, std::memory_order_relaxed)] = now() - due;
            });
        }
        for (std::size_t i = 0; i < timers; ++i) {
            if (is_cancelled(i)) all[i]->cancel();
        }
        while (ticks.load() < fired) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    guard.reset();
    worker.join();
    const double used = cpu_ns() - before;
    check_equal(ticks.load(), fired, "asio");
    late.resize(fired);
    return {used / timers, late_p99(late)};
}

rest idle(bool with_timer) {
    braid::scheduler b({.workers = 1, .main_thread = nullptr});
    braid::timer far(b, {.in = with_timer ? braid::seconds(3'600) : braid::no_limit}, [] {});
    return rest_of_others();
}

void add(row& r, const char* system, double (*take)()) {
    r.add(system, [take] { return [take] { return take(); }; });
}

}  // namespace

void add_timers(suite& s) {
    row& cpu = s.at("timers.storm", "ns", "processor time for each of 100,000 timers");
    add(cpu, "braid", [] { return braid_storm().cpu_each; });
    add(cpu, "asio", [] { return asio_storm().cpu_each; });
    row& late = s.at("timers.storm.late", "us", "how late 99 of 100 of them are at most");
    add(late, "braid", [] { return braid_storm().late_us; });
    add(late, "asio", [] { return asio_storm().late_us; });
    row& quiet = s.at("async.idle", "ms/s", "processor time with a timer that is an hour away");
    add(quiet, "braid", [] { return idle(true).cpu_ms; });
    add(quiet, "without", [] { return idle(false).cpu_ms; });
    row& wakes = s.at("async.idle.wakes", "1/s", "how often a thread wakes up meanwhile");
    add(wakes, "braid", [] { return idle(true).wakes; });
    add(wakes, "without", [] { return idle(false).wakes; });
}

}  // namespace bench::async
