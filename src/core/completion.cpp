// The public functions for completions. Each finds the caller's seat and then calls life/.
#include "braid/core/completion.hpp"

#include "braid/core/scheduler.hpp"
#include "core/control/seat_lease.hpp"
#include "core/control/settling.hpp"

BRAID_NAMESPACE_BEGIN

namespace detail {

void ask_late(runtime& rt, whole_seat& w, std::uint64_t word, const arrival&) {
    rt.ask(w, {word}, true);
}

}  // namespace detail

using detail::running_task;
using detail::seat_lease;
using detail::whole_seat;

completion_id task_context::defer(completion_options with) {
    state_.rt.point();
    state_.id_taken = true;
    return state_.rt.defer(*state_.seat, state_.id, with);
}

namespace this_task {

completion_id defer(completion_options with) {
    running_task* const t = detail::current_task();
    if (BRAID_EXPECT(assertion_handler{}, t != nullptr,
                     "defer() is for tasks: outside of one there is nobody to wait for it")) {
        return t->context.defer(std::move(with));
    }
    return {};
}

}  // namespace this_task

bool scheduler::complete(completion_id id, const completion_result& result) {
    const detail::runtime::settling call(*rt_);
    const char* const refused = rt_->why_not_settled_outside(id);
    if (!BRAID_EXPECT(rt_->options.assertion, refused == nullptr, refused)) return false;
    rt_->point();
    const seat_lease seat(*rt_, nullptr);
    return rt_->settle_completion(*seat, id, result);
}

bool scheduler::try_complete(completion_id id, int code) noexcept {
    const detail::runtime::settling call(*rt_);
    const char* const refused = rt_->why_not_settled_outside(id);
    if (!BRAID_EXPECT(rt_->options.assertion, refused == nullptr, refused)) return false;
    whole_seat* const own = rt_->bound();
    detail::seats_seat* const seat = own != nullptr ? own : rt_->enter_post_seat();
    if (seat == nullptr) return false;
    if (seat->outside_gate && rt_->serial != nullptr) rt_->serial->note_unchosen();
    const bool done = rt_->try_settle_completion(static_cast<whole_seat&>(*seat), id, code);
    if (own == nullptr) rt_->leave_post_seat();
    return done;
}

bool scheduler::completed(completion_id id) const {
    rt_->point();
    return rt_->is_settled(id);
}

std::size_t scheduler::open_completions(completion_info* rows, std::size_t capacity) const {
    rt_->point();
    const seat_lease seat(*rt_, nullptr);
    return rt_->show_completions(*seat, rows, capacity);
}

BRAID_NAMESPACE_END
