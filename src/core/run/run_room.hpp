#pragma once
// Bodies: a thread's loops, one task after the other, many bodies in one task, branches of joins.

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

    /// The floating-point control of the thread that made the scheduler; its threads compute by it.
    std::uint64_t float_control() const { return float_control_; }

    // ---- a thread's loops (thread.cpp, idle.cpp)
    void thread_main(run_seat& w);
    void background_main(run_seat& w);
    void source_main(run_seat& w);
    /// While another thread has frozen the scheduler. For threads of the scheduler's own, and of
    /// modules'.
    void rest_if_frozen(run_seat& w);
    /// Any thread that has a seat.
    void rest_while_frozen(run_seat& w);
    /// True: a thread of the program that must begin with no task, because another thread has
    /// frozen the scheduler.
    bool held_back(const run_seat& w) const {
        return frozen().on() && !is_own(w) && this_thread_state.module_wait == nullptr &&
               !frozen().is_by_this_thread();
    }
    /// Sleeps, as such a thread: what it waits for may still come from outside.
    void rest_held_back(run_seat& w, std::int64_t deadline);
    /// Nothing else sleeps: what the thread owes is settled first. False: out of time.
    bool sleep(run_seat& w, std::int64_t deadline);
    /// Between two bodies: destructors of the program run here, and not while a thread counts as
    /// asleep.
    void complete_what_a_look_ended(run_seat& w);
    // ---- policy/expect_work.cpp
    void expect_work(nanoseconds in);
    std::int64_t expected_work() const { return expected_at_.load(relaxed); }

    // ---- tasks (run.cpp)
    /// `more`: may go on with other tasks of the same environment, if they are the newest.
    void run(run_seat& w, task_id id, bool more = false);
    /// By a loop of this thread, right after run(): the successor of the task that has ended is in
    /// this core's cache, and goes through no queue. One for which the loop does not care goes
    /// where all go. `more`: as of run(), by task.
    void run_chain(run_seat& w, id_test wanted, id_test more);
    void run_chain(run_seat& w);
    /// A task that joins can be part of. What its body throws goes to the caller, not to the task.
    void run_here(run_seat& w, const char* name, void (*body)(void*, fork_context), void* data);
    bool yield_to_higher(run_seat& w);
    /// Something comes before a further task of `level` that the thread has found. relaxed, all of
    /// it: a thread that changes these waits for nothing but the end of some task.
    bool wanted_elsewhere(const run_seat& w, unsigned level) const {
        return (urgent_ready() && level != high_level) || direct_work(w) ||
               (w.wait_over != nullptr && w.wait_over->load(relaxed)) || frozen().on(relaxed) ||
               (w.kind == seat_kind::worker && w.number >= active_workers(relaxed)) ||
               (w.kind == seat_kind::reserve && too_many_reserves());
    }

    // ---- around a body (run.cpp)
    /// What the thread runs, for itself and for searchers. Returns the outer task.
    static running_task* begin_body(run_seat& w, running_task& body, task_id shown_as);
    static void end_body(run_seat& w, const running_task& body, running_task* outer);

    // ---- batches (batch.cpp)
    void spawn_members(run_seat& w, const batch_bodies& all);
    void run_ticket(run_seat& w, std::uint32_t index);

    // ---- branches (branch.cpp)
    /// Runs a branch of another thread's joins, any of them; false: there is none.
    bool steal_branch(run_seat& w);
    /// False: nothing was claimed.
    bool run_claimed(run_seat& w, const claimed_branch& claimed);

private:
    void enter_thread(run_seat& w);
    void leave_thread(run_seat& w);
    void rest_surplus(run_seat& w);
    void idle(run_seat& w);
    bool search(run_seat& w);
    // ---- policy/expect_work.cpp
    /// What a thread that finds nothing does: it polls on, or sleeps until then, but not if work is
    /// expected at another time than it knew.
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
    // When the program has said that work comes; 0: never.
    alignas(64) atomic<std::int64_t> expected_at_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
