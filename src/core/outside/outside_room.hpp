#pragma once
// The outside room serves what comes from outside: timers, and descriptors that have an event. One
// thread, the source thread, serves all of them. It is made when the first one is armed, and sleeps
// in the system until the next one is due. The thread runs no code of the program: it makes tasks,
// and does what a timer_call does.
//
//   arm ──► wheel ──► source thread: due ──► a batch, without the lock ──► tasks ──► sleeps
//
// O1  Everything in a batch is called before the batch ends, and disarm() waits for that end. So
//     nothing calls into a source after disarm() has returned for it.
// O2  A periodic source is armed again under the lock under which it was taken from the wheel. So
//     the wheel always has room for it, and disarm() finds it.
// O3  A batch ends before a safepoint is reached, and no batch starts while the safepoint lasts.
// O4  Observers see a timer of the program as work outside, each time that it is armed. They get
//     `deferred` when it is armed, and `settled` when it is due or disarmed. Both are reported
//     under the lock, so that neither comes without the other.

#include "core/outside/outside_source.hpp"
#include "core/outside/watched_sources.hpp"
#include "core/seats/threads_room.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class outside_room : public threads_room {
public:
    outside_room(const scheduler_options& o, const seat_plan& plan) : threads_room(o, plan) {}
    ~outside_room();

    /// Returns the time of the clock that deadlines use. If there is a chooser, this is the
    /// chooser's clock.
    std::int64_t clock() const {
        return serial() != nullptr ? serial()->now() : active_policy::now();
    }

    // ---- timers of the core: any thread that holds no lock of a room above
    struct timer_request {
        std::int64_t deadline = 0, slack = 0;
        timer_call call = {};
    };
    /// Arms a timer. Returns an empty id if there is no memory, descriptor or thread for it, which
    /// was logged, or if everything has ended.
    timer_id arm_timer(const timer_request& r);
    /// Cancels the timer. Returns false if it was cancelled before, or if it came due; its call may
    /// go on at this moment.
    bool cancel_timer(timer_id id);

    // ---- sources of the program: any thread, but for each source one thread at a time
    void attach(outside_source& s);
    /// Attaches the source and reserves a place for watch(), which then does not fail for want of
    /// that place. Returns false, and attaches nothing, if there is no memory.
    bool attach_to_watch(outside_source& s);
    /// Detaches the source. Returns when no thread calls into the source any more. From here on it
    /// cannot be armed, although one of its own tasks may still try.
    void detach(outside_source& s);
    /// Detaches a source that has arrived for the last time. No thread calls into such a source any
    /// more, so this waits for nothing.
    void detach_arrived(outside_source& s);
    struct timing {
        std::int64_t deadline = 0, slack = 0;
        std::int64_t period = 0;  // above 0: comes again, on a grid from the deadline on
    };
    /// Arms the source. A source that is armed is disarmed first. Returns false in the cases in
    /// which arm_timer() returns an empty id, or if the source is not attached, or if a shutdown
    /// began.
    bool arm(outside_source& s, const timing& when);
    /// Arms once more a source that has arrived and could do nothing yet. Only the source thread
    /// calls this. Returns false if there is no memory, or if the source was disarmed meanwhile.
    bool postpone(outside_source& s, std::int64_t deadline);
    /// Disarms the source, and watches its descriptor no more. Waits for a batch that goes on (O1).
    /// Returns true if the source was armed and will not come. A periodic source will not come
    /// again.
    bool disarm(outside_source& s);
    /// Returns true if the source is armed. A periodic source is armed from its first arm() on.
    bool is_armed(const outside_source& s) const {
        const locked lock(outside_mutex_);
        return static_cast<bool>(s.armed_);
    }
    /// Watches the descriptor for its next event. Returns null, or a sentence that says what was
    /// refused.
    const char* watch(outside_source& s, int descriptor, platform::descriptor_events wanted);
    /// Watches for the next event after one has arrived. Returns what watch() returns.
    const char* watch_again(outside_source& s, platform::descriptor_events wanted);
    /// Lets a descriptor rest that has arrived and found no memory. Its source is called again
    /// after rest_ns at most, and then watches again, so that a lack of memory does not occupy a
    /// core. This function takes no memory itself. Only the source thread calls it.
    void rest(outside_source& s);
    static constexpr std::int64_t rest_ns = 10'000'000;

    // ---- the end
    /// Disarms the sources of the program when a shutdown has begun. They make no tasks from here
    /// on. Timers of the core go on. Further calls do no harm.
    void close_sources();
    /// Reports the sources that outlive the scheduler, and cuts them off.
    void abandon_sources();
    /// Makes the source thread end, and returns soon. The thread is then joined through its seat.
    void end_source_thread();

    /// Serves the sources until the end. The source thread calls this.
    void serve_sources(seats_seat& w);
    void count_sources(scheduler_statistics& sum) const;
    /// Returns true if a timer is armed, a batch goes on, or a source of the program is attached.
    bool anything_may_come() const;

