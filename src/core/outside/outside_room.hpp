#pragma once
// The outside room handles events from outside the scheduler: timers that are due, and descriptors
// that are ready. One thread, the source thread, serves all of them. It starts when the first timer
// or descriptor is armed, and sleeps in the system until the next one is due. It runs no user code:
// it makes tasks, and calls the functions of timer_calls.
//
//   arm ──► wheel ──► source thread: due ──► a batch, without the lock ──► tasks ──► sleeps
//
// O1  The source thread calls everything in a batch before it ends the batch, and disarm() waits
//     for that end. So no thread calls a source after disarm() has returned for it.
// O2  When a periodic source is due, it is removed from the wheel and armed again without releasing
//     the lock in between. So the wheel always has room for it, and disarm() finds it.
// O3  A batch ends before a safepoint is reached, and no batch starts while the safepoint lasts.
// O4  Observers see each timer of the program as work outside, from each arming on. They get
//     `deferred` when the timer is armed, and `settled` when it is due or disarmed. Both are
//     reported under the lock, so that neither comes without the other.

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

    /// Returns the current time of the clock that deadlines use. With a chooser, this is the
    /// chooser's clock.
    std::int64_t clock() const { return serial != nullptr ? serial->now() : active_policy::now(); }

    // ---- timers of the core; called by any thread that holds no lock of a room above
    struct timer_request {
        std::int64_t deadline = 0, slack = 0;
        timer_call call = {};
    };
    /// Arms a timer. Returns an empty id after end_source_thread(), or if there is no memory,
    /// descriptor or thread for the timer; that was then logged, or reported to the out-of-memory
    /// handler.
    timer_id arm_timer(const timer_request& r);
    /// Cancels the timer. Returns false if it was cancelled before, or if it came due. In the
    /// latter case its call may be running at this moment.
    bool cancel_timer(timer_id id);

    // ---- sources of the program; called by any thread, but for each source by one thread at a
    // time
    void attach(outside_source& s);
    /// Attaches the source and reserves its place in the table of watched sources. watch() then
    /// cannot fail for want of that place. Returns false, and attaches nothing, if there is no
    /// memory.
    bool attach_to_watch(outside_source& s);
    /// Detaches the source, and waits until no thread calls it any more. After that it cannot be
    /// armed, although one of its own tasks may still try.
    void detach(outside_source& s);
    /// Detaches a source that no thread will call any more, for example because its last event has
    /// arrived. Waits for nothing.
    void detach_arrived(outside_source& s);
    struct timing {
        std::int64_t deadline = 0, slack = 0;
        std::int64_t period = 0;  // if above 0, the source comes again at deadline + n * period
    };
    /// Arms the source. Disarms it first if it is armed. Returns false where arm_timer() returns an
    /// empty id, if the source is not attached, or if a shutdown has closed it (has_ended_for()).
    bool arm(outside_source& s, const timing& when);
    /// Arms a timer again that is due but has to come later, for example because its previous task
    /// is still open. Only the source thread calls this. Returns false if there is no memory, or if
    /// the source was disarmed meanwhile.
    bool postpone(outside_source& s, std::int64_t deadline);
    /// Disarms the source, stops watching its descriptor, and waits for a running batch to end
    /// (O1). Returns true if the source was armed and will not come. A periodic source will not
    /// come again.
    bool disarm(outside_source& s);
    /// Returns true if the source is armed. A periodic source is armed from its first arm() on.
    bool is_armed(const outside_source& s) const {
        const locked lock(outside_mutex_);
        return static_cast<bool>(s.armed_);
    }
    /// Watches the descriptor for its next event. Returns null on success, and otherwise a sentence
    /// that says what was refused.
    const char* watch(outside_source& s, int descriptor, platform::descriptor_events wanted);
    /// Watches for the next event after one has arrived. Returns the same as watch().
    const char* watch_again(outside_source& s, platform::descriptor_events wanted);
    /// Lets a source rest whose descriptor had an event, but for whose task there was no memory.
    /// After rest_ns at most, the source is called again with arrival::rested, and then watches
    /// again. So a lack of memory does not occupy a core. This function takes no memory itself.
    /// Only the source thread calls it.
    void rest(outside_source& s);
    static constexpr std::int64_t rest_ns = 10'000'000;

    // ---- the end
    /// Disarms the timers and descriptors of the program when a shutdown has begun, so that they
    /// make no more tasks. Timers of the core, and sources that are part of a task, go on. Further
    /// calls do no harm.
    void close_sources();
    /// Reports it as misuse if sources outlive the scheduler, and abandons each of them.
    void abandon_sources();
    /// Makes the source thread end, without waiting for it. The thread is joined later, through its
    /// seat.
    void end_source_thread();

    /// The main function of the source thread: serves timers and descriptors until the end.
    void serve_sources(seats_seat& w);
    void count_sources(scheduler_statistics& sum) const;
    /// Returns true if a timer is armed, a batch is running, or a source of the program is
    /// attached.
    bool anything_may_come() const;

private:
    /// What an entry of the wheel calls: the source, or the timer call of the core if `source` is
    /// null.
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
    /// Returns the number of the running batch. Returns 0 if none is running, or if the caller is
    /// the source thread.
    std::uint64_t batch_of_others() const BRAID_REQUIRES(outside_mutex_);
    void wait_for_batch(std::uint64_t number);
    /// Returns true if the source cannot be armed any more, because a shutdown has begun. A source
    /// that is part of a task can be armed until the source thread is asked to end.
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
    watched_sources watched_ BRAID_GUARDED_BY(outside_mutex_){memory};
    outside_source* sources_[3] BRAID_GUARDED_BY(
        outside_mutex_) = {};  // a list for each kind, newest first
    std::int64_t sleeps_until_ BRAID_GUARDED_BY(outside_mutex_) =
        INT64_MIN;  // INT64_MIN if the thread is awake
    std::int64_t rests_until_ BRAID_GUARDED_BY(outside_mutex_) = INT64_MAX;  // all rests end then
    bool slept_briefly_ BRAID_GUARDED_BY(outside_mutex_) = false;
    std::uint64_t batches_ BRAID_GUARDED_BY(outside_mutex_) = 0;  // odd while a batch is running
    bool closed_ BRAID_GUARDED_BY(outside_mutex_) = false;    // closed to sources of the program
    bool stopping_ BRAID_GUARDED_BY(outside_mutex_) = false;  // closed to everything
    std::uint64_t armed_ BRAID_GUARDED_BY(outside_mutex_) = 0;
    std::uint64_t fired_ BRAID_GUARDED_BY(outside_mutex_) = 0;
    std::uint64_t disarmed_ BRAID_GUARDED_BY(outside_mutex_) = 0;
    std::uint64_t wakes_outside_ BRAID_GUARDED_BY(outside_mutex_) = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
