// Waits for descriptors. It is watched before there is a completion, so that a cancellation finds
// all that it has to end:
//
//   watched ─► completion armed ─► id in the word ─► arrived, asked to leave ─► detached
//
// Of the word's two writers the later one settles: the source thread, or the task that begins.
#include "braid/async/await_fd.hpp"

#include "core/extension.hpp"

#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct fd_wait::state final : core::outside_source {
    explicit state(runtime& r) : outside_source(kind::awaited), rt(r) {}
    void arrived(runtime& of, whole_seat& w, const core::arrival& what) override {
        came = what.events;
        // acq_rel: pairs with begin() and end(). After it this may be gone.
        const completion_id id{word.exchange(has_come, acq_rel)};
        if (id) core::settle(of, w, id);
    }
    void abandon() override {}  // it ends before its task, so before the scheduler

    static constexpr std::uint64_t has_come = UINT64_MAX;
    runtime& rt;
    platform::descriptor_events came{};
    atomic<std::uint64_t> word{0};  // 0, the completion's id, has_come
};

bool fd_wait::begin(task_context& context) {
    static_assert(sizeof(state) <= sizeof bytes_ && alignof(state) <= 8);
    runtime& rt = runtime_of(context);
    state& s = *::new (static_cast<void*>(bytes_)) state(rt);
    outside_room& sources = core::sources(rt);
    sources.attach(s);
    const char* const refused = sources.watch(
        s, request_.descriptor, {.readable = !request_.writes, .writable = request_.writes});
    const completion_id id = await_outside(context, {.name = request_.name,
                                                     .deadline = request_.deadline,
                                                     .cancel = {&leave, &s},
                                                     .where = request_.where});
    state_ = &s;
    if (!id) return false;  // a cancellation may look at it until end()
    if (refused != nullptr) {
        core::settle(rt, core::seat_of(context), id, {.code = 1, .sentence = refused});
    } else if (s.word.exchange(id.value, acq_rel) == state::has_come) {  // pairs with arrived()
        core::settle(rt, core::seat_of(context), id);
    }
    return true;
}

/// After that the source thread does not come, so there is nobody else who could settle it.
bool fd_wait::leave(void* waiting, completion_id) {
    auto& s = *static_cast<state*>(waiting);
    core::sources(s.rt).disarm(s);
    return true;
}

fd_event fd_wait::end() {
    if (state_ == nullptr) return {};
    state& s = *std::exchange(state_, nullptr);
    // acquire: pairs with arrived(), which touches nothing here afterwards.
    if (s.word.load(acquire) == state::has_come) {
        core::sources(s.rt).detach_arrived(s);
    } else {
        core::sources(s.rt).detach(s);
    }
    const fd_event event{.descriptor = request_.descriptor,
                         .readable = s.came.readable,
                         .writable = s.came.writable,
                         .hung_up = s.came.hung_up};
    s.~state();
    return event;
}

}  // namespace detail
BRAID_NAMESPACE_END
