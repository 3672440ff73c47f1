// This file records how a task failed or was cancelled, and finds the receivers of the failure. The
// code is cold.
#include "core/life/life_room.hpp"

#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

void life_room::record_failure(life_seat& w, std::uint32_t index, std::exception_ptr error,
                               std::uint32_t ordinal, const char* by) {
    slot& s = slots.at(index);
    scope_state* const in = scope_of(s.environment.load(relaxed));
    // release: pairs with scope_cancelled(). A task that suspends, or a completion that is armed,
    // after the first failure sees the flag, so later failures need not scan the lists again.
    if (error != nullptr && in != nullptr && in->policy == on_failure::cancel &&
        !in->cancelled.exchange(true, release)) {
        cancel_waits_of(w, *in);
    }
    if (by == nullptr) by = s.name;
    if (outcome* result = outcomes.make(error, by))
        return outcomes.adopt(w.details, index, result, ordinal);
    // There is no memory for an outcome. Successors are cancelled and waits throw all the same, and
    // the handler gets the exception. An empty task that comes here was itself refused for lack of
    // memory. That is no failure of its parent.
    const bool threw = error != nullptr;
    if (!s.has(flag_empty))
        outcomes.mark_unrecorded(s, threw ? flag_failed | flag_error : flag_failed);
    if (error != nullptr) outcomes.report_unobserved(by != nullptr ? by : "", std::move(error));
}

void life_room::cancel_waits_of(life_seat& w, const scope_state& of) {
    ask_all_of(w, of);
    end_listed_waits(w, of, [&](std::uint32_t index, std::uint32_t shares) {
        if (drop_waits(slots.at(index).waits_for, shares)) make_ready(w, index, {});
    });
}

void life_room::pass_on(life_seat& w, const slot& s, outcome& result, std::uint32_t parent) {
    if (parent != no_index) {
        outcomes.adopt(w.details, parent, outcomes.share(&result), s.ordinal.load(relaxed));
        return;
    }
    scope_state* const in = scope_of(s.environment.load(relaxed));
    if (in != nullptr) outcomes.offer(result, in->first_failure);
}

}  // namespace detail
BRAID_NAMESPACE_END
