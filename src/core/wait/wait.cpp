// Lets threads wait. The scheduler adds no deadlock that the program itself does not contain (I6),
// because only needed work runs on top of a wait. A reserve thread runs everything else. See
// docs/design/wait.md.
#include "braid/core/event.hpp"
#include "braid/core/scope.hpp"
#include "core/seats/gate_pass.hpp"
#include "core/slots/words.hpp"
#include "core/task/event_word.hpp"
#include "core/wait/wait_list.hpp"
#include "core/wait/wait_loop.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

namespace {

bool take_or_mark(event& signal) {
    event_state& e = signal.internals();
    return take_or_mark_event(e.word, e.mode == reset::manual);
}

}  // namespace

bool wait_target::arm(const slot_table& slots) const {
    if (task) {
        slot& s = slots.at(task);
        return mark_waited(s.successors, generation_of(task.value));
    }
    if (branch != nullptr) {
        // acq_rel: pairs with branch_source::finish(). Either finish() sees this bit, or this call
        // sees that the branch has finished.
        return (branch->state.fetch_or(fork_slot::awaited, acq_rel) & fork_slot::finished) == 0;
    }
    return signal != nullptr ? !take_or_mark(*signal) : scopes_room::mark_waited(*all_of);
}

bool wait_target::take() const {
    if (signal == nullptr) return true;
    event_state& e = signal->internals();
    return take_event(e.word, e.mode == reset::manual);
}

namespace {

constexpr atomic<bool> always{true};

}  // namespace

bool wait_loop::enter() {
    if (target_.list != nullptr) {
        return target_.list->enter(rt_, w_.index, record_.depth, record_.limited);
    }
    return rt_.lot().enter(record_, target_.key(), w_.index,
                           [&] { return target_.arm(rt_.slots); });
}

void wait_loop::observe(event_kind kind) {
    if (!rt_.report.observed()) return;
    rt_.report.event(w_.index, kind, w_.top != nullptr ? rt_.slots.id_of(w_.top->slot) : task_id{},
                     target_.task);
}

void wait_loop::show_what_for() {
    if (w_.depth == 0 || w_.depth > wait_seat::shown_depth) return;
    w_.frames[w_.depth - 1].begin_wait(target_.task.value, record_.limited,
                                       target_.list != nullptr);
}

void wait_loop::begin() {
    if (!is_own(w_)) {
        // seq_cst, both: pair with freeze(). That function sets the frozen flag and then reads
        // these two. This thread stores these two, and then checks in wait_out() whether the
        // scheduler is frozen.
        was_inside_ = w_.inside.exchange(true, seq_cst);
        if (auto* const module = this_thread_state.module_wait) {
            outer_module_wait_ = module->exchange(&w_.at_rest, seq_cst);
        }
    }
    show_what_for();
    observe(event_kind::wait_begin);
    if (target_.task && w_.top != nullptr) {
        rt_.inherit_priority(w_, target_.task, rt_.slots.level_of(rt_.slots.at(w_.top->slot)));
    }
    if (target_.list != nullptr) begin_list();
    rt_.note_core(w_);
    began_ = w_.report.stamp = rt_.report.task_clock();
    elsewhere_ = w_.report.elsewhere;
    if (w_.kind == seat_kind::background && rt_.count_background_waiter(+1)) {
        rt_.start_background(w_);
    }
    // The permit is already released in blocking(), and on top of a wait that has released it.
    had_released_ = w_.permit_released;
    outer_loop_ = std::exchange(w_.loop_depth, w_.depth);
    outer_wait_ = w_.wait_over;
    completes_ = rt_.complete_meanwhile(w_);
    rt_.share_run_next(w_);
}

void wait_loop::begin_list() {
    // The seat's list of needs may belong to an earlier wait_list at the same address.
    w_.needed_for = {};
    if (w_.top == nullptr) return;
    const std::uint8_t level = rt_.slots.level_of(rt_.slots.at(w_.top->slot));
    target_.list->any_open([&](task_id id) {
        rt_.inherit_priority(w_, id, level);
        return false;
    });
}

/// Called before the wait runs any task. One of several tasks may wait for what the waiting task
/// does next; if it ran on top of this wait, neither could go on. Returns false if the wait could
/// never end.
bool wait_loop::may_begin_list() {
    if (target_.list == nullptr || (w_.depth == 0 && w_.ends == nullptr)) return true;
    return !is_for_itself(false);
}

