#pragma once
// One wait of one thread. Its code is in wait.cpp, and in wait_alone.cpp for the case that no
// thread can stand in.

#include "core/run/helper_floats.hpp"
#include "core/wait/search.hpp"

#include <algorithm>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Returns how long a thread rests, in ns, before it looks again whether anything runs. `look` is
/// how long its last look took, and `threads` is how many threads may look. The thread knows that
/// nothing runs only if it finds all others at rest, and a thread that looks is not at rest. So
/// each thread rests for as long as all of them take to look one after another. With a pause of
/// fixed length, where looks are long and threads are many, some thread would look at every moment,
/// and none would ever go on.
constexpr std::int64_t rest_between_looks(std::int64_t look, unsigned threads) {
    constexpr std::int64_t least = 200'000, most = 50'000'000;
    return std::clamp(std::min(look, most) * threads, least, most);
}

/// Runs needed work on top of the wait. If there is none, the thread watches for a while, releases
/// its permit if that is wanted, and sleeps.
class wait_loop : work_search {
public:
    wait_loop(wait_room& rt, wait_seat& w, const wait_target& target, nanoseconds timeout,
              help policy)
        : work_search(rt, w, target, policy), deadline_(deadline_of(rt, timeout)) {
        record_.limited = deadline_ != INT64_MAX;
        record_.depth = static_cast<std::uint16_t>(std::min<unsigned>(w.depth, UINT16_MAX));
    }

    /// Registers the wait. Returns false if what is awaited has come about already.
    bool enter();
    /// Called after enter(). Returns true if what was awaited came about. Returns false if the time
    /// is up, or if the wait could never end, which was reported.
    bool run(outcome** received);
    /// Returns true if the awaited task is the newest in this thread's own ring, so that
    /// run_at_hand() can run it before anything else.
    bool has_it_at_hand() const;
    /// Does what enter() and run() do, but runs the awaited task first.
    bool run_at_hand(outcome** received);

private:
    static std::int64_t deadline_of(const wait_room& rt, nanoseconds timeout) {
        if (timeout == no_limit) return INT64_MAX;
        return deadline_after(now(rt), timeout);
    }
    /// Returns the time. With a chooser, time passes only when the chooser says so.
    static std::int64_t now(const wait_room& rt) {
        return rt.serial() != nullptr ? rt.serial()->now() : active_policy::now();
    }
    [[gnu::noinline]] void begin();
    void show_what_for();
    [[gnu::noinline]] void begin_list();
    bool may_begin_list();
    bool wait_out();
    bool leave(bool over, std::int64_t now, outcome** received);
    [[gnu::noinline]] void end(std::int64_t now);
    void observe(event_kind kind);
    /// Returns the flag that is set by the thread that wakes this wait.
    const atomic<bool>& done() const;
    /// Returns true if what is awaited came about. For several tasks, goes on to the next task, and
    /// returns true if none is left.
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
    bool asked_ = false;         // others know that this thread is about to sleep
    bool alone_ = false;         // no thread can stand in, so this one polls
    bool was_alone_ = false;     // alone_ was set at some time of this wait
    bool had_released_ = false;  // the permit was released before this wait
    bool completes_ = false;     // the thread completes tasks below this wait
    bool starved_ = false;       // the wait was out of time, and has run one more task
    bool was_inside_ = false;    // the seat's `inside` was set before this wait
    bool spins_ = false;         // this wait has set the seat's `spins`
    bool needs_others_ = false;  // needed work gives way, so poll() runs something else next
    std::uint8_t polls_ = 0;     // polls in a row that saw nobody else run anything
    unsigned outer_loop_ = 0;
    const atomic<bool>* outer_wait_ = nullptr;
    const atomic<bool>* outer_module_wait_ = nullptr;
    std::int64_t began_ = 0, elsewhere_ = 0;
    std::int64_t watch_until_ = 0;
    std::int64_t looks_from_ = 0;  // the time when poll() last woke; 0 if a task has run since
    std::uint64_t ended_ = 0;      // tasks that had ended when no thread could stand in
    std::uint64_t ended_elsewhere_ = UINT64_MAX;  // tasks that others had ended at the last look
    helper_floats floats_;
    wait_record record_;
};

}  // namespace detail
BRAID_NAMESPACE_END
