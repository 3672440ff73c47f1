// The functions by which core/closure.hpp makes tasks. Each finds the caller's seat and calls
// life/.
#include "braid/core/scope.hpp"
#include "core/control/seat_lease.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

draft open_task(runtime& rt, whole_seat* w, const task_options& options, draft_kind kind) {
    const seat_lease seat(rt, w);
    draft d = rt.open(*seat, options, kind);
    d.owner = seat.own();
    return d;
}
task_id publish_task(runtime& rt, draft d, closure_fn body) {
    if (d.owner != nullptr && !rt.serial) return rt.publish(*d.owner, d, body);
    const seat_lease seat(rt, d.owner);
    rt.point();
    return rt.publish(*seat, d, body);
}
void abandon_task(runtime& rt, draft d) {
    rt.abandon(*seat_lease(rt, nullptr), d, flag_cancel | flag_empty);
}

void* allocate_closure(runtime& rt, std::size_t bytes, std::size_t alignment) {
    return rt.memory.allocate(bytes, alignment, memory_tag::closure);
}
void release_closure(runtime& rt, void* p, std::size_t bytes, std::size_t alignment) {
    rt.memory.release(p, bytes, alignment, memory_tag::closure);
}

void fail_task(task_context& context, std::exception_ptr error) {
    context.internals().seat->top->error = std::move(error);
}

// ---- plain tasks -------------------------------------------------------------------------------

namespace {

/// Opens a plain task in the general way, if the thread has no seat or there is a chooser or
/// statistics. If the scheduler is shut down or out of memory, rt.open() reports it.
[[gnu::noinline]] draft open_slowly(runtime& rt, whole_seat* w, const plain_options& o) {
    const seat_lease seat(rt, w);
    draft d = rt.open(*seat, {.name = o.name, .within = o.within, .where = o.where}, o.kind);
    d.owner = rt.report.plain_ways() ? seat.own() : nullptr;  // see publish_plain()
    return d;
}

/// Opens a plain task and reports it, if an observer listens. The report that the task is ready
/// comes a moment before the task is ready.
[[gnu::noinline]] draft open_watched(runtime& rt, whole_seat* w, const plain_options& o) {
    draft d;
    if (w != nullptr && rt.report.plain_ways()) d = rt.open_plain(*w, o.within, o.name, o.kind);
    if (d.storage == nullptr) return open_slowly(rt, w, o);
    rt.slots.note_line(slot_of(d), index_of(d), o.where);
    if (rt.report.observed()) {
        const task_id id = rt.slots.id_of(index_of(d));
        rt.report_spawned(rt.report.watcher(), *w, slot_of(d),
                          {.id = id, .parent = {}, .where = o.where, .ready_now = true});
    }
    return d;
}

}  // namespace

draft open_plain(runtime& rt, whole_seat* w, const plain_options& o) {
    if (o.within != nullptr && &o.within->internals().rt != &rt) [[unlikely]] {
        BRAID_EXPECT(rt.options.assertion, false, "`within` is a scope of another scheduler");
        return {};
    }
    if (w == nullptr) w = rt.bound();
    // The general way also takes slots from the table when the thread's cache has none. So nothing
    // is called below, and few registers have to be saved.
    if (w == nullptr || !rt.report.unwatched() || w->slots.count == 0) [[unlikely]] {
        return open_watched(rt, w, o);
    }
    const draft d = rt.open_plain<true>(*w, o.within, o.name, o.kind);
    return d.storage != nullptr ? d : open_slowly(rt, w, o);
}

task_id publish_plain(runtime& rt, draft d, closure_fn body) {
    if (d.owner == nullptr) return publish_task(rt, d, body);
    return rt.publish_plain(*d.owner, d, body);
}

}  // namespace detail
BRAID_NAMESPACE_END
