// The part of a wait for the case that no reserve thread can stand in. The thread then polls, and
// may run work that its wait does not need. This can bury a task of its stack: the work on top of
// that task then waits for the task, so neither can go on.
#include "core/wait/wait_loop.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// If the thread has tasks on its stack that it could bury, it polls this many times in a row
/// before it runs work that the wait does not need.
constexpr std::uint8_t with_tasks = 3;

}  // namespace

/// Called when work is ready that this wait does not need, and no other thread can run that work.
/// While other threads run tasks, what is awaited may still come about, so this thread only sleeps
/// and checks again. When no other thread runs anything, this thread searches all queues for work
/// that the wait needs. Only if it finds none, it runs any other task, because that task may wait
/// for a task further down on this stack. A thread without tasks on its stack can bury none, so it
/// runs any task at its first poll.
void wait_loop::poll() {
    alone_ = false;  // makes rest() ask for a reserve thread again
    if (rt_.serial != nullptr) {
        w_.looks = true;  // the sleep ends when no other thread can go on
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
    // Needed tasks that give way again and again are behind more tasks than find() checks, and may
    // need one of these. So this poll skips needed tasks and runs something else.
    const bool something_else = std::exchange(needs_others_, false);
    if (!something_else && policy_ != help::none && enough_stack(rt_, w_)) {
        if (const task_id id = find_anywhere()) {
            run_on_top(id);
            needs_others_ = gives_way_again_and_again(w_);
            return;
        }
    }
    if (rt_.serial == nullptr && w_.depth != 0 && ++polls_ < with_tasks) return;
    polls_ = 0;
    run_anything();
}

std::int64_t wait_loop::next_poll() const {
    const std::int64_t at = active_policy::now();
    return at + rest_between_looks(looks_from_ != 0 ? at - looks_from_ : 0, rt_.seat_count());
}

/// Called when needed tasks give way again and again, so that this thread would run nothing else.
/// Wakes an idle thread for the other work, or releases this thread's permit to a reserve thread.
/// If neither can be had, this thread runs some of the other work itself, as in poll().
void wait_loop::let_others_begin() {
    if (w_.kind == seat_kind::background) return;
    // Sets the flag even if a reserve thread stands in for this one. That thread may also run only
    // tasks that give way, and rely on this one.
    spins_ = true;
    w_.spins.store(true, relaxed);
    if (w_.permit_released) return;
    const auto may_begin = [this] { return !out_of_time() && !rt_.frozen().on(); };
    if (may_begin()) {
        if (const task_id id = needed_of_others()) run_on_top(id);
    }
    rt_.ask_pinned_threads(w_);
    // relaxed: wait_out() checks again, with an acquire.
    if (done().load(relaxed) || !others_are_ready()) return;
    if (rt_.asleep().idle_one_searching() || rt_.wake_one(false) || rt_.release_permit(w_)) return;
    if (!all_others_stand_still() || !may_begin()) return;
    w_.spins.store(false, relaxed);
    run_unneeded(oldest_of_others());
}

/// Returns true if all other threads rest. If this stack has tasks, the others must have rested at
/// several checks in a row. A single check is not enough: a thread may have run something since
/// the check before and be asleep again. With no tasks on this stack one check is enough, because
/// no task can be buried.
bool wait_loop::all_others_stand_still() {
    const seat_counters& own = w_.report.counters;
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
        // Skips threads of the program that are outside tasks, and threads in blocking(). The
        // scheduler does not know what these threads do or wait for.
        if (&other == &w_ || (!own && other.shown.load(acquire) == 0) ||
            other.blocks.load(relaxed)) {
            continue;
        }
        if (!other.at_rest.load(seq_cst) && !other.spins.load(relaxed)) return false;
    }
    return true;
}

bool wait_loop::nobody_else_runs() {
    // The count changes if a thread has run something meanwhile, even if it sleeps again.
    return others_rest() && rt_.totals().ended() == ended_;
}

/// Returns true if a wait whose time is up must run one more task, which happens at most once in a
/// wait. This is for a thread without tasks on its stack that waits again and again for a short
/// time. If there is no worker, and the time is too short to release the permit, no other thread
/// runs tasks. So nobody would ever run the task that sets the awaited event. The same holds if the
/// awaited task waits for an event on a reserve thread.
bool wait_loop::starves() const {
    return policy_ != help::none && !starved_ && !rt_.held_back(w_) && !target_.run_everything &&
           w_.depth == 0 && rt_.serial == nullptr && rt_.active_workers(relaxed) == 0 &&
           w_.kind != seat_kind::background && !w_.permit_released && others_rest();
}

/// Runs any ready task. A task that gives way comes back to this thread's queues. So after such a
/// task the thread searches the rings of other threads first. Otherwise it would never reach the
/// tasks there.
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