void wait_loop::end(std::int64_t now) {
    w_.report.elsewhere = elsewhere_ + (now - began_);
    w_.loop_depth = outer_loop_;
    w_.wait_over = outer_wait_;
    if (spins_) w_.spins.store(false, relaxed);
    w_.completing = completes_;
    if (w_.permit_released && !had_released_) rt_.take_permit_back(w_);
    if (asked_ && w_.kind == seat_kind::guest) rt_.note_guest_waits(w_, false);
    if (w_.kind == seat_kind::background) rt_.count_background_waiter(-1);
    rt_.leave_search(w_);
    // Publishers relied on this thread while it polled, and woke no other thread. So this thread
    // wakes another one now.
    if (was_alone_ && rt_.work_visible()) rt_.wake_one();
    rt_.flush_scope_ends(w_);
    if (is_own(w_)) return;
    if (w_.was_sentry && outer_wait_ == nullptr) rt_.pass_sentry_on(w_);
    // release: these pair with freeze(), which from here on counts this thread as outside the
    // scheduler.
    if (this_thread_state.module_wait != nullptr) {
        this_thread_state.module_wait->store(outer_module_wait_, release);
    }
    if (!was_inside_) w_.inside.store(false, release);
}

bool wait_loop::run(outcome** received) {
    begin();
    const bool over = may_begin_list() && wait_out();
    return leave(over, rt_.report.task_clock(), received);
}

bool wait_loop::has_it_at_hand() const {
    return target_.task && target_.list == nullptr && policy_ != help::none &&
           rt_.serial == nullptr && w_.kind != seat_kind::background &&
           run_room::own_newest(w_) == target_.task &&
           !rt_.slots.at(target_.task).has(flag_own_kind) &&  // such a task ends in its own way
           enough_stack(rt_, w_);
}

bool wait_loop::run_at_hand(outcome** received) {
    begin();
    // A thief may have taken the task. By the seq_cst in begin(), either freeze() waits for this
    // thread, or this thread sees here that the scheduler is frozen.
    if (!rt_.frozen().on() && rt_.take_own_newest(w_, target_.task)) {
        record_.key = target_.task.value;
        unentered_wait self{record_, w_.unentered};
        w_.unentered = &self;
        run_on_top(target_.task);
        w_.unentered = self.below;
        entered_ = self.entered;  // if the wait did not enter the lot, the task is complete
    } else {
        entered_ = enter();
    }
    if (!entered_)
        return leave(true, w_.report.stamp, received);  // the task's body ended at `stamp`
    const bool over = wait_out();
    return leave(over, rt_.report.task_clock(), received);
}

bool wait_loop::leave(bool over, std::int64_t now, outcome** received) {
    end(now);
    if (target_.list != nullptr) {
        target_.list->leave(rt_);
        over = over || !target_.list->advance();
    } else if (entered_ && rt_.lot().leave(record_) && !over) {
        // The wait was woken just as its time ran out. It takes the event that woke it. Otherwise
        // that set() would be lost, and another waiter would sleep on.
        over = target_.take();
    }
    if (received != nullptr) *received = std::exchange(record_.result, nullptr);
    if (w_.depth != 0 && w_.depth <= wait_seat::shown_depth) {
        w_.frames[w_.depth - 1].end_wait();
    }
    if (over) rt_.report_taken(target_);
    observe(event_kind::wait_end);
    return over;
}

bool wait_loop::wait_out() {
    for (bool looked = false;; looked = true) {
        rt_.rest_if_frozen(w_);
        rt_.complete_what_a_look_ended(w_);
        wait_room::settle(w_);
        if (is_done() && taken_or_over()) return true;
        // A wait gives up only after it has searched once and has run one task if it found one.
        // This holds even if the wait was given no time at all.
        if (looked && out_of_time()) {
            if (!starves()) return false;
            starved_ = true;
            run_anything();
            continue;
        }
        // With a deadline, a batch comes back here after each body, so that the wait checks the
        // clock.
        w_.wait_over = deadline_ == INT64_MAX ? &done() : &always;
        if (run_needed() || steal_branch()) continue;
        if (w_.scope_ended_in != nullptr) {
            rt_.flush_scope_ends(w_);  // perhaps the very scope that this wait is for
            continue;
        }
        // If the time is up, the wait does not sleep, even if watch() does not poll.
        if (watch() || (!looked && out_of_time())) continue;
        if (!asked_ && !may_sleep()) return false;
        rest();
    }
}

const atomic<bool>& wait_loop::done() const {
    return target_.list == nullptr ? record_.done : target_.list->target_done();
}

bool wait_loop::is_done() {
    // acquire: pairs with the release in parking_lot::wake().
    if (!done().load(acquire)) return false;
    return target_.list == nullptr || !continue_with_next();
}

/// Continues with the next task of the list. Returns false if no task is left.
bool wait_loop::continue_with_next() {
    if (!target_.list->advance()) return false;
    show_what_for();
    watch_until_ = 0;
    if (asked_) rt_.ask_pinned_threads(w_);
    return true;
}

bool wait_loop::is_for_itself(bool over_awaits) {
    if (target_.list == nullptr) return waits_for_itself(rt_, w_, target_, over_awaits);
    return target_.list->any_open(
        [&](task_id id) { return waits_for_itself(rt_, w_, {.task = id}, over_awaits); });
}

/// Called after a wake. Returns true if the wait can end. If another waiter has taken an automatic
/// event first, enters the lot again for the next set() and returns false.
bool wait_loop::taken_or_over() {
    if (target_.take()) return true;
    entered_ = enter();
    return !entered_;
}

