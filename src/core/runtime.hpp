#pragma once
// The scheduler behind braid::scheduler. The parts in the order in which a task meets them:
//   run/      run.cpp: the thread's loop, the body     plain.cpp: the short way of plain tasks
//             batch.cpp: many bodies in one task       branch.cpp: joins that become public
//             idle.cpp: polling, sleeping              background.cpp
//   wait/     helping, parking, permits
//   control/  lifecycle.cpp, freeze.cpp

#include "base/accounted_memory.hpp"
#include "base/topology.hpp"
#include "braid/base/assert.hpp"
#include "braid/core/observer.hpp"
#include "braid/core/resource.hpp"
#include "braid/core/scheduler.hpp"
#include "core/control/spare_seat.hpp"
#include "core/task/id_test.hpp"
#include "core/wait/wait_target.hpp"
#include "core/worker.hpp"

#include <mutex>
#include <new>

BRAID_NAMESPACE_BEGIN

class scope;

namespace detail {
struct batch_bodies;
struct ticket;

class runtime : public life_room {
public:
    static runtime* create(const scheduler_options& options);
    /// Drains if need be, joins, frees. Not on a thread of this scheduler inside a task.
    static void destroy(runtime* rt);

    // ---- run/plain.cpp
    template <bool observed>
    void run_plain(worker& w, task_id id, bool more);
    void run_here(worker& w, const char* name, void (*body)(void*, fork_context), void* data);

    // ---- run/batch.cpp
    void spawn_members(worker& w, const batch_bodies& all);
    void run_ticket(worker& w, std::uint32_t index);

    // ---- run/run.cpp
    void thread_main(worker& w);
    void enter_thread(worker& w);
    void leave_thread(worker& w);
    /// `more`: may go on with other tasks of the same environment, if they are the newest.
    void run(worker& w, task_id id, bool more = false);
    void run_any(worker& w, task_id id);
    void run_chain(worker& w);  // whatever it is
    void run_chain(worker& w, id_test wanted, id_test more);
    /// Around a body: what the thread runs, for itself and for searchers. Returns the outer task.
    running_task* begin_body(worker& w, running_task& body, task_id shown_as);
    /// The thread goes on with another task in the same frame.
    static void go_on_as(running_task& body, worker& w, std::uint32_t index, task_id id);
    static bool& id_taken(running_task& body) { return body.context.internals().id_taken; }
    void end_body(worker& w, const running_task& body, running_task* outer);
    bool yield_to_higher(worker& w);
    bool help_once(worker& w, task_id needed);  // runs one task that it needs, if one is ready
    void rest_if_frozen(worker& w);

    // ---- run/idle.cpp
    void idle(worker& w);
    void expect_work(nanoseconds in);
    void notify_of_expected_work(std::int64_t at);

    // ---- wait/
    /// True: over; false: out of time, or it could never end, which was reported. `received` gets
    /// the awaited task's outcome.
    bool wait(worker& w, const wait_target& target, nanoseconds timeout, help policy,
              outcome** received);
    /// For any thread, also for one that finds no seat: then it runs nothing meanwhile.
    bool wait_here(const wait_target& target, nanoseconds timeout, help policy, outcome** received);
    bool sleep(worker& w, std::int64_t deadline);

    // ---- run/branch.cpp
    static fork_context context_of(task_context& task) {
        return of(task).joins_of_body(worker_of(task));
    }
    static fork_stack* joins_of(const task_context& task) { return worker_of(task).joins; }
    bool join_popped(worker& w, fork_slot* slot);
    /// Runs a branch of another thread's joins, any of them; false: there is none.
    bool steal_branch(worker& w);
    /// Runs one that the wait needs.
    bool steal_needed_branch(worker& w, const wait_target& target);

    // ---- control/lifecycle.cpp
    static seats_seat* make_seat(threads_room& in, seat_kind kind, unsigned number,
                                 const char* name);
    static void run_thread(void* worker);
    static void run_background_thread(void* worker);
    worker* add_main(const char* name);
    void remove_main(worker& w);
    seats_seat* reuse_main_seat(const char* name);
    bool sleep_outside(std::int64_t deadline) BRAID_REQUIRES(without_seat().lock);
    void shut_down(shutdown how);
    bool everything_ended() const;
    bool at_rest() const;  // … and no thread is still busy with the consequences
    void set_worker_count(unsigned count);
    void freeze();
    void resume();

    // ---- run/background.cpp
    void background_main(worker& w);

    // ---- runtime.cpp, ready/choice.cpp
    void report_taken(const wait_target& target) const;
    void report_event(event_kind kind, const event& e) const;
    scheduler_statistics statistics() const;
    worker& seat_at(unsigned index) const {
        return static_cast<worker&>(ready_room::seat_at(index));
    }
    static runtime& of(const task_context& context) { return context.internals().rt; }
    static worker& worker_of(const task_context& context) { return *context.internals().seat; }
    static void fail(task_context& context, std::exception_ptr error) {
        worker_of(context).top->error = std::move(error);
    }

    // Read-mostly line.
    alignas(64) atomic<std::int64_t> expected_at{
        0};  // when the program has said that work comes; 0: never
    std::uint64_t float_control = 0;
    std::uint32_t ring = 0, process = 0;
    unsigned max_workers = 0;

    spare_seat spare;

    std::mutex thread_mutex;                              // starting, stopping and counting workers
    unsigned started_workers = 0;                         // guarded by thread_mutex
    std::uint16_t worker_seats[sleepers::capacity] = {};  // guarded by thread_mutex
    platform::thread_request last_request{};
    worker* ended_by = nullptr;  // the seat whose task destroyed the scheduler; see destroy()
    atomic<bool> warned_of_parking{false};

private:
    explicit runtime(const scheduler_options& o);
    ~runtime();
    task_options member_options(std::uint32_t parent) const;
    std::uint32_t open_ticket(worker& w, std::uint32_t parent, std::uint32_t batch);
    void count_members(worker& w, std::uint32_t batch, std::size_t count);
    void run_alone(worker& w, std::uint32_t batch, const batch_bodies& all, std::size_t first);
    /// False: out of memory.
    bool leave_ticket(worker& w, std::uint32_t index);
    bool refill_ticket(worker& w, std::uint32_t index);
    bool run_members(worker& w, std::uint32_t index, ticket& own);
    void end_here(worker& w, std::uint32_t index);
    bool run_claimed(worker& w, claimed_branch claimed);
    void run_branch(worker& w, const claimed_branch& claimed);
    void wait_for_branch(worker& w, fork_slot& branch);
};

}  // namespace detail
BRAID_NAMESPACE_END
