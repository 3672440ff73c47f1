#pragma once
// This room runs bodies: those of tasks, the many bodies of a batch, and branches of joins. The
// loops of the scheduler's threads are here, too.

#include "core/life/completions_room.hpp"
#include "core/run/run_seat.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct batch_bodies;
struct ticket;

class run_room : public completions_room {
public:
    explicit run_room(const scheduler_options& o, const seat_plan& plan);

    /// Returns the floating-point control of the thread that made the scheduler. The scheduler's
    /// threads compute with it.
    std::uint64_t float_control() const { return float_control_; }

    // ---- a thread's loops (thread.cpp, idle.cpp)
    void thread_main(run_seat& w);
    void background_main(run_seat& w);
    void source_main(run_seat& w);
    /// Rests while another thread has frozen the scheduler, if the calling thread belongs to the
    /// scheduler or to one of its modules.
    void rest_if_frozen(run_seat& w);
    /// Rests until the scheduler is no longer frozen. Any thread that has a seat may call it.
    void rest_while_frozen(run_seat& w);
    /// Returns true if the seat's thread is a user thread and must start no task now, because
    /// another thread has frozen the scheduler.
    bool held_back(const run_seat& w) const {
        return frozen().on() && !is_own(w) && this_thread_state.module_wait == nullptr &&
               !frozen().is_by_this_thread();
    }
    /// Sleeps until a notification or `deadline`. Called by a waiting thread for which held_back()
    /// is true. What the thread waits for may still come from outside.
    void rest_held_back(run_seat& w, std::int64_t deadline);
    /// Sleeps until a notification or `deadline`. Before that, counts the ended tasks that the seat
    /// has not counted in their scope yet. Returns false if the time ran out.
    bool sleep(run_seat& w, std::int64_t deadline);
    /// Completes tasks whose last share a check for deadlocks has dropped. The check runs while the
    /// thread counts as asleep, when no user destructor may run. So the thread's loop calls this
    /// between two bodies.
    void complete_what_a_look_ended(run_seat& w);
    // ---- policy/expect_work.cpp
    void expect_work(nanoseconds in);
    std::int64_t expected_work() const { return expected_at_.load(relaxed); }

    // ---- tasks (run.cpp)
    /// Runs a task that the thread has claimed. If `more` is true, the thread may go on with
    /// further plain tasks of the same environment, as long as its newest task is one.
    void run(run_seat& w, task_id id, bool more = false);
    /// Runs the task in `run_next`, and each task that follows it there. A loop of this thread
    /// calls this right after run(). A successor of the task that has just ended is in this core's
    /// cache, so it goes through no queue. If wanted(id) returns false, the task goes into a queue
    /// instead. The result of more(id) is passed to run() as `more`.
    void run_chain(run_seat& w, id_test wanted, id_test more);
    void run_chain(run_seat& w);
    /// Runs `body` at once on this thread, in a new task to which the body's joins belong. What the
    /// body throws goes to the caller, and the task does not fail.
    void run_here(run_seat& w, const char* name, void (*body)(void*, fork_context), void* data);
    bool yield_to_higher(run_seat& w);
    /// Returns true if the thread must do other work before it runs another task of `level`.
    /// relaxed, all of these loads: a thread that changes such a value needs no answer before some
    /// task has ended.
    bool wanted_elsewhere(const run_seat& w, unsigned level) const {
        return (urgent_ready() && level != high_level) || direct_work(w) ||
               (w.wait_over != nullptr && w.wait_over->load(relaxed)) || frozen().on(relaxed) ||
               (w.kind == seat_kind::worker && w.number >= active_workers(relaxed)) ||
               (w.kind == seat_kind::reserve && too_many_reserves());
    }

    // ---- around a body (run.cpp)
    /// Makes `body` the current task of this thread, and shows it to searchers. Returns the outer
    /// task, which end_body() makes current again.
    static running_task* begin_body(run_seat& w, running_task& body, task_id shown_as);
    static void end_body(run_seat& w, const running_task& body, running_task* outer);

    // ---- batches (batch.cpp)
    void spawn_members(run_seat& w, const batch_bodies& all);
    void run_ticket(run_seat& w, std::uint32_t index);

    // ---- branches (branch.cpp)
    /// Steals and runs a branch of any other thread's joins. Returns false if there is none.
    bool steal_branch(run_seat& w);
    /// Runs the claimed branch. Returns false if nothing was claimed.
    bool run_claimed(run_seat& w, const claimed_branch& claimed);

private:
    void enter_thread(run_seat& w);
    void leave_thread(run_seat& w);
    void rest_surplus(run_seat& w);
    void idle(run_seat& w);
    bool search(run_seat& w);
    // ---- policy/expect_work.cpp
    /// The plan of a thread that has found no work: it polls on if `polls` is true, and otherwise
    /// sleeps until `until`. If the announced time is no longer `expected`, it does not fall
    /// asleep.
    struct rest_plan {
        std::int64_t expected = 0, until = INT64_MAX;
        bool polls = false;
    };
    rest_plan plan_rest(run_seat& w);
    void notify_of_expected_work(std::int64_t at);

    void run_any(run_seat& w, task_id id);
    template <bool reports>
    class plain_source;
    class any_source;
    class members_source;
    class branch_source;

    template <bool observed>
    void run_plain(run_seat& w, task_id id, bool more);
    void end_here(run_seat& w, std::uint32_t index);

    task_options member_options(std::uint32_t parent) const;
    std::uint32_t open_ticket(run_seat& w, std::uint32_t parent, std::uint32_t batch);
    void count_members(run_seat& w, std::uint32_t batch, std::size_t count);
    void run_alone(run_seat& w, std::uint32_t batch, const batch_bodies& all, std::size_t first);
    bool leave_ticket(run_seat& w, std::uint32_t index);
    bool refill_ticket(run_seat& w, std::uint32_t index);
    bool run_members(run_seat& w, std::uint32_t index, ticket& own);

    void run_branch(run_seat& w, const claimed_branch& claimed);

    const std::uint64_t float_control_;
    // The time for which the program has announced work. 0 means that no work is announced.
    alignas(64) atomic<std::int64_t> expected_at_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
