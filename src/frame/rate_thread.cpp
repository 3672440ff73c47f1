#include "braid/frame/rate_thread.hpp"

#include "base/platform/platform.hpp"
#include "braid/core/code_holders.hpp"
#include "core/extension.hpp"
#include "frame/frame_state.hpp"
#include "frame/rate_schedule.hpp"

BRAID_NAMESPACE_BEGIN

namespace core = detail::core;

namespace {

/// The clock of a chooser.
struct virtual_clock {
    template <class T>
    using atomic = braid::atomic<T>;

    detail::runtime& rt;

    std::int64_t now() const { return core::virtual_now(rt); }
    void wait(const atomic<std::uint32_t>& word, std::uint32_t is, std::int64_t until) const {
        core::sleep_at_gate(rt, &word, {.deadline = until},
                            [&] { return word.load(acquire) == is; });  // pairs with stop()
    }
};

}  // namespace

struct rate_thread::state final : code_holder {
    state(rate_thread& of, const rate_options& o) : code_holder(of.rt_), owner(of), options(o) {}

    rate_thread& owner;
    rate_options options;
    atomic<std::uint32_t> stop{0};
    atomic<bool> ticks{false};  // the body runs, or is about to
    core::own_thread thread{};

    bool runs_code() const override { return ticks.load(seq_cst) && !thread.rests_in_wait(); }
    void show_code(code_search& to) const override {
        const body& b = owner.body_;
        to.look_at_callable(code_use::thread, options.name, reinterpret_cast<const void*>(b.call),
                            b.object, b.size);
    }
    /// False: it is to stop.
    bool begin_tick() {
        ticks.store(true, seq_cst);  // pairs with runs_code(); is_frozen() comes after it
        while (core::is_frozen(owner.rt_)) {
            ticks.store(false, seq_cst);
            bool ends = false;
            // acquire: pairs with stop().
            core::rest_while_frozen(owner.rt_, [&] { return ends = stop.load(acquire) != 0; });
            if (ends) return false;
            ticks.store(true, seq_cst);
        }
        return true;
    }
    void run() {
        if (core::passes_gate(owner.rt_)) return run_by<virtual_clock>({owner.rt_});
        run_by<active_policy>({});
    }
    template <class Clock>
    void run_by(Clock clock) {
        detail::basic_rate_schedule<Clock> schedule(options.period, clock);
        while (schedule.wait(stop) && begin_tick()) {
            tick(schedule.next(owner.counts_));
            ticks.store(false, release);  // pairs with runs_code()
        }
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
    const bool started =
        s->thread.start(rt_, {.name = s->options.name,
                              .stack_bytes = s->options.stack_bytes,
                              .nice = s->options.nice,
                              .entry = [](void* p) { static_cast<state*>(p)->run(); },
                              .argument = s});
    if (started) {
        state_ = s;
        return;
    }
    core::log(rt_, log_level::error, "the system refused a thread for '%s'", s->options.name);
    detail::destroy_accounted(rt_, s);
}

void rate_thread::stop() {
    core::point(rt_);
    if (state_ == nullptr) return;
    // release: pairs with the acquire in wait().
    state_->stop.store(1, release);
    active_policy::wake_one(state_->stop);
    core::wake_at_gate(rt_, &state_->stop);
    state_->thread.join();
    detail::destroy_accounted(rt_, std::exchange(state_, nullptr));
}

void rate_thread::point() const { core::point(rt_); }

rate_thread::~rate_thread() {
    stop();
    if (body_.object != nullptr) body_.destroy(rt_, body_.object);
}

rate_report rate_thread::report() const {
    core::point(rt_);
    return {.ticks = counts_.lateness.count(),
            .missed = counts_.missed.load(relaxed),
            .p50 = counts_.lateness.quantile(0.5),
            .p99 = counts_.lateness.quantile(0.99),
            .longest = counts_.lateness.longest(),
            .failures = counts_.failures.load(relaxed)};
}

BRAID_NAMESPACE_END
