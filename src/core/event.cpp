#include "braid/core/event.hpp"

#include "braid/core/suspend.hpp"
#include "core/control/settling.hpp"
#include "core/task/event_word.hpp"

#include <new>

BRAID_NAMESPACE_BEGIN

namespace {

/// Wakes at most `limit` waiters. Threads are woken under the bucket's lock. Tasks are resumed
/// after the lock is released, because settling their completions takes locks. The event may be
/// destroyed by then. Once the last task has resumed, everything else may be destroyed, too.
void wake(detail::runtime& rt, std::uint64_t key, unsigned limit) {
    const detail::wait_record* next =
        rt.lot().wake_threads_and_take_tasks(key, limit, [&](unsigned seat) { rt.notify(seat); });
    while (next != nullptr) {
        const auto& task = static_cast<const detail::task_wait_record&>(*next);
        next = next->next;  // read first: the record is in the task's frame
        detail::complete_awaited(*task.of, completion_id{task.completion});
    }
}

}  // namespace

event::event(scheduler& s, reset mode) : event(s, nullptr, mode) {}
event::event(scheduler& s, const char* name, reset mode) : state_{s.internals(), mode, name} {}

void event::set() {
    detail::runtime& rt = state_.rt;
    // A waiter that this call releases may destroy the scheduler before the call returns.
    const detail::runtime::settling call(rt);
    rt.point();
    const unsigned how_many = state_.mode == reset::automatic ? 1 : UINT32_MAX;
    // Reports first. Otherwise the waiter's report that it took the event could come first.
    if (rt.report.observed()) rt.report_event(event_kind::event_set, *this);
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
    if (taken && e.rt.report.observed()) e.rt.report_event(event_kind::event_taken, awaited_);
    return taken;
}

bool event_wait::begin(task_context& context) {
    event_state& e = awaited_.internals();
    static_assert(sizeof(task_wait_record) <= sizeof record_ && alignof(task_wait_record) <= 8);
    task_wait_record& r = *::new (static_cast<void*>(record_)) task_wait_record;
    r.is_task = true;
    asked_.store(stage::entering, relaxed);
    r.of = &context.internals().rt;
    // The threads of another scheduler count as outside for the task's scheduler.
    const ended_by by = r.of == &e.rt ? ended_by::program : ended_by::outside;
    const completion_id id =
        await_outside(context, {.name = "event", .cancel = {&leave, this}, .where = {}}, by);
    if (!id) return false;
    r.completion = id.value;
    const bool entered = e.rt.lot().enter(r, address_key(&awaited_), no_seat, [&] {
        // acq_rel: acquire pairs with set_event(). If this finds the event not set, set_event()
        // will see the bit.
        return (e.word.fetch_or(event_awaited, acq_rel) & event_set) == 0;
    });
    stage was = stage::entering;
    // If leave() came before this CAS, leave() did not remove the record. This thread then removes
    // the record, if it is in the lot. release: pairs with leave().
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
    // If the record was woken, the thread that set the event resumes the task.
    return !w.awaited_.internals().rt.lot().leave(record_in(w.record_));
}

void event_wait::hand_on() {
    event_state& e = awaited_.internals();
    // acquire: pairs with set_event().
    if ((e.word.load(acquire) & event_set) != 0) wake(e.rt, address_key(&awaited_), 1);
}

}  // namespace detail

BRAID_NAMESPACE_END
