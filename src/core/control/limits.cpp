#include "core/control/limits.hpp"

#include "base/standard_error.hpp"

#include <cinttypes>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {

void limiter::clamp_thread(int& nice, std::size_t& stack_bytes) const {
    clamp(nice, -20, 19, "nice");
    if (stack_bytes == 0) return;
    clamp(stack_bytes, thread_options::least_stack, thread_options::most_stack, "stack_bytes");
}

void limiter::report(const char* name, std::int64_t was, std::int64_t is) const {
    char texts[2][24];
    std::snprintf(texts[0], sizeof texts[0], "%" PRId64, was);
    std::snprintf(texts[1], sizeof texts[1], "%" PRId64, is);
    report_text(name, texts[0], texts[1]);
}

void limiter::report(const char* name, std::uint64_t was, std::uint64_t is) const {
    char texts[2][24];
    std::snprintf(texts[0], sizeof texts[0], "%" PRIu64, was);
    std::snprintf(texts[1], sizeof texts[1], "%" PRIu64, is);
    report_text(name, texts[0], texts[1]);
}

void limiter::report_text(const char* name, const char* was, const char* is) const {
    char text[256];
    std::snprintf(text, sizeof text, "%s: %s::%s = %s is out of range and counts as %s",
                  scheduler_.name, options_, name, was, is);
    const log_handler& log = scheduler_.log;
    if (log.function != nullptr) return log.function(log.user, log_level::warning, text);
    standard_error::say(nullptr, log_level::warning, text);
}

scheduler_options within_limits(scheduler_options o) {
    if (o.name == nullptr) o.name = "braid";
    using range = scheduler_options;
    const limiter limits(o, "scheduler_options");
    limits.clamp(o.workers, range::automatic, range::most_workers, "workers");
    limits.clamp(o.max_workers, range::automatic, range::most_workers, "max_workers");
    limits.clamp(o.main_threads, 0, range::most_main_threads, "main_threads");
    limits.clamp(o.max_reserves, 0, range::most_seats, "max_reserves");
    limits.clamp(o.background_threads, 0, range::most_background_threads, "background_threads");
    limits.clamp(o.guests, 0, range::most_seats, "guests");
    limits.clamp(o.ring, range::least_ring, range::most_ring, "ring");

    constexpr std::int64_t shortest = 1'000'000, longest = 3'600'000'000'000;
    const limiter of_deadlocks(o, "deadlock_options");
    if (o.deadlock.after != no_limit) {
        of_deadlocks.clamp(o.deadlock.after.value, shortest, longest, "after");
    }
    if (o.deadlock.outside != no_limit) {
        of_deadlocks.clamp(o.deadlock.outside.value, shortest, 24 * longest, "outside");
    }

    thread_options& threads = o.worker_threads;
    const limiter of_threads(o, "thread_options");
    of_threads.clamp_thread(threads.nice, threads.stack_bytes);
    of_threads.clamp(threads.first_cpu, -1, thread_options::most_cpu, "first_cpu");
    return o;
}

}  // namespace detail
BRAID_NAMESPACE_END