bool wait_loop::out_of_time() const {
    if (deadline_ == INT64_MAX) return false;
    return now(rt_) >= deadline_;
}

bool wait_loop::run_needed() {
    if (rt_.held_back(w_)) return false;
    const task_id id = find();
    if (!id) return false;
    run_on_top(id);
    if (!target_.run_everything && gives_way_again_and_again(w_)) let_others_begin();
    return true;
}

void wait_loop::run_on_top(task_id id) {
    looks_from_ = 0;
    rt_.leave_search(w_);
    seat_counters::add(w_.report.counters.helped);
    if (rt_.report.observed()) {
        rt_.report.event(w_.index, event_kind::helped,
                         w_.top != nullptr ? rt_.slots.id_of(w_.top->slot) : task_id{}, id);
    }
    floats_.use(w_, rt_.float_control());
    // `more` returns true if run() may go on with tasks like this one. A wait for a scope needs all
    // tasks of that scope. A wait for a task whose children have a kind of its own needs all of
    // these children; an example is a graph's run with its nodes.
    const auto more = [&](std::uint64_t entry) {
        return target_.all_of != nullptr || target_.run_everything || wants_its_kind({entry});
    };
    rt_.run(w_, id, more(id.value));
    rt_.run_chain(w_, [&](std::uint64_t entry) { return is_needed(entry); }, more);
}

bool wait_loop::steal_branch() {
    if (policy_ == help::none || !enough_stack(rt_, w_) || rt_.held_back(w_)) return false;
    floats_.use(w_, rt_.float_control());
    return rt_.steal_needed_branch(w_, target_,
                                   [&](std::uint64_t entry) { return is_needed(entry); });
}

bool wait_loop::watch() {
    if constexpr (policies::watch) {
        if (watch_until_ == 0) watch_until_ = rt_.end_of_watch();
        if (watch_until_ < 0) return false;
        pause_between_looks();
        if (active_policy::now() >= watch_until_) watch_until_ = -1;
        return true;
    } else {
        return false;
    }
}

/// Called once in a wait, before its first sleep. Returns false if the wait could never end.
bool wait_loop::may_sleep() {
    asked_ = true;
    if (w_.kind == seat_kind::guest) rt_.note_guest_waits(w_, true);
    if (is_for_itself(true)) return false;
    target_.list != nullptr ? target_.list->stay() : record_.stays.store(true, relaxed);
    rt_.ask_pinned_threads(w_);
    if (rt_.options.warn_when_wait_parks && w_.kind == seat_kind::worker &&
        rt_.first_to_warn_of_parking()) {
        const char* name = w_.top != nullptr ? rt_.slots.at(w_.top->slot).name : nullptr;
        rt_.report.log(
            log_level::warning,
            "%s: a wait in task '%s' parks %s; give the work that follows to a task with "
            "`after` instead",
            rt_.options.name, name != nullptr ? name : "", w_.report.name);
    }
    return true;
}

void wait_loop::rest() {
    if (rt_.held_back(w_)) return rt_.rest_held_back(w_, deadline_);
    if (alone_) return poll();
    if (w_.permit_released || w_.kind == seat_kind::background) return sleep(deadline_);
    if (w_.search == searcher::waiter) {
        // A publisher may have relied on this thread's search and woken nobody. If this thread does
        // not run that work, it must wake a thread that can.
        w_.search = searcher::none;
        if (rt_.asleep().end_search(searcher::waiter) && rt_.work_visible() &&
            !rt_.wake_one(false)) {
            alone_ = !rt_.release_permit(w_);
            others_cannot_ = alone_;
            was_alone_ = was_alone_ || alone_;
            if (alone_) ended_ = rt_.totals().ended();
            return;
        }
    }
    const auto look = [&] {
        // If an idle thread is searching, it finds all other work.
        if (!target_.run_everything && rt_.asleep().idle_one_searching()) return false;
        return rt_.work_visible();
    };
    // Tasks that only this thread may run come with a notification; see direct_room.cpp.
    rt_.before_sleep(w_);
    const searcher now = std::exchange(w_.search, searcher::none);
    const searcher kind = target_.run_everything ? searcher::idle : searcher::waiter;
    w_.search = rt_.asleep().rest(w_.index, kind, now, look, [&] { sleep(deadline_); });
}

void wait_loop::sleep(std::int64_t until) { timed_out_ = !rt_.sleep(w_, until); }

bool wait_room::wait(wait_seat& w, const wait_target& target, nanoseconds timeout, help policy,
                     outcome** received) {
    const gate_pass pass(*this, w);
    point();
    if (target.branch == nullptr) publish_joins(w);
    wait_loop loop(*this, w, target, timeout, policy);
    if (loop.has_it_at_hand()) return loop.run_at_hand(received);
    if (loop.enter()) return loop.run(received);
    report_taken(target);
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
