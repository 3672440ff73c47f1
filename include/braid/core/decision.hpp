#pragma once
// A chooser is the interface through which a program makes all choices of a scheduler. With a
// chooser installed, the scheduler runs one thread at a time. It asks the chooser at every point
// where it could continue in more than one way. If the chooser gives the same answers again, the
// run is the same.

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

enum class decision_kind : std::uint8_t {
    next_thread,  // which thread runs next: one with ready work, or one whose wait has ended
    next_task,    // which ready task, of any level, the thread runs
    preempt,      // at a call into the library, 0: the thread continues; 1: another thread runs
    wake,         // which sleeping thread is woken
    time_out,     // which of several waits with the same deadline times out first
    clock,        // 0: a thread runs before the next deadline; 1: the deadline passes first
    resource,     // which of the waiting tasks gets a resource that was released
    split,        // 0: a thread runs the rest of a loop alone; 1: other threads may take half of it
    arrival,      // which of several due timers is served first
};

/// One of the answers to a decision. `id` is the stable id of a task, the seat of a thread, or the
/// answer 0 or 1 itself. It is never an address, a thread id or a time.
///
/// The stable id of a task is a hash of its creator's id and of the number of tasks that the
/// creator had created before. If there is no creator, the stable id is a hash of the thread's name
/// and of the number of tasks that threads of that name had created. For a node of a graph, it is a
/// hash of the id of the graph's run, the graph's name and the node's number. A part of a join, a
/// piece of a loop, an item of a pipeline and a job of a list are creators themselves. Their place
/// or number tells them apart. A stable id is the same in every run of a program that creates the
/// same tasks, whatever the schedule. Observers get stable ids if they ask for them
/// (observer::wants_stable_ids()).
struct alternative {
    std::uint64_t id = 0;
};

/// Makes the decisions of a scheduler. While a chooser is installed, waits time out by a virtual
/// clock of the scheduler. The virtual clock stands still until choose() answers 1 to
/// decision_kind::clock, or until no thread can continue. In both cases the earliest deadline
/// passes next. A chooser that always answers 0 lets time pass as late as possible.
///
/// At each call into the library, and at this_task::point(), the chooser may let another thread run
/// (decision_kind::preempt). Therefore a task must not hold a lock across such a point if another
/// task acquires the same lock. The other task would wait for the lock while no other thread may
/// run, and no thread could continue.
///
/// The functions of a chooser are called by one thread at a time. They must not call into the
/// scheduler.
class chooser {
public:
    /// Returns an index below `count`, which is at least 2.
    virtual std::size_t choose(decision_kind kind, const alternative* alternatives,
                               std::size_t count) = 0;

    /// The scheduler calls this function when no thread can continue: every thread under the
    /// chooser sleeps, at least one of them in a wait, and no wait can time out. Foreign threads
    /// and threads within blocking() are not under the chooser, and only they can then end the
    /// standstill. The function is called once for each standstill. The scheduler also writes each
    /// standstill to its log.
    virtual void nobody_can_go_on() {}

protected:
    ~chooser() = default;
};

BRAID_NAMESPACE_END
