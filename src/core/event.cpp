#include "braid/core/event.hpp"

#include "braid/core/error.hpp"
#include "braid/core/scheduler.hpp"
#include "braid/core/suspend.hpp"
#include "core/control/seat_lease.hpp"
#include "core/control/settling.hpp"
#include "core/task/event_word.hpp"

#include <new>

BRAID_NAMESPACE_BEGIN

namespace {

/// Threads under the bucket's lock; tasks after it, as a completion takes locks. The event may be
/// gone by then, and so may everything when the last task has gone on.
void wake(detail::runtime& rt, std::uint64_t key, unsigned limit) {
    const detail::wait_record* next =
        rt.lot().wake_threads_and_take_tasks(key, limit, [&](unsigned seat) { rt.notify(seat); });
    while (next != nullptr) {
        const auto& task = static_cast<const detail::task_wait_record&>(*next);
        next = next->next;  // the record lies in the task's frame
        detail::complete_awaited(*task.of, completion_id{task.completion});
    }
}

}  // namespace

event::event(scheduler& s, reset mode) : event(s, nullptr, mode) {}
event::event(scheduler& s, const char* name, reset mode) : state_{s.internals(), mode, name} {}

void event::set() {
    detail::runtime& rt = state_.rt;
    // A waiter that this lets through may destroy the scheduler.
    const detail::runtime::settling call(rt);
    rt.point();
    const unsigned how_many = state_.mode == reset::automatic ? 1 : UINT32_MAX;
    // First, or who takes it could be reported before.
    if (rt.observed()) rt.report_event(event_kind::event_set, *this);
    if (detail::set_event(state_.word)) wake(rt, detail::address_key(this), how_many);
}

void event::clear() {
    state_.rt.point();
    state_.word.fetch_and(~detail::event_set, acq_rel);  // pairs with set_event()
}
bool event::is_set() const {
    state_.rt.point();
    return (state_.word.load(acquire) & detail::event_set) != 0;  // pairs with set_event()
}

// ---- threads that wait -------------------------------------------------------------------------

namespace {

/// A wait for an event of another scheduler would never hear of it.
bool is_own(const detail::runtime& rt, event& e) {
    return BRAID_EXPECT(rt.options().assertion, &e.internals().rt == &rt,
                        "the event is another scheduler's: wait for it there");
}

/// A wait without a limit that has come to nothing was given up by a shutdown that discards.
/// Throws, but within a destructor of what a task held.
bool end_of_wait(const detail::runtime& rt, bool over) {
    if (over) return true;
    const detail::whole_seat* const w = rt.bound();
    const bool destroys = w == nullptr || (w->ends != nullptr && w->ends->depth == w->depth);
#if BRAID_HAS_EXCEPTIONS
    if (!destroys) throw task_cancelled{};
#else
    static_cast<void>(destroys);
#endif
    rt.log(log_level::error,
           "%s: a wait for an event was given up, since the scheduler discards and nobody is left "
           "to set it",
           rt.options().name);
    return false;
}

}  // namespace

bool scheduler::do_work_while_waiting_for(event& e, nanoseconds timeout) {
    if (!is_own(*rt_, e)) return false;
    detail::runtime& rt = *rt_;  // a task that runs meanwhile may destroy *this
    const detail::long_call call(rt);
    const bool over = rt.wait_here({.signal = &e}, timeout, help::any, nullptr);
    return timeout == no_limit ? end_of_wait(rt, over) : over;
}

bool scheduler::work_until(event& stop) {
    if (!is_own(*rt_, stop)) return false;
    detail::runtime& rt = *rt_;
    const detail::long_call call(rt);
    return end_of_wait(
        rt, rt.wait_here({.signal = &stop, .run_everything = true}, no_limit, help::any, nullptr));
}

// ---- tasks that wait ---------------------------------------------------------------------------

namespace detail {
namespace {

task_wait_record& record_in(std::byte* bytes) {
    return *std::launder(reinterpret_cast<task_wait_record*>(bytes));
}

}  // namespace

bool event_wait::take() {
    event_state& e = awaited_.internals();
    e.rt.point();
    const bool taken = take_event(e.word, e.mode == reset::manual);
    if (taken && e.rt.observed()) e.rt.report_event(event_kind::event_taken, awaited_);
    return taken;
}

bool event_wait::begin(task_context& context) {
    event_state& e = awaited_.internals();
    static_assert(sizeof(task_wait_record) <= sizeof record_ && alignof(task_wait_record) <= 8);
    task_wait_record& r = *::new (static_cast<void*>(record_)) task_wait_record;
    r.is_task = true;
    asked_.store(stage::entering, relaxed);
    r.of = &context.internals().rt;
    // Another scheduler's threads are outside.
    const ended_by by = r.of == &e.rt ? ended_by::program : ended_by::outside;
    const completion_id id =
        await_outside(context, {.name = "event", .cancel = {&leave, this}, .where = {}}, by);
    if (!id) return false;
    r.completion = id.value;
    const bool entered = e.rt.lot().enter(r, address_key(&awaited_), no_seat, [&] {
        // acq_rel: acquire pairs with set_event(), which sees the bit otherwise.
        return (e.word.fetch_or(event_awaited, acq_rel) & event_set) == 0;
    });
    stage was = stage::entering;
    // Asked before there was anything to leave: then it is left here. release: pairs with leave().
    const bool stays =
        entered && (asked_.compare_exchange_strong(was, stage::entered, acq_rel, acquire) ||
                    e.rt.lot().leave(r));
    if (!stays) complete_awaited(*r.of, id);
    return true;
}

bool event_wait::leave(void* self, completion_id) {
    auto& w = *static_cast<event_wait*>(self);
    stage was = stage::entering;
    // acquire: pairs with begin().
    if (w.asked_.compare_exchange_strong(was, stage::asked, acq_rel, acquire)) return false;
    // Woken: the one who set it goes on with the task.
    return !w.awaited_.internals().rt.lot().leave(record_in(w.record_));
}

void event_wait::hand_on() {
    event_state& e = awaited_.internals();
    // acquire: pairs with set_event().
    if ((e.word.load(acquire) & event_set) != 0) wake(e.rt, address_key(&awaited_), 1);
}

}  // namespace detail

BRAID_NAMESPACE_END
