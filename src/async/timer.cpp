#include "braid/async/timer.hpp"

#include "async/source_state.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN

namespace core = detail::core;

struct timer::state final : detail::source_state<const timer_tick&> {
    state(detail::runtime& rt, timer& of, const timer_options& o)
        : source_state(rt, kind::timer, o.name != nullptr ? o.name : "timer", o.where),
          owner(of),
          options(o) {}

    /// In the storage of a tick's task.
    struct tick_body {
        state* of;
        timer_tick tick;
    };

    void arrived(detail::runtime& rt, detail::whole_seat& w, const core::arrival& what) override;
    void abandon() override { owner.end(); }
    void wait_for_task(detail::runtime& rt, const core::arrival& what);
    bool arm(nanoseconds in);
    static void run(void* storage, task_context* context);

    timer& owner;
    const timer_options options;
    // The source thread alone uses these while it is armed.
    std::uint64_t next_number = 0, missed_in_a_row = 0;
    std::int64_t late_since = 0;  // when the only tick was due that waits for the task before
    // relaxed: counts.
    atomic<std::uint64_t> ticks{0}, missed{0}, refused{0};
};

void timer::state::run(void* storage, task_context* context) {
    const tick_body b = *std::launder(static_cast<tick_body*>(storage));
    if (context == nullptr) return;
    detail::guarded(*context, [&] { b.of->body().call(*context, b.tick); });
}

void timer::state::arrived(detail::runtime& rt, detail::whole_seat& w, const core::arrival& what) {
    const std::int64_t period = std::max<std::int64_t>(options.every.value, 0);
    const std::uint64_t number = next_number + what.missed;
    next_number = number + 1;
    missed_in_a_row += what.missed;
    missed.fetch_add(what.missed, relaxed);
    if (!core::accepts_tasks(rt)) return;
    if (is_busy()) return wait_for_task(rt, what);
    const auto grid = static_cast<std::int64_t>(what.missed);
    const timer_tick tick{.number = number,
                          .due = late_since != 0 ? late_since : what.deadline + grid * period,
                          .missed = missed_in_a_row};
    const detail::draft opened =
        detail::open_task(rt, &w, detail::options_of(options.task, name(), options.where),
                          detail::draft_kind::spawned);
    // To an observer the task follows the wait for this tick.
    if (opened.storage != nullptr && core::observed(rt)) {
        core::observer_of(rt).on_event({.kind = event_kind::edge,
                                        .seat = core::number_of(w),
                                        .task = core::id_of(rt, opened),
                                        .other = what.wait});
    }
    const task_id made = detail::put_and_publish<tick_body>(rt, opened, detail::publish_task, &run,
                                                            tick_body{this, tick});
    late_since = 0;
    if (!made) {
        refused.fetch_add(1, relaxed);
        ++missed_in_a_row;
        return;
    }
    set_newest(made);
    missed_in_a_row = 0;
    ticks.fetch_add(1, relaxed);
}

/// The task before is open. The next tick will do as well; where there is none, this one comes
/// later: again after as long as it is late, so that a long task costs few looks.
void timer::state::wait_for_task(detail::runtime& rt, const core::arrival& what) {
    constexpr std::int64_t least = 20'000, most = 2'000'000;
    if (options.every.value > 0) {
        ++missed_in_a_row;
        missed.fetch_add(1, relaxed);
        return;
    }
    if (late_since == 0) late_since = what.deadline;
    const std::int64_t pause = std::clamp(what.now - late_since, least, most);
    if (core::sources(rt).postpone(*this, what.now + pause)) {
        --next_number;
    } else {
        late_since = 0;
    }
}

bool timer::state::arm(nanoseconds in) {
    detail::outside_room& sources = core::sources(rt_);
    const nanoseconds first{std::max<std::int64_t>(in.value, 0)};
    const std::int64_t deadline = detail::deadline_after(sources.clock(), first);
    if (deadline == INT64_MAX) return false;
    return sources.arm(
        *this, {.deadline = deadline, .slack = options.slack.value, .period = options.every.value});
}

void timer::start(const timer_options& options, detail::source_body<const timer_tick&>& body) {
    core::point(rt_);
    state_ = detail::make_source<state>(rt_, *this, options);
    if (state_ == nullptr) return body.reset(rt_);
    state_->body().take(body);
    state_->arm(options.in);
}

/// Also where the scheduler ends first.
void timer::end() { detail::end_source(rt_, state_); }

timer::~timer() {
    if (state_ == nullptr) return;
    core::point(rt_);
    end();
}

bool timer::cancel() {
    if (state_ == nullptr) return false;
    core::point(rt_);
    return core::sources(rt_).disarm(*state_);
}

bool timer::restart(nanoseconds in) {
    if (state_ == nullptr) return false;
    core::point(rt_);
    core::sources(rt_).disarm(*state_);
    state_->late_since = 0;  // the source thread calls nothing here until it is armed
    return state_->arm(in);
}

bool timer::armed() const {
    if (state_ == nullptr) return false;
    core::point(rt_);
    return core::sources(rt_).is_armed(*state_);
}

task_id timer::task() const {
    if (state_ == nullptr) return {};
    core::point(rt_);
    return state_->newest();
}

timer_report timer::report() const {
    if (state_ == nullptr) return {};
    core::point(rt_);
    return {.ticks = state_->ticks.load(relaxed),
            .missed = state_->missed.load(relaxed),
            .refused = state_->refused.load(relaxed)};
}

BRAID_NAMESPACE_END
