#pragma once
// One wait of one thread. Its code is in wait.cpp. The code for the case that no reserve thread can
// stand in is in wait_alone.cpp.

#include "core/run/helper_floats.hpp"
#include "core/wait/search.hpp"

#include <algorithm>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns how long a polling thread sleeps, in ns, before it checks again whether another thread
/// runs. `look` is how long its last check took, and `threads` is how many threads may poll. A
/// thread runs other work only if it finds all other threads at rest, and a thread that checks is
/// not at rest. So each thread sleeps for as long as all of them take to check one after another.
/// With a sleep of fixed length, many threads with long checks would hinder each other: some thread
/// would be checking at every moment, and none would ever go on.
constexpr std::int64_t rest_between_looks(std::int64_t look, unsigned threads) {
    constexpr std::int64_t least = 200'000, most = 50'000'000;
    return std::clamp(std::min(look, most) * threads, least, most);
}

/// Runs needed work on top of the wait. If there is none, polls for a while, and then sleeps. If
/// other work is ready, the thread releases its permit before it sleeps.
class wait_loop : work_search {
public:
    wait_loop(wait_room& rt, wait_seat& w, const wait_target& target, nanoseconds timeout,
              help policy)
        : work_search(rt, w, target, policy), deadline_(deadline_of(rt, timeout)) {
        record_.limited = deadline_ != INT64_MAX;
        record_.depth = static_cast<std::uint16_t>(std::min<unsigned>(w.depth, UINT16_MAX));
    }

    /// Puts the wait's record into the parking lot. Returns false if there is nothing to wait for,
    /// as wait_target::arm() does.
    bool enter();
    /// Called after enter(). Returns true if the target became complete or was set. Returns false
    /// if the time is up, or if the wait could never end, which was reported.
    bool run(outcome** received);
    /// Returns true if the awaited task is the newest in this thread's own ring and may run on top
    /// of this wait. The caller then uses run_at_hand().
    bool has_it_at_hand() const;
    /// Does what enter() and run() do, but runs the awaited task first. Most often the task is then
    /// complete, and the wait need not enter the lot.
    bool run_at_hand(outcome** received);

private:
    static std::int64_t deadline_of(const wait_room& rt, nanoseconds timeout) {
        if (timeout == no_limit) return INT64_MAX;
        return deadline_after(now(rt), timeout);
    }
    /// Returns the time. With a chooser, this is the chooser's clock, which moves only when the
    /// chooser lets a deadline pass.
    static std::int64_t now(const wait_room& rt) {
        return rt.serial != nullptr ? rt.serial->now() : active_policy::now();
    }
    [[gnu::noinline]] void begin();
    void show_what_for();
    [[gnu::noinline]] void begin_list();
    bool may_begin_list();
    bool wait_out();
    bool leave(bool over, std::int64_t now, outcome** received);
    [[gnu::noinline]] void end(std::int64_t now);
    void observe(event_kind kind);
    /// Returns the flag that the thread that ends the wait sets.
    const atomic<bool>& done() const;
    /// Returns true if the wait was woken. A wait for several tasks continues with its next task,
    /// and returns true only if none is left.
    bool is_done();
    [[gnu::noinline]] bool continue_with_next();
    [[gnu::noinline]] bool is_for_itself(bool over_awaits);
    bool taken_or_over();
    bool out_of_time() const;
    bool run_needed();
    void run_on_top(task_id id);
    [[gnu::noinline]] bool steal_branch();
    [[gnu::noinline]] bool watch();
    [[gnu::noinline]] bool may_sleep();
    [[gnu::noinline]] void rest();
    void sleep(std::int64_t until);
    void poll();
    std::int64_t next_poll() const;
    bool others_rest() const;
    bool nobody_else_runs();
    bool all_others_stand_still();
    bool starves() const;
    void run_anything();
    void run_unneeded(task_id id);
    [[gnu::noinline]] void let_others_begin();

    const std::int64_t deadline_;
    bool entered_ = true;        // the record is in the parking lot, or was woken there
    bool timed_out_ = false;     // the last sleep ended at its deadline
    bool asked_ = false;         // may_sleep() has been called
    bool alone_ = false;         // no reserve thread can stand in, so this thread polls
    bool was_alone_ = false;     // alone_ was set at some time of this wait
    bool had_released_ = false;  // the permit was released before this wait
    bool completes_ = false;     // the seat's `completing` before this wait
    bool starved_ = false;       // the time was up, but the wait has run one more task
    bool was_inside_ = false;    // the seat's `inside` was set before this wait
    bool spins_ = false;         // this wait has set the seat's `spins`
    bool needs_others_ = false;  // needed work gives way, so poll() runs something else next
    std::uint8_t polls_ = 0;     // number of polls in a row that saw no other thread run
    unsigned outer_loop_ = 0;
    const atomic<bool>* outer_wait_ = nullptr;
    const atomic<bool>* outer_module_wait_ = nullptr;
    std::int64_t began_ = 0, elsewhere_ = 0;
    std::int64_t watch_until_ = 0;
    std::int64_t looks_from_ = 0;  // the time when poll() last woke; 0 if a task has run since
    std::uint64_t ended_ = 0;      // number of ended tasks when no reserve thread could stand in
    std::uint64_t ended_elsewhere_ = UINT64_MAX;  // tasks that others had ended at the last check
    helper_floats floats_;
    wait_record record_;
};

}  // namespace detail
BRAID_NAMESPACE_END
