#pragma once
// Lets threads wait without making a deadlock that the program does not have (I6). Only needed work
// runs on top of a wait; a thread that stands in runs everything else. See docs/design/wait.md.

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

    /// Waits. Returns true if what is awaited came about. Returns false if the time is up, or if
    /// the wait can never end, which was reported. `received` gets the awaited task's outcome.
    bool wait(wait_seat& w, const wait_target& target, nanoseconds timeout, help policy,
              outcome** received);
    /// Does what wait() does, for any thread. A thread that finds no seat runs nothing meanwhile.
    bool wait_here(const wait_target& target, nanoseconds timeout, help policy, outcome** received);
    /// Lets a thread that waits without a seat sleep. Returns false if the time is up.
    bool sleep_outside(std::int64_t deadline) BRAID_REQUIRES(without_seat().lock);
    /// Runs `needed`, or one task that `needed` needs, if one is ready. Returns whether it did.
    bool help_once(wait_seat& w, task_id needed);
    /// Called before and after code that sleeps or computes elsewhere. begin_blocking() releases
    /// the permit, so that another thread stands in, and returns false if none can be had.
    bool begin_blocking(wait_seat& w);
    void end_blocking(wait_seat& w, bool stood_in);

    /// Called at the start of a call into the library, without any lock of the library. With a
    /// chooser, another thread may go on first.
    void point() const {
        if (serial() != nullptr) let_another_go_on();
    }

    // ---- joins (wait_for_branch.cpp)
    /// Returns true if the branch is the owner's again. Returns false if a thief has run it, or if
    /// the slot is marked as `unstolen` so that the caller reports the end of the join.
    bool join_popped(wait_seat& w, fork_slot* slot);
    /// Runs a branch that the wait needs, and returns whether it found one. The branch belongs to
    /// what the wait is for, or to a task that is `wanted`.
    bool steal_needed_branch(wait_seat& w, const wait_target& target, id_test wanted);

    // ---- policy/watch.cpp
    /// Returns the time until which a wait polls for what runs elsewhere, or -1 if it does not
    /// poll.
    std::int64_t end_of_watch() const;

    /// Returns true once in the scheduler's life.
    bool first_to_warn_of_parking() { return !warned_of_parking_.exchange(true, relaxed); }
    void report_taken(const wait_target& target) const;
    /// Any thread may call this, with a seat or without.
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
