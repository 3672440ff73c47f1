#pragma once
// `runtime` implements braid::scheduler. It is built of layers, called rooms; each room is the base
// class of the next one. This header has the topmost room, which creates the scheduler, adds
// workers and registered threads, freezes the scheduler, and shuts it down.
//   report/   what the scheduler reports         life/     a task is opened, ready, complete
//   task/     data and protocols of one task     run/      bodies, a thread's loops
//   seats/    threads and their seats            wait/     helping, parking, permits
//   outside/  timers, descriptors, their thread  ready/    queues of ready work
//   control/  this room

#include "braid/core/scheduler.hpp"
#include "core/control/holder_list.hpp"
#include "core/control/spare_seat.hpp"
#include "core/control/whole_seat.hpp"
#include "core/explain/deadlock_watch.hpp"
#include "core/wait/wait_room.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class runtime : public wait_room {
public:
    // ---- create.cpp
    static runtime* create(const scheduler_options& options);
    using wait_room::ref_of;
    using wait_room::serial_number;  // unique in the process
    /// Returns the calling thread's seat, or null if it has none.
    whole_seat* bound() const { return static_cast<whole_seat*>(threads_room::bound()); }
    whole_seat& seat_at(unsigned index) const {
        return static_cast<whole_seat&>(wait_room::seat_at(index));
    }

    // ---- threads.cpp: threads that take part for good
    void set_worker_count(unsigned count);
    /// Returns the empty thread_ref if there is no such worker.
    thread_ref worker_thread(unsigned index) const;
    whole_seat* add_main(const char* name);
    void remove_main(whole_seat& w);

    // ---- freeze.cpp
    /// Freezes the scheduler and waits until everything rests, or until `deadline`. Returns null if
    /// everything rests. Otherwise returns the name of a thread that does not rest, and the
    /// scheduler is not frozen.
    const char* freeze(std::int64_t deadline);
    void resume();

    // ---- code_search.cpp: while everything rests
    void search_code(code_search& to);
    bool cancel_at_rest(task_id id);
    holder_list& holders() { return holders_; }

    // ---- explain/
    looked look_for_deadlocks(whole_seat& w) { return deadlocks_.look(*this, w); }

    /// While such an object lives, its thread is in a call that settles something. destroy() frees
    /// the scheduler's memory only after the thread has left that call.
    class settling;

    // ---- shut_down.cpp
    void shut_down(shutdown how);
    /// Drains the scheduler if that was not done, joins its threads and frees its memory. If one of
    /// the scheduler's own tasks calls this, a new thread joins and frees. Does nothing if
    /// is_childs_copy() is true.
    static void destroy(runtime* rt);
    /// Returns true if this process is a child of fork() and its parent made the scheduler. The
    /// scheduler's threads do not exist here, and a lock that one of them held at the fork is never
    /// released.
    bool is_childs_copy() const { return platform::fork_mark() != fork_mark_; }

    scheduler_statistics statistics() const;

private:
    explicit runtime(const scheduler_options& o);
    ~runtime();
    static seats_seat* make_seat(threads_room& in, seat_kind kind, unsigned number,
                                 const char* name);
    seats_seat* reuse_main_seat(const char* name);
    bool take_frozen(whole_seat* self, std::int64_t deadline);
    void search_task(code_search& to, std::uint32_t index) const;
    bool look_into_storage(code_search& to, const held_code& what, const slot& s) const;
    void search_running(code_search& to, const whole_seat& w) const;
    bool is_running(task_id id) const;
    void search_handlers(code_search& to) const;
    void search_stacks(code_search& to);
    bool everything_ended() const;
    bool at_rest() const;  // all tasks have ended, and no thread still handles what follows
    void run_until_at_rest(whole_seat& w);
    void end_from_another_thread();
    void join_and_free(whole_seat* self);

    holder_list holders_;
    mutable atomic<std::uint32_t> settling_{0};
    std::uint32_t ring_ = 0, fork_mark_ = 0;
    unsigned max_workers_ = 0;
    spare_seat spare_;
    mutable mutex threads_mutex_;  // guards the start, the stop and the count of workers
    unsigned started_workers_ BRAID_GUARDED_BY(threads_mutex_) = 0;
    std::uint16_t worker_seats_[sleepers::capacity] BRAID_GUARDED_BY(threads_mutex_) = {};
    platform::thread_request last_request_{};
    deadlock_watch deadlocks_;
    bool ended_in_task_ = false;  // one of the scheduler's tasks destroys it; see destroy()
};

}  // namespace detail
BRAID_NAMESPACE_END
