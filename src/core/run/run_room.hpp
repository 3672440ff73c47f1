#pragma once
// This room runs bodies. It has the threads' loops, and runs one task after the other, many bodies
// of one task, and branches of joins.

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
    /// Rests while another thread has frozen the scheduler, if the calling thread is one of the
    /// scheduler's or of a module.
    void rest_if_frozen(run_seat& w);
    /// Rests until the scheduler is no longer frozen. Any thread that has a seat may call it.
    void rest_while_frozen(run_seat& w);
    /// Returns true if the seat's thread is one of the program's and must start no task, because
    /// another thread has frozen the scheduler.
    bool held_back(const run_seat& w) const {
        return frozen().on() && !is_own(w) && this_thread_state.module_wait == nullptr &&
               !frozen().is_by_this_thread();
    }
    /// Sleeps until a notification or `deadline`. Called by a thread that is held back. What this
    /// thread waits for may still come from outside.
    void rest_held_back(run_seat& w, std::int64_t deadline);
    /// First counts the ends of tasks that the thread has not counted yet, and then sleeps until a
    /// notification or `deadline`. Returns false if the time ran out.
    bool sleep(run_seat& w, std::int64_t deadline);
    /// Completes what a look for deadlocks has ended. Called between two bodies, because
    /// destructors of the program run here, and must not run while the thread counts as asleep.
    void complete_what_a_look_ended(run_seat& w);
    // ---- policy/expect_work.cpp
    void expect_work(nanoseconds in);
    std::int64_t expected_work() const { return expected_at_.load(relaxed); }

    // ---- tasks (run.cpp)
    /// Runs a task that the thread has claimed. If `more` is true, the thread may go on with other
    /// tasks of the same environment, if they are its newest ones.
    void run(run_seat& w, task_id id, bool more = false);
    /// Runs the task of `run_next`, and those that follow it there. Called by a loop of this thread
    /// right after run(): the successor of the task that has ended is in this core's cache, so it
    /// goes through no queue. A successor that is not `wanted` goes into a queue as all others do.
    /// `more` returns, for each task, what run() gets as `more`.
    void run_chain(run_seat& w, id_test wanted, id_test more);
    void run_chain(run_seat& w);
    /// Runs `body` at once, in a task of which joins can be part. What the body throws goes to the
    /// caller, not to the task.
    void run_here(run_seat& w, const char* name, void (*body)(void*, fork_context), void* data);
    bool yield_to_higher(run_seat& w);
    /// Returns true if something comes before a further task of `level` that the thread has found.
    /// relaxed, all of these loads: a thread that changes what they read waits for nothing but the
    /// end of some task.
    bool wanted_elsewhere(const run_seat& w, unsigned level) const {
        return (urgent_ready() && level != high_level) || direct_work(w) ||
               (w.wait_over != nullptr && w.wait_over->load(relaxed)) || frozen().on(relaxed) ||
               (w.kind == seat_kind::worker && w.number >= active_workers(relaxed)) ||
               (w.kind == seat_kind::reserve && too_many_reserves());
    }

    // ---- around a body (run.cpp)
    /// Shows what the thread runs, to the thread itself and to searchers. Returns the outer task.
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
    /// Says what a thread does that finds no work. It polls on, or it sleeps until `until`. It does
    /// not sleep if work is expected at a time other than `expected`.
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
    // When work comes, as the program has announced. 0 means that no work is announced.
    alignas(64) atomic<std::int64_t> expected_at_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
