#pragma once
// What comes from outside: timers, and descriptors that have something. One thread for all of them,
// which is made when the first is armed and sleeps in the system until the next is due. It runs no
// code of the program: it makes tasks, and what else a timer_call does.
//
//   arm ──► wheel ──► source thread: due ──► a batch, without the lock ──► tasks ──► sleeps
//
// O1  What is in a batch is called before the batch ends, and disarm() waits for that end. So
//     nothing calls into a source that disarm() has returned for.
// O2  A source is armed again under the lock under which it was taken from the wheel: it always has
//     room there, and disarm() finds it.
// O3  Batches end before a safepoint is reached, and none begins while it lasts.
// O4  Observers get each time that a timer of the program is armed as work outside: `deferred`, and
//     `settled` when it is due or disarmed, both under the lock, so that neither is without the
//     other.

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

    /// On which deadlines are: that of the chooser, if there is one.
    std::int64_t clock() const {
        return serial() != nullptr ? serial()->now() : active_policy::now();
    }

    // ---- timers of the core: any thread that holds no lock of a room above
    struct timer_request {
        std::int64_t deadline = 0, slack = 0;
        timer_call call = {};
    };
    /// Empty: there is no memory, descriptor or thread for it, which was logged; or all has ended.
    timer_id arm_timer(const timer_request& r);
    /// False: it came due, and its call may go on at this moment; or it was cancelled before.
    bool cancel_timer(timer_id id);

    // ---- sources of the program: any thread; of one source one thread at a time
    void attach(outside_source& s);
    /// With room for watch(), which then does not fail for want of it. False: no memory, and it is
    /// not attached.
    bool attach_to_watch(outside_source& s);
    /// Returns when nobody calls into it any more. From here on it cannot be armed: a task of its
    /// own may still try.
    void detach(outside_source& s);
    /// Does it for one that has arrived for the last time: nobody calls into it, so this waits for
    /// nobody.
    void detach_arrived(outside_source& s);
    struct timing {
        std::int64_t deadline = 0, slack = 0;
        std::int64_t period = 0;  // above 0: on a grid from the deadline on
    };
    /// False: as arm_timer(); or a shutdown began. One that is armed is disarmed first.
    bool arm(outside_source& s, const timing& when);
    /// Once more, for one that has arrived and could do nothing yet. The source thread only. False:
    /// no memory; or it was disarmed meanwhile.
    bool postpone(outside_source& s, std::int64_t deadline);
    /// True: it was armed, and will not come; of one that comes again and again the rest will not.
    bool disarm(outside_source& s);
    /// One that comes again and again is from its first time on.
    bool is_armed(const outside_source& s) const {
        const locked lock(outside_mutex_);
        return static_cast<bool>(s.armed_);
    }
    /// Null, or a sentence that says what was refused.
    const char* watch(outside_source& s, int descriptor, platform::descriptor_events wanted);
    /// The next event after one that has arrived.
    const char* watch_again(outside_source& s, platform::descriptor_events wanted);
    /// For a descriptor that has arrived and found no memory: it is called again in rest_ns at
    /// most, and watches again then, so that a lack of memory costs no core. Takes none itself. The
    /// source thread only.
    void rest(outside_source& s);
    static constexpr std::int64_t rest_ns = 10'000'000;

    // ---- the end
    /// A shutdown began: sources of the program are disarmed, and make no tasks from here on.
    /// Timers of the core go on. Again and again does no harm.
    void close_sources();
    /// Sources that outlive the scheduler are reported, and cut off.
    void abandon_sources();
    /// Returns soon; the thread is then joined by its seat.
    void end_source_thread();

    /// What the source thread does until the end.
    void serve_sources(seats_seat& w);
    void count_sources(scheduler_statistics& sum) const;
    /// A timer runs, or a source of the program's is attached.
    bool anything_may_come() const;

private:
    /// What lies in the wheel: the call, or a source.
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
    void report_wait(event_kind kind, const outside_source& s) const;  // under the lock
    bool take_from_wheel(outside_source& s) BRAID_REQUIRES(outside_mutex_);
    void stop_watching(outside_source& s) BRAID_REQUIRES(outside_mutex_);
    void enlist(outside_source& s) BRAID_REQUIRES(outside_mutex_);
    void unlink(outside_source& s) BRAID_REQUIRES(outside_mutex_);
    bool make_watchable(outside_source& s) BRAID_REQUIRES(outside_mutex_);
    void wake_if_needed(std::int64_t latest) BRAID_REQUIRES(outside_mutex_);
    void wake_source_thread() BRAID_REQUIRES(outside_mutex_);
    /// The batch with that number, which goes on. 0: none does, or the caller is in it.
    std::uint64_t batch_of_others() const BRAID_REQUIRES(outside_mutex_);
    void wait_for_batch(std::uint64_t number);
    /// What is part of a task goes on until there are no tasks.
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
    outside_source* sources_[3] BRAID_GUARDED_BY(outside_mutex_) = {};  // by kind, newest first
    std::int64_t sleeps_until_ BRAID_GUARDED_BY(outside_mutex_) = INT64_MIN;  // INT64_MIN: awake
    std::int64_t rests_until_ BRAID_GUARDED_BY(outside_mutex_) = INT64_MAX;   // all that rest
    bool slept_briefly_ BRAID_GUARDED_BY(outside_mutex_) = false;
    std::uint64_t batches_ BRAID_GUARDED_BY(outside_mutex_) = 0;  // odd: one goes on
    bool closed_ BRAID_GUARDED_BY(outside_mutex_) = false;        // to sources of the program
    bool stopping_ BRAID_GUARDED_BY(outside_mutex_) = false;      // to everything
    std::uint64_t armed_ BRAID_GUARDED_BY(outside_mutex_) = 0;
    std::uint64_t fired_ BRAID_GUARDED_BY(outside_mutex_) = 0;
    std::uint64_t disarmed_ BRAID_GUARDED_BY(outside_mutex_) = 0;
    std::uint64_t wakes_outside_ BRAID_GUARDED_BY(outside_mutex_) = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
