#include "core/explain/standstill.hpp"

#include "core/explain/explanation.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// A thread of the program's rests only within a wait, and no thread does in blocking().
bool is_asleep(const wait_seat& w) {
    // Nobody has the seat, or what comes from outside sleeps there; see anything_may_come().
    if (w.bound_to.load(relaxed) == 0 || w.kind == seat_kind::source) return true;
    return w.at_rest.load(seq_cst);
}

/// The queues first: what was taken from one by then is seen by the thread that is awake.
bool nothing_is_ready(const wait_room& rt) {
    if (rt.work_visible() || rt.background_visible()) return false;
    const unsigned seats = rt.seat_count();
    for (unsigned i = 0; i < seats; ++i) {
        if (rt.direct_work(rt.seat_at(i))) return false;
    }
    return true;
}

bool all_others_sleep(const wait_room& rt, const wait_seat& looker) {
    const unsigned seats = rt.seat_count();
    for (unsigned i = 0; i < seats; ++i) {
        const wait_seat& w = rt.seat_at(i);
        if (&w != &looker && !is_asleep(w)) return false;
    }
    return true;
}

/// Completions that an event ends, or `UINT64_MAX` where a wait ends by itself.
std::uint64_t awaited_events(wait_room& rt, const wait_seat& looker) {
    std::uint64_t count = 0;
    const bool limited = rt.lot().look_at_all([&](const wait_record& r) {
        // A task of another scheduler may await an event of this one.
        count += r.is_task && static_cast<const task_wait_record&>(r).of == &looker.rt;
        return r.limited;
    });
    return limited ? UINT64_MAX : count;
}

/// True: of what `sum` counts nothing can go on.
bool stands(wait_room& rt, const wait_seat& looker, const scheduler_statistics& sum) {
    if (sum.created == sum.ended()) return false;
    if (!nothing_is_ready(rt) || !all_others_sleep(rt, looker)) return false;
    if (rt.anything_may_come()) return false;
    return sum.outside() == awaited_events(rt, looker);
}

}  // namespace

standstill::seen standstill::look(wait_room& rt, const wait_seat& looker) {
    const scheduler_statistics sum = rt.totals();
    const std::uint64_t progress = sum.created + sum.ended() + sum.deferred + sum.settled;
    if (is_reported_) {
        if (progress == progress_) return seen::known;
        is_reported_ = false;
        times_ = std::min(times_ * 8, most_times);
        return seen::ended;
    }
    if (!stands(rt, looker, sum)) {
        progress_ = 0;
        return seen::goes_on;
    }
    const std::int64_t now = active_policy::now();
    // A thread that woke meanwhile and found nothing to count has slept once more.
    const bool lasts = progress == progress_ && sum.parks == parks_;
    if (!lasts) since_ = now;
    progress_ = progress;
    parks_ = sum.parks;
    const nanoseconds after = rt.options().deadlock.after;
    is_reported_ = lasts && (after == no_limit || now - since_ >= after.value * times_);
    if (is_reported_) return seen::news;
    return times_ == 1 ? seen::perhaps : seen::goes_on;
}

bool standstill::describe(wait_room& rt, wait_seat& looker, sentence& to) {
    constexpr unsigned most_named = 4;
    constexpr std::uint32_t most_looked_at = 256;
    const scheduler_statistics sum = rt.totals();
    const std::uint64_t open = sum.created - sum.ended();
    to.add("%s: nothing goes on: every thread sleeps, and %llu task%s open", rt.options().name,
           static_cast<unsigned long long>(open), open == 1 ? " is" : "s are");
    const std::uint32_t slots = rt.slot_count();
    unsigned named = 0;
    for (std::uint32_t i = 0, at = 0; i < slots && at < most_looked_at; ++i) {
        const task_id id = rt.id_of(i);
        if (!rt.is_open(id)) continue;
        ++at;
        sentence one;
        if (explanation(rt, &looker, one).write_step(id)) continue;  // another one says why
        if (named == most_named) {
            to.add("; …");
            break;
        }
        to.add("%s%s", named++ == 0 ? ": " : "; ", one.text());
    }
    to.add(named != 0 ? ". Only a thread that takes no part in the scheduler can end that."
                      : ". Each that was looked at waits for another one.");
    return named != 0;
}

}  // namespace detail
BRAID_NAMESPACE_END
