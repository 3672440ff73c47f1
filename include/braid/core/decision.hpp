#pragma once
// The single place where a scheduler's choices are made. With a chooser installed, the scheduler
// runs one thread at a time. It asks the chooser at every point where it could go on in more than
// one way. The same answers give the same run.

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

enum class decision_kind : std::uint8_t {
    next_thread,  // which thread goes on: one with ready work, or one whose wait has ended
    next_task,    // which ready task, of any level, that thread runs
    preempt,      // at a call into the library, 0: the thread goes on; 1: another thread does
    wake,         // which sleeping thread is woken
    time_out,     // which of several waits with the same deadline runs out of time
    clock,        // 0: a thread goes on before the next deadline; 1: the deadline passes first
    resource,     // which of the tasks in line gets a resource that was released
    split,        // 0: a thread runs what is left of a loop itself; 1: others may take half of it
    arrival,      // which of the timers that are due comes first
};

/// What an alternative is about: a task, named by its stable id, or a thread, named by its seat. An
/// alternative is never an address, a thread id or a time.
///
/// The stable id of a task is a hash of its creator's id and of how many tasks the creator had
/// created before. Without a creator, it is a hash of the thread's name and of how many tasks
/// threads of that name had created. For a node of a graph, it is a hash of the id of the graph's
/// run, the graph's name and the node's number. Parts of joins, pieces of loops, items of pipelines
/// and jobs of lists are creators of their own, told apart by their place or number. A stable id is
/// the same in every run of a program that creates the same tasks, whatever the schedule. Observers
/// get it if they ask for it (observer::wants_stable_ids()).
struct alternative {
    std::uint64_t id = 0;
};

/// Makes the decisions of a scheduler. While it is installed, time-outs of waits are on a clock of
/// the scheduler's own. That clock stands still until choose() answers 1 to `clock`, or until no
/// thread can go on. Then the earliest deadline passes. A chooser that always answers 0 lets time
/// pass as late as possible.
///
/// At each call into the library, and at this_task::point(), another thread may go on (`preempt`).
/// So a task must not hold a lock across such a point if another task takes that lock. The other
/// task would wait for the lock while the gate lets no other thread run, and no thread could go on.
///
/// The functions are called by one thread at a time. They must not call into the scheduler.
class chooser {
public:
    /// Returns an index below `count`, which is at least 2.
    virtual std::size_t choose(decision_kind kind, const alternative* alternatives,
                               std::size_t count) = 0;

    /// Called when no thread can go on: every thread that takes part sleeps, at least one of them
    /// in a wait, and no wait is left that could run out of time. Only a thread that takes no part
    /// (a foreign thread, or a thread within blocking()) can end that. The function is called once
    /// each time this comes about. The scheduler's log reports it, too.
    virtual void nobody_can_go_on() {}

protected:
    ~chooser() = default;
};

BRAID_NAMESPACE_END
