// Handles the case that no thread can stand in for a wait.
#include "core/wait/wait_loop.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// A thread with tasks on its stack, which it may bury, looks this many times in a row before it
/// runs work that it does not need.
constexpr std::uint8_t with_tasks = 3;

}  // namespace

/// Called when work is ready that this wait does not need, and nobody else can run it. While other
/// threads run something, what is awaited may still come about, so this thread only looks again now
/// and then. When no other thread runs anything, this thread searches everything for work that it
/// needs. Only if there is none, it runs something else, because such work may itself wait for a
/// task that lies below it on this stack. A thread without tasks on its stack can bury none, so it
/// runs something else at its first poll.
void wait_loop::poll() {
    alone_ = false;  // asks again whether a thread can stand in
    if (rt_.serial() != nullptr) {
        w_.looks = true;  // the sleep ends when nobody else can go on
        sleep(deadline_);
        w_.looks = false;
        if (!timed_out_ || out_of_time()) return;
    } else {
        sleep(std::min(deadline_, next_poll()));
        looks_from_ = active_policy::now();
        if (!nobody_else_runs()) {
            polls_ = 0;
            return;
        }
    }
    // Needed work that gives way again and again lies behind more tasks than find() looks at, and
    // perhaps needs one of them.
    const bool something_else = std::exchange(needs_others_, false);
    if (!something_else && policy_ != help::none && enough_stack(rt_, w_)) {
        if (const task_id id = find_anywhere()) {
            run_on_top(id);
            needs_others_ = gives_way_again_and_again(w_);
            return;
        }
    }
    if (rt_.serial() == nullptr && w_.depth != 0 && ++polls_ < with_tasks) return;
    polls_ = 0;
    run_anything();
}

std::int64_t wait_loop::next_poll() const {
    const std::int64_t at = active_policy::now();
    return at + rest_between_looks(looks_from_ != 0 ? at - looks_from_ : 0, rt_.seat_count());
}

/// Called when needed work gives way again and again, so that this thread would come to nothing
/// else. Another thread gets this thread's permit for the other work. If no thread can be had, this
/// thread runs some of it, as in poll().
void wait_loop::let_others_begin() {
    if (w_.kind == seat_kind::background) return;
    // The flag is set even if a thread stands in for this one. That thread may come to nothing
    // else, too, and rely on this one.
    spins_ = true;
    w_.spins.store(true, relaxed);
    if (w_.permit_released) return;
    const auto may_begin = [this] { return !out_of_time() && !rt_.frozen().on(); };
    if (may_begin()) {
        if (const task_id id = needed_of_others()) run_on_top(id);
    }
    rt_.ask_pinned_threads(w_);
    // relaxed: the wait looks again, with an acquire.
    if (done().load(relaxed) || !others_are_ready()) return;
    if (rt_.asleep().idle_one_searching() || rt_.wake_one(false) || rt_.release_permit(w_)) return;
    if (!all_others_stand_still() || !may_begin()) return;
    w_.spins.store(false, relaxed);
    run_unneeded(oldest_of_others());
}

/// Returns true if all other threads rest. With tasks on this stack, they must have rested for some
/// looks in a row, because a thread may have run something since the last look and sleep again.
/// Without tasks on this stack that does not matter, since none can be buried.
bool wait_loop::all_others_stand_still() {
    const seat_counters& own = w_.counters;
    const std::uint64_t ended = rt_.totals().ended() - own.executed.load(relaxed) -
                                own.failed.load(relaxed) - own.cancelled.load(relaxed);
    const bool same = std::exchange(ended_elsewhere_, ended) == ended;
    if (!others_rest()) {
        polls_ = 0;
        return false;
    }
    if (w_.depth == 0) return true;
    polls_ = same ? static_cast<std::uint8_t>(polls_ + 1) : 0;
    if (polls_ < with_tasks) return false;
    polls_ = 0;
    return true;
}

bool wait_loop::others_rest() const {
    const unsigned seats = rt_.seat_count();
    for (unsigned i = 0; i < seats; ++i) {
        const wait_seat& other = rt_.seat_at(i);
        const bool own = other.kind != seat_kind::main && other.kind != seat_kind::guest;
        // It is unknown what a thread of the program does outside tasks, and what a thread waits
        // for in blocking(). So such threads are left out.
        if (&other == &w_ || (!own && other.shown.load(acquire) == 0) ||
            other.blocks.load(relaxed)) {
            continue;
        }
        if (!other.at_rest.load(seq_cst) && !other.spins.load(relaxed)) return false;
    }
    return true;
}

bool wait_loop::nobody_else_runs() {
    // The count shows whether a thread has run something and sleeps again.
    return others_rest() && rt_.totals().ended() == ended_;
}

/// Returns true, once in a wait, if a wait that is out of time has to run one more task. This is so
/// for a thread without tasks on its stack that polls. With no worker, and no time to release its
/// permit, nobody else would ever run what sets the event, or an event that the awaited task waits
/// for on a reserve thread.
bool wait_loop::starves() const {
    return policy_ != help::none && !starved_ && !rt_.held_back(w_) && !target_.run_everything &&
           w_.depth == 0 && rt_.serial() == nullptr && rt_.active_workers(relaxed) == 0 &&
           w_.kind != seat_kind::background && !w_.permit_released && others_rest();
}

/// Runs any task. A task that gives way comes back to this thread's queues. So after such a task
/// the thread looks at the rings of others first, or it would never come to what lies there.
void wait_loop::run_anything() {
    const unsigned gave_way = w_.gave_way;
    const bool others_first = w_.others_first;
    task_id id = others_first ? oldest_of_others() : task_id{};
    if (!id) id = oldest_ready();
    run_unneeded(id);
    w_.others_first = !others_first && w_.gave_way != gave_way;
}

void wait_loop::run_unneeded(task_id id) {
    if (!id) return;
    const unsigned outer = w_.unneeded_from.load(relaxed);
    w_.unneeded_from.store(w_.depth, relaxed);
    run_on_top(id);
    w_.unneeded_from.store(outer, relaxed);
}

}  // namespace detail
BRAID_NAMESPACE_END
