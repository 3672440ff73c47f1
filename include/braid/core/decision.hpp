#pragma once
// The one place where choices are made. With a chooser installed the scheduler runs one thread at
// a time and asks at every point where it could go on in more than one way; the same answers
// give the same run.

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>

BRAID_NAMESPACE_BEGIN

enum class decision_kind : std::uint8_t {
    next_thread,  // who goes on: a thread with ready work, or one whose wait has ended
    next_task,    // which ready task it runs, of any level
    preempt,      // 0: the running thread goes on at a call into the library; 1: let another one go
    wake,         // which sleeper is woken
    time_out,     // which of several waits runs out of time, when their deadlines are the same
    clock,        // 0: somebody goes on before the next deadline; 1: it passes first
    resource,     // which of the tasks in line gets a resource that was released
    split,        // 0: a thread runs what is left of a loop itself; 1: others may take half of it
    arrival,      // which of the timers that are due comes first
};

/// What an alternative is about: a task by its stable id, a thread by its seat. Never an address, a
/// thread id or a time. A stable id is a hash of the creator's and of how many tasks that one had
/// created before; without a creator, of the thread's name and how many tasks threads of that name
/// had created; for a node of a graph, of its run's, the graph's name and the node's number. Parts
/// of joins, pieces of loops, items of pipelines and jobs of lists create by themselves, told apart
/// by their place or number. It is the same in every run of a program that creates the same tasks,
/// whatever the schedule.
/// Observers get it when they ask for it (observer::wants_stable_ids()).
struct alternative {
    std::uint64_t id = 0;
};

/// Time-outs of waits are on a clock of the scheduler's own, which stands still until the answer to
/// `clock` is 1, or nobody can go on; then the earliest deadline passes. A chooser that always says
/// 0 lets time pass as late as it can.
///
/// Each call into the library is a point where another thread may go on (`preempt`), and so is
/// this_task::point(). So a task must not hold a lock over one that another task takes: that one
/// would wait for it at the gate, where nobody goes on.
///
/// Called by one thread at a time. Must not call into the scheduler.
class chooser {
public:
    /// An index below `count`; `count` is at least 2.
    virtual std::size_t choose(decision_kind kind, const alternative* alternatives,
                               std::size_t count) = 0;

    /// Nobody can go on: every thread that takes part sleeps, at least one of them in a wait, and
    /// no wait is left that could run out of time. Only a thread that takes no part (a foreign one,
    /// or one within blocking()) can end that. Called once each time it comes about; the
    /// scheduler's log says it, too.
    virtual void nobody_can_go_on() {}

protected:
    ~chooser() = default;
};

BRAID_NAMESPACE_END
