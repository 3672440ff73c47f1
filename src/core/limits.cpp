#include "core/limits.hpp"

#include <cinttypes>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {

void limiter::keep_thread(int& nice, std::size_t& stack_bytes) const {
    keep(nice, -20, 19, "nice");
    if (stack_bytes == 0) return;
    keep(stack_bytes, thread_options::least_stack, thread_options::most_stack, "stack_bytes");
}

void limiter::tell(const char* name, std::int64_t was, std::int64_t is) const {
    char texts[2][24];
    std::snprintf(texts[0], sizeof texts[0], "%" PRId64, was);
    std::snprintf(texts[1], sizeof texts[1], "%" PRId64, is);
    tell_text(name, texts[0], texts[1]);
}

void limiter::tell(const char* name, std::uint64_t was, std::uint64_t is) const {
    char texts[2][24];
    std::snprintf(texts[0], sizeof texts[0], "%" PRIu64, was);
    std::snprintf(texts[1], sizeof texts[1], "%" PRIu64, is);
    tell_text(name, texts[0], texts[1]);
}

void limiter::tell_text(const char* name, const char* was, const char* is) const {
    const log_handler& log = scheduler_.log;
    if (log.function == nullptr) return;
    char text[256];
    std::snprintf(text, sizeof text, "%s: %s::%s = %s is out of range and counts as %s",
                  scheduler_.name, options_, name, was, is);
    log.function(log.user, log_level::warning, text);
}

scheduler_options within_limits(scheduler_options o) {
    if (o.name == nullptr) o.name = "braid";
    using range = scheduler_options;
    const limiter limits(o, "scheduler_options");
    limits.keep(o.workers, range::automatic, range::most_workers, "workers");
    limits.keep(o.max_workers, range::automatic, range::most_workers, "max_workers");
    limits.keep(o.main_threads, 0, range::most_main_threads, "main_threads");
    limits.keep(o.max_reserves, 0, range::most_seats, "max_reserves");
    limits.keep(o.background_threads, 0, range::most_background_threads, "background_threads");
    limits.keep(o.guests, 0, range::most_seats, "guests");
    limits.keep(o.ring, range::least_ring, range::most_ring, "ring");

    thread_options& threads = o.worker_threads;
    const limiter of_threads(o, "thread_options");
    of_threads.keep_thread(threads.nice, threads.stack_bytes);
    of_threads.keep(threads.first_cpu, -1, thread_options::most_cpu, "first_cpu");
    return o;
}

}  // namespace detail
BRAID_NAMESPACE_END
