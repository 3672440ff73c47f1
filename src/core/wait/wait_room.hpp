#pragma once
// Waiting without making a deadlock that the program does not have (I6): only needed work runs on
// top of a wait, everything else goes to a thread that stands in. See docs/design/wait.md.

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

    /// True: what is awaited came about; false: out of time, or it never can, which was reported.
    /// `received` gets the awaited task's outcome.
    bool wait(wait_seat& w, const wait_target& target, nanoseconds timeout, help policy,
              outcome** received);
    /// For any thread, also for one that finds no seat: then it runs nothing meanwhile.
    bool wait_here(const wait_target& target, nanoseconds timeout, help policy, outcome** received);
    /// A thread that waits without a seat sleeps. False: the time is up.
    bool sleep_outside(std::int64_t deadline) BRAID_REQUIRES(without_seat().lock);
    /// Runs one task that this one needs, if one is ready.
    bool help_once(wait_seat& w, task_id needed);
    /// Around code that sleeps or computes elsewhere. begin_blocking(): another thread stands in.
    bool begin_blocking(wait_seat& w);
    void end_blocking(wait_seat& w, bool stood_in);

    /// At the entrance of a call into the library, without any lock of the library: with a chooser
    /// another thread may go on first.
    void point() const {
        if (serial() != nullptr) let_another_go_on();
    }

    // ---- joins (wait_for_branch.cpp)
    /// True: the branch is the owner's again. False: it has run elsewhere, or was reported.
    bool join_popped(wait_seat& w, fork_slot* slot);
    /// Runs a branch that the wait needs: of what it is for, or of a task that is `wanted`.
    bool steal_needed_branch(wait_seat& w, const wait_target& target, id_test wanted);

    // ---- policy/watch.cpp
    /// Until when a wait polls for what runs elsewhere. -1: not at all.
    std::int64_t end_of_watch() const;

    /// True once in the scheduler's life.
    bool first_to_warn_of_parking() { return !warned_of_parking_.exchange(true, relaxed); }
    void report_taken(const wait_target& target) const;
    /// By any thread, with a seat or without.
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
