#pragma once
// The scheduler behind braid::scheduler: its rooms, each the base of the next, and here the topmost
// one: how it is made, who takes part for good, how it rests, and how everything ends.
//   report/   what it says about itself          life/     a task is opened, ready, complete
//   task/     data and protocols of one task     run/      bodies, a thread's loops
//   seats/    threads and their seats            wait/     helping, parking, permits
//   outside/  timers, descriptors, their thread  ready/    where ready work can lie
//   control/  this one

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
    using wait_room::serial_number;  // no two of a process have one
    /// Null: the calling thread has no seat.
    whole_seat* bound() const { return static_cast<whole_seat*>(threads_room::bound()); }
    whole_seat& seat_at(unsigned index) const {
        return static_cast<whole_seat&>(wait_room::seat_at(index));
    }

    // ---- threads.cpp: who takes part for good
    void set_worker_count(unsigned count);
    /// Empty: there is no such worker.
    thread_ref worker_thread(unsigned index) const;
    whole_seat* add_main(const char* name);
    void remove_main(whole_seat& w);

    // ---- freeze.cpp
    /// Until `deadline`. Null: everything rests; else who does not, and nothing is frozen.
    const char* freeze(std::int64_t deadline);
    void resume();

    // ---- code_search.cpp: while everything rests
    void search_code(code_search& to);
    bool cancel_at_rest(task_id id);
    holder_list& holders() { return holders_; }

    // ---- explain/
    looked look_for_deadlocks(whole_seat& w) { return deadlocks_.look(*this, w); }

    /// A thread that is none of the scheduler's settles: the scheduler's memory stays until it has
    /// left.
    class settling;

    // ---- shut_down.cpp
    void shut_down(shutdown how);
    /// Drains if need be, joins, frees. Not on a thread of this scheduler inside a task.
    static void destroy(runtime* rt);
    /// The process is a child of fork(): the threads are its parent's, and a lock that one of them
    /// had is never given back.
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
    bool at_rest() const;  // … and no thread is still busy with the consequences
    void run_until_at_rest(whole_seat& w);
    void end_from_another_thread();
    void join_and_free(whole_seat* self);

    holder_list holders_;
    mutable atomic<std::uint32_t> settling_{0};
    std::uint32_t ring_ = 0, fork_mark_ = 0;
    unsigned max_workers_ = 0;
    spare_seat spare_;
    mutable mutex threads_mutex_;  // starting, stopping and counting workers
    unsigned started_workers_ BRAID_GUARDED_BY(threads_mutex_) = 0;
    std::uint16_t worker_seats_[sleepers::capacity] BRAID_GUARDED_BY(threads_mutex_) = {};
    platform::thread_request last_request_{};
    deadlock_watch deadlocks_;
    bool ended_in_task_ = false;  // destroyed in one of its tasks; see destroy()
};

}  // namespace detail
BRAID_NAMESPACE_END
