#include "braid/frame/rate_thread.hpp"

#include "base/platform/platform.hpp"
#include "core/extension.hpp"
#include "frame/frame_state.hpp"
#include "frame/rate_schedule.hpp"

BRAID_NAMESPACE_BEGIN

namespace core = detail::core;

struct rate_thread::state {
    rate_thread& owner;
    rate_options options;
    atomic<std::uint32_t> stop{0};
    platform::thread_request request{};
    platform::thread_handle thread = 0;

    void run() {
        detail::basic_rate_schedule<active_policy> schedule(options.period);
        while (schedule.wait(stop)) tick(schedule.next(owner.counts_));
    }
    void tick(const rate_tick& now) {
#if BRAID_HAS_EXCEPTIONS
        try {
            owner.body_.call(owner.body_.object, now);
        } catch (...) {
            owner.counts_.failures.fetch_add(1, relaxed);  // relaxed: a count
            core::report_unobserved(owner.rt_, options.name, std::current_exception());
        }
#else
        owner.body_.call(owner.body_.object, now);
#endif
    }
};

void rate_thread::start(const rate_options& options) {
    auto* const s = detail::make_accounted<state>(rt_, *this, options);
    if (s == nullptr) return;
    if (s->options.name == nullptr) s->options.name = "rate";
    const detail::limiter limits = core::limits(rt_, "rate_options");
    limits.clamp(s->options.period.value, std::int64_t{1}, INT64_MAX, "period");
    limits.clamp_thread(s->options.nice, s->options.stack_bytes);
    s->request = {.name = s->options.name,
                  .stack_bytes = s->options.stack_bytes,
                  .nice = s->options.nice,
                  .entry = [](void* p) { static_cast<state*>(p)->run(); },
                  .argument = s};
    s->thread = platform::start_thread(s->request);
    if (s->thread != 0) {
        state_ = s;
        return;
    }
    core::log(rt_, log_level::error, "the system refused a thread for '%s'", s->options.name);
    detail::destroy_accounted(rt_, s);
}

void rate_thread::stop() {
    if (state_ == nullptr) return;
    // release: pairs with the acquire in wait().
    state_->stop.store(1, release);
    active_policy::wake_one(state_->stop);
    platform::join_thread(state_->thread);
    detail::destroy_accounted(rt_, std::exchange(state_, nullptr));
}

rate_thread::~rate_thread() {
    stop();
    if (body_.object != nullptr) body_.destroy(rt_, body_.object);
}

rate_report rate_thread::report() const {
    return {.ticks = counts_.lateness.count(),
            .missed = counts_.missed.load(relaxed),
            .p50 = counts_.lateness.quantile(0.5),
            .p99 = counts_.lateness.quantile(0.99),
            .longest = counts_.lateness.longest(),
            .failures = counts_.failures.load(relaxed)};
}

BRAID_NAMESPACE_END
