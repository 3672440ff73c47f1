#pragma once
// The parts of a scheduler that have no room, and the stable ids of tasks.

#include "braid/core/fork_stack.hpp"
#include "braid/core/task_context.hpp"
#include "core/details/detail_table.hpp"
#include "core/edges/edge_table.hpp"
#include "core/outcomes/outcome_table.hpp"
#include "core/report/reporter.hpp"
#include "core/serial/gate.hpp"
#include "core/slots/slot_table.hpp"
#include "core/task/shown_frame.hpp"

#include <cstdint>
#include <exception>

BRAID_NAMESPACE_BEGIN
namespace detail {

class runtime;
class stable_ids;
struct task_seat;
struct whole_seat;

/// A task that a thread runs, as an entry on the stack of that thread. `below` is the task beneath
/// it on the same stack.
struct running_task {
    std::uint32_t slot;
    running_task* below;
    std::exception_ptr error;
    task_context context;
    const fork_slot* joins_from = nullptr;  // top of the thread's joins when the task began
    const task_seat* seat = nullptr;        // the seat whose thread runs the task
    bool suspended = false;  // the body returns, and is called again when the task resumes
};

using shown_frame = basic_shown_frame<active_policy>;

/// The part of a seat that the task room uses: caches of free objects, and the tasks on the stack
/// of the seat's thread. run_room adds and removes those tasks.
struct task_seat {
    task_seat(runtime& owner, whole_seat& self, std::uint16_t seat, seat_kind k)
        : rt(owner), whole(self), index(seat), kind(k), report(k) {}

    runtime& rt;
    whole_seat& whole;  // the complete seat, for functions of the rooms above
    const std::uint16_t index;
    const seat_kind kind;
    report_part report;

    static constexpr unsigned shown_depth = 64;

    // ---- for the seat's thread only ----
    pool_cache slots, edges;
    details_part details;
    running_task* top = nullptr;
    creator* creating_as = nullptr;  // creates in place of `top`, if its `within` is `top`
    unsigned depth = 0;
    // The value of `depth` in the innermost loop that runs tasks, which is the thread's own loop or
    // the loop of a wait. Between two tasks of the loop `depth` equals it, and in a task's body
    // `depth` is greater.
    unsigned loop_depth = UINT32_MAX;

    // ---- read by any thread: which tasks are on the stack, from the outermost to the innermost,
    // and what each of them waits for. Deeper tasks than these are not shown (their work goes to a
    // reserve thread).
    alignas(64) atomic<std::uint32_t> shown{0};
    shown_frame frames[shown_depth + 1];  // tasks that are not shown use the last frame
};

/// Describes a new task to an observer.
struct creation {
    task_id id, parent;
    const std::source_location& where;
    bool same_moment = false;  // no time has passed since the thread's previous event
    bool ready_now = false;
};

class task_room {
public:
    // The parts that have no room. The counts of `memory` are written often, so `report`, which
    // each task reads, begins a line of its own.
    default_handlers handlers;
    const scheduler_options options;
    accounted_memory memory;
    alignas(64) reporter report;
    gate* const serial;  // the serial gate, or null without a chooser
    slot_table slots;
    detail_table details;
    edge_table edges;
    outcome_table outcomes;

    explicit task_room(const scheduler_options& o);
    ~task_room();
    task_room(const task_room&) = delete;
    task_room& operator=(const task_room&) = delete;

    // ---- stable ids, which exist only if a chooser is installed or an observer asks for them
    bool identified() const { return identities_ != nullptr; }
    /// Returns the stable id of the task that the seat's thread is about to create.
    std::uint64_t next_identity(const task_seat& w) const;
    /// Makes `as` the creator of the tasks that this thread creates until leave(). `as` is a part
    /// of the task that the thread runs, and `id` is the stable id of this part.
    static void enter(task_seat& w, creator& as, std::uint64_t id);
    static void leave(task_seat& w, const creator& as);
    /// Returns the task's stable id, or 0 if it has none.
    std::uint64_t identity(task_id id) const {
        const detail_block* d = details.find(slots.at(id));
        return d != nullptr ? d->stable_id : 0;
    }

    void report_spawned(observer& to, const task_seat& w, const slot& s,
                        const creation& made) const;

private:
    stable_ids* const identities_;
};

}  // namespace detail
BRAID_NAMESPACE_END
