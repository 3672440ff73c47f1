#include "core/explain/standstill.hpp"

#include "core/explain/explanation.hpp"
#include "core/life/completion_word.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// Returns true if the thread sleeps. A thread that was woken and has not run since counts as
/// awake.
bool is_asleep(const wait_seat& w) {
    // The source thread always counts as asleep. anything_may_come() says whether it may still make
    // something happen.
    if (w.kind == seat_kind::source) return true;
    // No thread has the seat. This is not checked for the scheduler's own threads, because one that
    // is being started counts as awake before it has its seat.
    if (!is_own(w) && w.bound_to.load(relaxed) == 0) return true;
    // A thread that has taken its notification is not parked, even if it has lost its core since.
    return w.at_rest.load(seq_cst) && (w.park.is_parked() || w.looking.load(relaxed));
}

/// Returns true if the thread runs something that the scheduler does not know of. seq_cst: as in
/// runtime::freeze().
bool is_outside(const wait_seat& w) {
    return w.blocks.load(relaxed) || (!is_own(w) && !w.inside.load(seq_cst));
}

bool anything_is_promised(const wait_room& rt, const scheduler_statistics& sum) {
    if (sum.outside() == 0) return false;
    const std::uint32_t slots = rt.slots.count();
    for (std::uint32_t i = 0; i < slots; ++i) {
        if (is_promised(rt.slots.at(i).open)) return true;
    }
    return false;
}

/// Returns true if some wait has a time limit, so that it ends by itself.
bool any_wait_is_limited(wait_room& rt) {
    return rt.lot().look_at_all([](const wait_record& r) { return r.limited; });
}

}  // namespace

bool somebody_waits_for_a_task(wait_room& rt) {
    return rt.lot().look_at_all([&](const wait_record& r) {
        return !r.is_task && rt.slots.state_of(task_id{r.key}) == task_state::open;
    });
}

outlook look_ahead(wait_room& rt, const wait_seat& looker) {
    const scheduler_statistics sum = rt.totals();
    if (sum.created == sum.ended() && !somebody_waits_for_a_task(rt)) return outlook::goes_on;
    if (looker.park.is_notified()) return outlook::goes_on;
    bool outside = false;
    const unsigned seats = rt.seat_count();
    for (unsigned i = 0; i < seats; ++i) {
        const wait_seat& w = rt.seat_at(i);
        if (&w == &looker || is_asleep(w)) continue;
        if (!is_outside(w)) return outlook::goes_on;
        outside = true;
    }
    outside = outside || rt.anything_may_come() || any_wait_is_limited(rt);
    return outside || anything_is_promised(rt, sum) ? outlook::outside : outlook::nobody;
}

standstill::seen standstill::look(wait_room& rt, const wait_seat& looker) {
    const scheduler_statistics sum = rt.totals();
    const std::uint64_t progress = sum.created + sum.ended() + sum.deferred + sum.settled;
    if (is_reported_) {
        if (progress == progress_) return seen::known;
        is_reported_ = false;
        times_ = std::min(times_ * 8, most_times);
        return seen::ended;
    }
    const outlook ahead = look_ahead(rt, looker);
    if (ahead == outlook::outside) {
        progress_ = 0;
        return look_outside(rt, progress, sum.parks);
    }
    outside_since_ = 0;
    if (ahead == outlook::goes_on) {
        progress_ = 0;
        return seen::goes_on;
    }
    const std::int64_t now = active_policy::now();
    // If a thread woke meanwhile, made no progress and slept again, the number of parks has
    // changed.
    const bool lasts = progress == progress_ && sum.parks == parks_;
    if (!lasts) since_ = now;
    progress_ = progress;
    parks_ = sum.parks;
    const nanoseconds after = rt.options.deadlock.after;
    is_reported_ = lasts && (after == no_limit || now - since_ >= after.value * times_);
    if (is_reported_) return seen::news;
    return times_ == 1 ? seen::perhaps : seen::goes_on;
}

/// Checks a state that something outside may end. A thread may run for a long time between two
/// waits without ending a task. When it sleeps again, the number of parks changes, and the time
/// starts anew.
standstill::seen standstill::look_outside(const wait_room& rt, std::uint64_t progress,
                                          std::uint64_t parks) {
    const nanoseconds limit = rt.options.deadlock.outside;
    const std::int64_t now = active_policy::now();
    if (progress != outside_progress_) outside_is_reported_ = false;
    if (progress != outside_progress_ || parks != outside_parks_ || outside_since_ == 0) {
        outside_since_ = now;
    }
    outside_progress_ = progress;
    outside_parks_ = parks;
    const bool is_old = limit != no_limit && now - outside_since_ >= limit.value;
    if (!is_old || std::exchange(outside_is_reported_, true)) return seen::goes_on;
    return seen::outside;
}

namespace {

std::uint32_t count_open(const wait_room& rt) {
    const std::uint32_t slots = rt.slots.count();
    std::uint32_t open = 0;
    for (std::uint32_t i = 0; i < slots; ++i) open += is_open_task(rt, rt.slots.id_of(i));
    return open;
}

/// Writes what up to four open tasks do: tasks that wait for another task if `wait_for_another` is
/// true, or else tasks that do not. Returns false if there are none.
bool name_some(wait_room& rt, wait_seat& looker, sentence& to, bool wait_for_another) {
    constexpr unsigned most_named = 4;
    constexpr std::uint32_t most_looked_at = 256;
    const std::uint32_t slots = rt.slots.count();
    unsigned named = 0;
    for (std::uint32_t i = 0, at = 0; i < slots && at < most_looked_at; ++i) {
        const task_id id = rt.slots.id_of(i);
        if (!rt.slots.is_open(id)) continue;
        ++at;
        sentence one;
        if (explanation(rt, &looker, one).write_step(id) != wait_for_another) continue;
        if (named == most_named) {
            to.add("; …");
            break;
        }
        to.add("%s%s", named++ == 0 ? ": " : "; ", one.text());
    }
    return named != 0;
}

}  // namespace

bool standstill::describe(wait_room& rt, wait_seat& looker, seen what, sentence& to) {
    const std::uint32_t open = count_open(rt);
    const bool outside = what == seen::outside;
    const double limit = static_cast<double>(rt.options.deadlock.outside.value) * 1e-9;
    to.add("%s: nothing ", rt.options.name);
    outside ? to.add("has gone on for %.3g s", limit) : to.add("goes on: every thread sleeps");
    to.add(", and %u task%s not ended", open, open == 1 ? " has" : "s have");
    const bool says_why = name_some(rt, looker, to, false);
    if (!says_why) name_some(rt, looker, to, true);
    to.add("%s", outside     ? ". Only somebody outside can end that."
                 : !says_why ? ". Each of these tasks waits for another one."
                             : ". Unless a thread outside the scheduler ends that, nothing will.");
    return says_why;
}

}  // namespace detail
BRAID_NAMESPACE_END
