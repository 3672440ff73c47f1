#pragma once
// Lets threads wait. The scheduler adds no deadlock that the program itself does not contain (I6),
// because only needed work runs on top of a wait. A reserve thread runs everything else. See
// docs/design/wait.md.

#include "core/run/run_room.hpp"
#include "core/wait/wait_seat.hpp"
#include "core/wait/wait_target.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class wait_room : public run_room {
public:
    using run_room::run_room;

    wait_seat& seat_at(unsigned index) const {
        return static_cast<wait_seat&>(run_room::seat_at(index));
    }

    /// Waits for `target`. Returns true if `target` became complete or was set. Returns false if
    /// the time is up, or if the wait can never end, which was reported. `received` gets the
    /// outcome of an awaited task that fails during the wait.
    bool wait(wait_seat& w, const wait_target& target, nanoseconds timeout, help policy,
              outcome** received);
    /// Does what wait() does, for a thread with or without a seat. A thread that gets no seat runs
    /// no tasks while it waits.
    bool wait_here(const wait_target& target, nanoseconds timeout, help policy, outcome** received);
    /// Puts a thread that waits without a seat to sleep for a while. Returns false if the time is
    /// up.
    bool sleep_outside(std::int64_t deadline) BRAID_REQUIRES(without_seat().lock);
    /// Runs `needed`, or one task that it needs, if one of these is ready. Returns true if it ran
    /// one.
    bool help_once(wait_seat& w, task_id needed);
    /// Called before and after code that sleeps or computes outside the scheduler. begin_blocking()
    /// releases the permit, so that a reserve thread can run tasks meanwhile. Returns false if no
    /// reserve thread can be had.
    bool begin_blocking(wait_seat& w);
    void end_blocking(wait_seat& w, bool stood_in);

    /// Called at the start of a call into the library, while the caller holds no lock of the
    /// library. With a chooser, another thread may go on first.
    void point() const {
        if (serial != nullptr) let_another_go_on();
    }

    // ---- joins (wait_for_branch.cpp)
    /// Called by the owner at the end of a join. Returns true if the owner has its branch back.
    /// Returns false if a thief has run it, or if the slot is marked as `unstolen`. In the second
    /// case the caller reports the end of the join.
    bool join_popped(wait_seat& w, fork_slot* slot);
    /// Runs a branch that the wait needs, and returns true if it found one. Such a branch was made
    /// within the awaited branch, or its task is `wanted`. With `run_everything`, the wait needs
    /// all branches.
    bool steal_needed_branch(wait_seat& w, const wait_target& target, id_test wanted);

    // ---- policy/watch.cpp
    /// Returns the time until which a wait polls for what runs elsewhere, or -1 if it does not
    /// poll.
    std::int64_t end_of_watch() const;

    /// Returns true for the first call in the scheduler's life.
    bool first_to_warn_of_parking() { return !warned_of_parking_.exchange(true, relaxed); }
    void report_taken(const wait_target& target) const;
    /// Reports an event to the observer. Any thread may call this, with a seat or without one.
    void report_event(event_kind kind, const event& e) const;

private:
    void let_another_go_on() const;
    bool run_one_needed(wait_seat& w, task_id needed);
    bool wait_as_guest(const wait_target& target, nanoseconds timeout, help policy,
                       outcome** received);
    void receive_by(wait_record& record, outcome** received);
    void wait_for_branch(wait_seat& w, fork_slot& branch);

    atomic<bool> warned_of_parking_{false};
};

}  // namespace detail
BRAID_NAMESPACE_END