private:
    /// An entry of the wheel is either a call of the core or a source.
    struct armed_call {
        timer_call call;
        outside_source* source;
    };
    using wheel = timer_wheel<armed_call, memory_tag::runtime>;
    struct outside_state {
        explicit outside_state(accounted_memory& memory) : timers(memory) {}
        wheel timers;
        platform::poller poller{};
        seats_seat* seat = nullptr;
    };
    struct due_batch;
    struct due_item;

    bool start_sources() BRAID_REQUIRES(outside_mutex_);
    bool start_thread_of(outside_state& s) BRAID_REQUIRES(outside_mutex_);
    timer_id put(const wheel::entry& one) BRAID_REQUIRES(outside_mutex_);
    bool put_source(outside_source& s, std::int64_t deadline, std::int64_t slack)
        BRAID_REQUIRES(outside_mutex_);
    void report_wait(event_kind kind, const outside_source& s) const;  // called under the lock
    bool take_from_wheel(outside_source& s) BRAID_REQUIRES(outside_mutex_);
    void stop_watching(outside_source& s) BRAID_REQUIRES(outside_mutex_);
    void enlist(outside_source& s) BRAID_REQUIRES(outside_mutex_);
    void unlink(outside_source& s) BRAID_REQUIRES(outside_mutex_);
    bool make_watchable(outside_source& s) BRAID_REQUIRES(outside_mutex_);
    void wake_if_needed(std::int64_t latest) BRAID_REQUIRES(outside_mutex_);
    void wake_source_thread() BRAID_REQUIRES(outside_mutex_);
    /// Returns the number of the batch that goes on, or 0 if there is none or the caller is in it.
    std::uint64_t batch_of_others() const BRAID_REQUIRES(outside_mutex_);
    void wait_for_batch(std::uint64_t number);
    /// Returns true if the source cannot be armed any more. A source that is part of a task goes on
    /// until there are no tasks.
    bool has_ended_for(const outside_source& s) const BRAID_REQUIRES(outside_mutex_) {
        return is_part_of_task(s) ? stopping_ : closed_;
    }
    static bool is_part_of_task(const outside_source& s) {
        return s.kind_ == outside_source::kind::awaited;
    }
    outside_source*& list_of(const outside_source& s) BRAID_REQUIRES(outside_mutex_) {
        return sources_[static_cast<unsigned>(s.kind_)];
    }
    void take_due(due_batch& b) BRAID_REQUIRES(outside_mutex_);
    void take_arrived(due_batch& b) BRAID_REQUIRES(outside_mutex_);
    void take_rested(due_batch& b) BRAID_REQUIRES(outside_mutex_);
    void come_again(const wheel::entry& one, arrival& how) BRAID_REQUIRES(outside_mutex_);

    enum class next_step : std::uint8_t { serve, sleep, end };
    next_step plan_step(const due_batch& b, std::int64_t& until);
    std::int64_t stretched(std::int64_t now, std::int64_t until) BRAID_REQUIRES(outside_mutex_);
    void sleep_outside(seats_seat& w, outside_state& state, due_batch& b, std::int64_t until);
    void serve_in_chosen_order(seats_seat& w, due_batch& b);
    void serve(seats_seat& w, due_batch& b);
    void call(seats_seat& w, const due_item& one);
    void enter_batch(seats_seat& w);
    bool begin_batch(seats_seat& w);
    void leave_batch(seats_seat& w);

    mutable mutex outside_mutex_;
    basic_condition<active_policy> batch_ended_;
    outside_state* outside_ BRAID_GUARDED_BY(outside_mutex_) = nullptr;
    watched_sources watched_ BRAID_GUARDED_BY(outside_mutex_){memory()};
    outside_source* sources_[3] BRAID_GUARDED_BY(outside_mutex_) = {};  // by kind, the newest first
    std::int64_t sleeps_until_ BRAID_GUARDED_BY(outside_mutex_) = INT64_MIN;  // INT64_MIN if awake
    std::int64_t rests_until_ BRAID_GUARDED_BY(outside_mutex_) = INT64_MAX;   // all rests end then
    bool slept_briefly_ BRAID_GUARDED_BY(outside_mutex_) = false;
    std::uint64_t batches_ BRAID_GUARDED_BY(outside_mutex_) = 0;  // odd while a batch goes on
    bool closed_ BRAID_GUARDED_BY(outside_mutex_) = false;    // closed to sources of the program
    bool stopping_ BRAID_GUARDED_BY(outside_mutex_) = false;  // closed to everything
    std::uint64_t armed_ BRAID_GUARDED_BY(outside_mutex_) = 0;
    std::uint64_t fired_ BRAID_GUARDED_BY(outside_mutex_) = 0;
    std::uint64_t disarmed_ BRAID_GUARDED_BY(outside_mutex_) = 0;
    std::uint64_t wakes_outside_ BRAID_GUARDED_BY(outside_mutex_) = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
