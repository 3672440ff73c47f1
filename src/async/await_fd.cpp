// A wait of a coroutine for a descriptor:
//
//   completion armed ─► watched ─► arrived, which settles it ─► resumed ─► not watched any more
//
// A deadline or a cancellation settles the completion in its place. What the source thread touches
// lies in the frame, which stays until end(); of two that settle the later one changes nothing.
#include "braid/async/await_fd.hpp"

#include "core/extension.hpp"

#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct fd_wait::state final : core::outside_source {
    state(runtime& r, const request& wanted)
        : outside_source(kind::awaited, wanted.name, wanted.where), rt(r) {}
    void arrived(runtime& of, whole_seat& w, const core::arrival& what) override {
        event = what.events;
        const completion_id settled = id;
        came.store(true, release);  // pairs with end(): this may be gone
        core::settle(of, w, settled);
    }
    void abandon() override {}  // it ends before its task, so before the scheduler

    runtime& rt;
    completion_id id;  // before it is watched
    platform::descriptor_events event{};
    atomic<bool> came{false};
};

bool fd_wait::begin(task_context& context) {
    static_assert(sizeof(state) <= sizeof bytes_ && alignof(state) <= 8);
    runtime& rt = runtime_of(context);
    state& s = *::new (static_cast<void*>(bytes_)) state(rt, request_);
    // Before the completion, which could not fail with a sentence where there is no memory.
    const bool attached = core::sources(rt).attach_to_watch(s);
    if (attached) {
        s.id = await_outside(
            context,
            {.name = request_.name, .deadline = request_.deadline, .where = request_.where});
    }
    if (!s.id) {
        if (attached) core::sources(rt).detach_arrived(s);
        s.~state();
        return false;
    }
    state_ = &s;
    const completion_id id = s.id;
    const char* const refused = core::sources(rt).watch(
        s, request_.descriptor, {.readable = !request_.writes, .writable = request_.writes});
    if (refused != nullptr) {
        core::settle(rt, core::seat_of(context), id, {.code = 1, .sentence = refused});
    }
    return true;
}

fd_event fd_wait::end() {
    if (state_ == nullptr) return {};
    state& s = *std::exchange(state_, nullptr);
    // acquire: pairs with arrived().
    if (s.came.load(acquire)) {
        core::sources(s.rt).detach_arrived(s);
    } else {
        core::sources(s.rt).detach(s);
    }
    const fd_event event{.descriptor = request_.descriptor,
                         .readable = s.event.readable,
                         .writable = s.event.writable,
                         .hung_up = s.event.hung_up};
    s.~state();
    return event;
}

}  // namespace detail
BRAID_NAMESPACE_END
