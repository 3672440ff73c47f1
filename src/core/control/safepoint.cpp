// At a safepoint all threads rest, and no thread outside the scheduler can make a task.
#include "braid/core/safepoint.hpp"

#include "braid/core/event.hpp"
#include "core/control/seat_lease.hpp"

BRAID_NAMESPACE_BEGIN
namespace {

void shut_out(detail::runtime& rt, bool so) {
    auto& outside = rt.without_seat();
    const detail::locked lock(outside.lock);
    outside.shut_out.store(so, seq_cst);  // pairs with enter_post_seat()
    outside.returned.notify_all();
}

}  // namespace

safepoint::safepoint(scheduler& s, nanoseconds within) : rt_(s.internals()) {
    rt_.point();
    const std::int64_t deadline = detail::deadline_after(active_policy::now(), within);
    if (const char* const awake = rt_.freeze(deadline)) {
        awake_ = awake;
        return;
    }
    reached_ = true;
    shut_out(rt_, true);
    while (reached_ && rt_.anybody_inside(false)) {
        if (active_policy::now() < deadline) {
            parker().park(active_policy::now() + 50'000);
            continue;
        }
        awake_ = "a call from a thread outside";
        reached_ = false;
    }
    if (reached_) return;
    shut_out(rt_, false);
    rt_.resume();
}

safepoint::~safepoint() {
    if (!reached_) return;
    shut_out(rt_, false);
    rt_.resume();
    rt_.point();
}

std::size_t safepoint::holders(const code_range& of, code_search::found_fn found, void* user) {
    if (!BRAID_EXPECT(rt_.options.assertion, reached_,
                      "ask a safepoint for holders only when it was reached")) {
        return 1;
    }
    struct counted {
        code_search::found_fn found;
        void* user;
        std::size_t count = 0;
    } all{found, user};
    code_search search(
        of,
        [](void* to, const held_code& what) {
            auto& sum = *static_cast<counted*>(to);
            ++sum.count;
            if (sum.found != nullptr) sum.found(sum.user, what);
        },
        &all);
    rt_.search_code(search);
    return all.count;
}

void safepoint::forget(const code_range& code) {
    if (reached_) rt_.holders().forget(code);
}

bool safepoint::cancel(const held_code& what) {
    const bool may = reached_ && what.use == code_use::task && rt_.slots.is_open(what.task);
    return may && rt_.cancel_at_rest(what.task);
}

void safepoint::let_run(scheduler& s, nanoseconds time) {
    detail::runtime& rt = s.internals();
    event never(s);
    const detail::whole_seat* const w = rt.bound();
    const bool in_task = w != nullptr && w->top != nullptr;
    rt.wait_here({.signal = &never, .run_everything = !in_task}, time, help::needed, nullptr);
}

BRAID_NAMESPACE_END
