// Waiting without making a deadlock that the program does not have (I6): only needed work runs on
// top of a wait, everything else goes to a thread that stands in. See docs/design/wait.md.
#include "braid/core/event.hpp"
#include "braid/core/scope.hpp"
#include "core/run/helper_floats.hpp"
#include "core/seats/gate_pass.hpp"
#include "core/task/event_word.hpp"
#include "core/task/words.hpp"
#include "core/wait/search.hpp"

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

bool wait_target::arm(const task_room& tasks) const {
    if (task) {
        slot& s = tasks.slot_at(task);
        return mark_waited(s.successors, generation_of(task.value));
    }
    if (branch != nullptr) {
        // acq_rel: pairs with branch_source::finish(), which sees the bit, or has finished.
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
/// How often a wait for which no thread can stand in looks again.
constexpr std::int64_t poll_ns = 200'000;

/// One wait of one thread. What is needed runs on top of it; where there is nothing, the thread
/// watches for a while, gives its permit away if that is wanted, and sleeps.
class wait_loop : work_search {
public:
    wait_loop(wait_room& rt, wait_seat& w, const wait_target& target, nanoseconds timeout,
              help policy)
        : work_search(rt, w, target, policy), deadline_(deadline_of(rt, timeout)) {}

    /// False: what is awaited came about already.
    bool enter() {
        return rt_.lot().enter(record_, target_.key(), w_.index, [&] { return target_.arm(rt_); });
    }
    /// After enter(). True: over; false: out of time, or it could never end, which was reported.
    bool run(outcome** received);

private:
    static std::int64_t deadline_of(const wait_room& rt, nanoseconds timeout) {
        if (timeout == forever) return INT64_MAX;
        return deadline_after(now(rt), timeout);
    }
    /// With a chooser time passes when it says so.
    static std::int64_t now(const wait_room& rt) {
        return rt.serial() != nullptr ? rt.serial()->now() : active_policy::now();
    }
    [[gnu::noinline]] void begin();
    bool wait_out();
    [[gnu::noinline]] void end();
    void observe(event_kind kind);
    bool taken_or_over();
    bool out_of_time() const;
    bool run_needed();
    void run_on_top(task_id id);
    [[gnu::noinline]] bool steal_branch();
    [[gnu::noinline]] bool watch();
    [[gnu::noinline]] bool may_sleep();
    [[gnu::noinline]] void rest();
    void sleep(std::int64_t until) { timed_out_ = !rt_.sleep(w_, until); }
    void poll();
    bool others_rest() const;
    bool nobody_else_runs();
    bool starves() const;
    void run_unneeded();

    const std::int64_t deadline_;
    bool entered_ = true;        // the record is in the parking lot, or was woken there
    bool timed_out_ = false;     // the last sleep
    bool asked_ = false;         // others know that this thread is about to sleep
    bool alone_ = false;         // no thread can stand in: it polls
    bool was_alone_ = false;     // at any time of this wait
    bool had_released_ = false;  // the permit, before this wait
    bool completes_ = false;     // the thread, below this wait
    bool starved_ = false;       // it was out of time, and has run one more task
    bool was_inside_ = false;    // in such a call, before this wait
    std::uint8_t polls_ = 0;     // in a row that saw nobody else run anything
    unsigned outer_loop_ = 0;
    const atomic<bool>* outer_wait_ = nullptr;
    const atomic<bool>* outer_module_wait_ = nullptr;
    std::int64_t began_ = 0, elsewhere_ = 0;
    std::int64_t watch_until_ = 0;
    std::uint64_t ended_ = 0;  // tasks, when it was last found that no thread can stand in
    helper_floats floats_;
    wait_record record_;
};

void wait_loop::observe(event_kind kind) {
    if (!rt_.observed()) return;
    rt_.report(w_, kind, w_.top != nullptr ? rt_.id_of(w_.top->slot) : task_id{}, target_.task);
}

void wait_loop::begin() {
    if (!is_own(w_)) {
        // seq_cst, both: pair with freeze(), which looks at them after it has said so; this thread
        // looks at that in wait_out().
        was_inside_ = w_.inside.exchange(true, seq_cst);
        if (auto* const module = this_thread_state.module_wait) {
            outer_module_wait_ = module->exchange(&w_.at_rest, seq_cst);
        }
    }
    if (w_.depth != 0 && w_.depth <= wait_seat::shown_depth) {
        w_.frames[w_.depth - 1].awaited.store(target_.task.value, release);
    }
    observe(event_kind::wait_begin);
    if (target_.task && w_.top != nullptr) {
        rt_.inherit_priority(w_, target_.task, rt_.level_of(rt_.slot_at(w_.top->slot)));
    }
    rt_.note_core(w_);
    began_ = w_.stamp = rt_.task_clock();
    elsewhere_ = w_.elsewhere;
    if (w_.kind == seat_kind::background && rt_.count_background_waiter(+1)) {
        rt_.start_background(w_);
    }
    // Inside blocking(), or on top of a wait that released it.
    had_released_ = w_.permit_released;
    outer_loop_ = std::exchange(w_.loop_depth, w_.depth);
    outer_wait_ = w_.wait_over;
    completes_ = rt_.complete_meanwhile(w_);
    rt_.share_run_next(w_);
}

void wait_loop::end() {
    w_.elsewhere = elsewhere_ + (rt_.task_clock() - began_);
    w_.loop_depth = outer_loop_;
    w_.wait_over = outer_wait_;
    w_.completing = completes_;
    if (w_.permit_released && !had_released_) rt_.take_permit_back(w_);
    if (asked_ && w_.kind == seat_kind::guest) rt_.note_guest_waits(w_, false);
    if (w_.kind == seat_kind::background) rt_.count_background_waiter(-1);
    rt_.leave_search(w_);
    // Publishers left work to this thread, and no other one was asked: now another one is.
    if (was_alone_ && rt_.work_visible()) rt_.wake_one();
    rt_.flush_scope_ends(w_);
    if (is_own(w_)) return;
    // release: pair with freeze(), which takes the thread as outside from then on.
    if (this_thread_state.module_wait != nullptr) {
        this_thread_state.module_wait->store(outer_module_wait_, release);
    }
    if (!was_inside_) w_.inside.store(false, release);
}

bool wait_loop::run(outcome** received) {
    begin();
    bool over = wait_out();
    end();
    // Woken as the time ran out: what woke it is taken, or another waiter would sleep on.
    if (entered_ && rt_.lot().leave(record_) && !over) over = target_.take();
    if (received != nullptr) *received = std::exchange(record_.result, nullptr);
    if (w_.depth != 0 && w_.depth <= wait_seat::shown_depth) {
        w_.frames[w_.depth - 1].awaited.store(0, relaxed);
    }
    if (over) rt_.report_taken(target_);
    observe(event_kind::wait_end);
    return over;
}

bool wait_loop::wait_out() {
    for (bool looked = false;; looked = true) {
        rt_.rest_if_frozen(w_);
        wait_room::settle(w_);
        // acquire: pairs with the release in parking_lot::wake().
        if (record_.done.load(acquire) && taken_or_over()) return true;
        // Once everything is looked at and a piece of work is done, also without any time.
        if (looked && out_of_time()) {
            if (!starves()) return false;
            starved_ = true;
            run_unneeded();
            continue;
        }
        // With a deadline the clock is looked at after each body of a batch.
        w_.wait_over = deadline_ == INT64_MAX ? &record_.done : &always;
        if (run_needed() || steal_branch()) continue;
        if (w_.scope_ended_in != nullptr) {
            rt_.flush_scope_ends(w_);  // perhaps the very scope that is awaited here
            continue;
        }
        // Without time it does not sleep, also where nobody watches.
        if (watch() || (!looked && out_of_time())) continue;
        if (!asked_ && !may_sleep()) return false;
        rest();
    }
}

/// After a wake. False: somebody else was quicker, and this one waits for the next set().
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
    if (id) run_on_top(id);
    return static_cast<bool>(id);
}

void wait_loop::run_on_top(task_id id) {
    rt_.leave_search(w_);
    seat_counters::add(w_.counters.helped);
    if (rt_.observed()) {
        rt_.report(w_, event_kind::helped, w_.top != nullptr ? rt_.id_of(w_.top->slot) : task_id{},
                   id);
    }
    floats_.use(w_, rt_.float_control());
    // What a scope needs, all of its tasks are; what a task needs that has children of its own
    // kind, as the run of a graph has nodes, all those.
    const auto more = [&](std::uint64_t entry) {
        return target_.all_of != nullptr || target_.run_everything || wants_its_kind({entry});
    };
    rt_.run(w_, id, more(id.value));
    rt_.run_chain(w_, [&](std::uint64_t entry) { return is_needed(entry); }, more);
}

bool wait_loop::steal_branch() {
    if (policy_ == help::none || !enough_stack(rt_, w_) || rt_.held_back(w_)) return false;
    floats_.use(w_, rt_.float_control());
    return rt_.steal_needed_branch(w_, target_);
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

/// Once in a wait. False: it could never end.
bool wait_loop::may_sleep() {
    asked_ = true;
    if (w_.kind == seat_kind::guest) rt_.note_guest_waits(w_, true);
    if (waits_for_itself(rt_, w_, target_)) return false;
    rt_.ask_pinned_threads(w_);
    if (rt_.options().warn_when_wait_parks && w_.kind == seat_kind::worker &&
        rt_.first_to_warn_of_parking()) {
        const char* name = w_.top != nullptr ? rt_.slot_at(w_.top->slot).name : nullptr;
        rt_.log(log_level::warning,
                "%s: a wait in task '%s' parks %s; give the work that follows to a task with "
                "`after` instead",
                rt_.options().name, name != nullptr ? name : "", w_.name);
    }
    return true;
}

void wait_loop::rest() {
    if (rt_.held_back(w_)) return rt_.rest_held_back(w_, deadline_);
    if (alone_) return poll();
    if (w_.permit_released || w_.kind == seat_kind::background) return sleep(deadline_);
    if (w_.search == searcher::waiter) {
        // A publisher may have left work to this thread's search, and it is not for this thread:
        // somebody who can run it must know.
        w_.search = searcher::none;
        if (rt_.asleep().end_search(searcher::waiter) && rt_.work_visible() &&
            !rt_.wake_one(false)) {
            alone_ = !rt_.release_permit(w_);
            was_alone_ = was_alone_ || alone_;
            if (alone_) ended_ = rt_.totals().ended();
            return;
        }
    }
    const auto look = [&] {
        // A thread that is idle and searches deals with the rest.
        if (!target_.run_everything && rt_.asleep().idle_one_searching()) return false;
        return rt_.work_visible();
    };
    // What is given to this thread comes with a notification; see direct_room.cpp.
    rt_.before_sleep(w_);
    const searcher now = std::exchange(w_.search, searcher::none);
    const searcher kind = target_.run_everything ? searcher::idle : searcher::waiter;
    w_.search = rt_.asleep().rest(w_.index, kind, now, look, [&] { sleep(deadline_); });
}

// ---- when no thread can stand in ---------------------------------------------------------------

/// Work is ready that this wait does not need, and there is nobody to run it. While others run
/// something, what is awaited may still come about: this thread looks again now and then. When
/// nobody does, it searches everything for what it needs, and runs something else only when there
/// is nothing: that may itself wait for a task that lies below it on this stack. A thread
/// without tasks on its stack can bury none of them, so it does it first.
void wait_loop::poll() {
    alone_ = false;  // look again whether a thread is to be had
    if (rt_.serial() != nullptr) {
        w_.looks = true;  // comes back when nobody else can go on
        sleep(deadline_);
        w_.looks = false;
        if (!timed_out_ || out_of_time()) return;
    } else {
        sleep(std::min(deadline_, active_policy::now() + poll_ns));
        if (!nobody_else_runs()) {
            polls_ = 0;
            return;
        }
    }
    if (policy_ != help::none && enough_stack(rt_, w_)) {
        if (const task_id id = find_anywhere()) return run_on_top(id);
    }
    constexpr std::uint8_t with_tasks = 3;
    if (rt_.serial() == nullptr && w_.depth != 0 && ++polls_ < with_tasks) return;
    polls_ = 0;
    run_unneeded();
}

bool wait_loop::others_rest() const {
    const unsigned seats = rt_.seat_count();
    for (unsigned i = 0; i < seats; ++i) {
        const wait_seat& other = rt_.seat_at(i);
        const bool own = other.kind != seat_kind::main && other.kind != seat_kind::guest;
        // What a thread of the program does outside tasks is not known, nor what it waits for in
        // blocking().
        if (&other == &w_ || (!own && other.shown.load(acquire) == 0) ||
            other.blocks.load(relaxed)) {
            continue;
        }
        if (!other.at_rest.load(seq_cst)) return false;
    }
    return true;
}

bool wait_loop::nobody_else_runs() {
    return others_rest() && rt_.totals().ended() == ended_;  // one may have run, and sleep again
}

/// Once, of a thread without tasks on its stack that polls an event: with no worker, and no time
/// to give its permit away, nobody else would ever run what sets the event.
bool wait_loop::starves() const {
    return target_.signal != nullptr && !starved_ && !rt_.held_back(w_) &&
           !target_.run_everything && w_.depth == 0 && rt_.serial() == nullptr &&
           rt_.active_workers(relaxed) == 0 && w_.kind != seat_kind::background &&
           !w_.permit_released && others_rest();
}

void wait_loop::run_unneeded() {
    if (!enough_stack(rt_, w_)) return;
    const task_id id = oldest_ready();
    if (!id) return;
    const unsigned outer = std::exchange(w_.unneeded_from, w_.depth);
    run_on_top(id);
    w_.unneeded_from = outer;
}

}  // namespace

bool wait_room::wait(wait_seat& w, const wait_target& target, nanoseconds timeout, help policy,
                     outcome** received) {
    const gate_pass pass(*this, w);
    point();
    if (target.branch == nullptr) publish_joins(w);
    wait_loop loop(*this, w, target, timeout, policy);
    if (loop.enter()) return loop.run(received);
    report_taken(target);
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
