#pragma once
// The scheduler behind braid::scheduler. The parts in the order in which a task meets them:
//   life/     open.cpp: open, edges, publish     complete.cpp: successors, parents, recycling
//             failure.cpp: outcomes and who receives them    resources.cpp
//   ready/    ready.cpp: queues, stealing, waking      direct.cpp: tasks for certain threads
//             choice.cpp: what a chooser picks
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
#include "core/control/thread_groups.hpp"
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

class runtime : public seats_room {
public:
    static runtime* create(const scheduler_options& options);
    /// Drains if need be, joins, frees. Not on a thread of this scheduler inside a task.
    static void destroy(runtime* rt);

    // ---- life/open.cpp
    draft open(worker& w, const task_options& options, draft_kind kind);
    /// What options say about where and how a task runs.
    static std::uint16_t flags_of(const task_options& options);
    using task_room::level_of;
    static std::uint8_t level_of(const task_options& options);
    /// A mistake in them is reported; false.
    bool good_options(const task_options& options) const;
    task_id publish(worker& w, draft d, closure_fn body);
    void abandon(worker& w, draft d, std::uint16_t as);
    void finish_building(worker& w, task_id id, bool cancel);
    bool add_dependency(worker& w, task_id id, task_id predecessor);
    static void count_creation(worker& w, const task_environment* environment,
                               std::uint64_t count = 1);

    // ---- run/plain.cpp
    draft open_plain(worker& w, scope* within, const char* name, draft_kind kind);
    slot* prepare_plain(worker& w, const char* name, std::uint16_t flags,
                        const task_environment* environment, bool may_block = true) noexcept;
    /// Neither allocates nor waits.
    bool try_post(worker& w, void (*function)(void* data), void* data) noexcept;
    template <bool observed>
    void run_plain(worker& w, task_id id, bool more);
    void run_here(worker& w, const char* name, void (*body)(void*, fork_context), void* data);

    // ---- run/batch.cpp
    void spawn_members(worker& w, const batch_bodies& all);
    void run_ticket(worker& w, std::uint32_t index);

    // ---- ready/ready.cpp
    void make_ready(worker& w, std::uint32_t index, task_id released_by);
    void queue_ready(worker& w, std::uint32_t index);  // that was reported already
    bool set_run_next(worker& w, std::uint32_t index, unsigned depth);
    void enqueue(worker& w, std::uint32_t index);
    /// Into the thread's own queue, for everybody.
    void push_ready(worker& w, task_id id, unsigned level);
    static constexpr std::size_t overflow_batch = 64;
    void put_in_overflow(worker& w, task_id id, unsigned level);
    bool refill_from_overflow(worker& w, unsigned level);
    bool steals_pay(worker& w) const;
    bool may_steal(worker& w) const;
    task_id steal(worker& w, unsigned level);
    /// Calls f(worker&) for the other seats, nearest first, until it says true (victims.hpp).
    template <class F>
    bool any_victim(const worker& w, std::uint32_t& last, F&& f) const;
    task_id next_task(worker& w);
    /// For this thread alone, its own, stolen, or from the shared list.
    task_id ready_at(worker& w, unsigned level, bool may_steal);
    bool work_visible() const;
    void inherit_priority(worker& w, task_id id, std::uint8_t level);
    bool take_out(task_id id, unsigned level);
    void requeue_by_table(worker& w);
    /// Both under the list's lock; take_first: the oldest that fits, or no_index.
    void append(inbox& list, std::uint32_t first, std::uint32_t last, std::uint32_t count = 1);
    template <class Fits>
    std::uint32_t take_first(inbox& list, Fits&& fits);  // lists.hpp

    // ---- ready/direct.cpp
    bool may_run_on(const slot& s, const worker& w) const;
    void enqueue_direct(worker& w, std::uint32_t index);
    /// False, and reported: there is no such thread.
    bool enqueue_on(std::uint32_t index, unsigned seat, std::uint16_t visit);
    bool enqueue_masked(std::uint32_t index, std::uint64_t mask);
    std::uint64_t members_of_masks() const;
    void wake_member(std::uint64_t mask);
    /// What direct_work() finds, for a thread that has announced its sleep.
    bool direct_work_after_announcement(const worker& w) const;
    /// The oldest of the highest level, if that is `lowest` or above.
    task_id direct_task(worker& w, unsigned lowest = 0);
    task_id direct_task_if(worker& w, id_test wanted);
    void ask_pinned_threads(const worker& w);

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
    static bool& id_taken(running_task& body) { return body.context.id_taken_; }
    void end_body(worker& w, const running_task& body, running_task* outer);
    bool yield_to_higher(worker& w);
    bool help_once(worker& w, task_id needed);  // runs one task that it needs, if one is ready
    void end_without_running(worker& w, std::uint32_t index);
    void rest_if_frozen(worker& w);

    // ---- run/idle.cpp
    void idle(worker& w);
    void leave_search(worker& w);
    void expect_work(nanoseconds in);
    void notify_of_expected_work(std::int64_t at);

    // ---- life/complete.cpp
    void own_work_done(worker& w, std::uint32_t index);
    void complete(worker& w, std::uint32_t index, bool completion_reported = false);
    void release_holder(worker& w, task_id id);
    void flush_scope_ends(worker& w);
    enum class end_of_task : std::uint8_t { executed, failed, cancelled };
    void count_end(worker& w, scope& all, end_of_task end, std::uint64_t count = 1);
    bool notify_dependents(worker& w, std::uint32_t index, std::uint64_t head, outcome* result);
    static bool scope_done(const scope& s);

    // ---- wait/
    /// True: over; false: out of time, or it could never end, which was reported. `received` gets
    /// the awaited task's outcome.
    bool wait(worker& w, const wait_target& target, nanoseconds timeout, help policy,
              outcome** received);
    /// For any thread, also for one that finds no seat: then it runs nothing meanwhile.
    bool wait_here(const wait_target& target, nanoseconds timeout, help policy, outcome** received);
    void count_background_waiter(worker& w, int change);
    static bool take(event& e);
    static bool take_or_mark(event& e);
    static bool mark_waited(scope& all);
    static const task_environment* environment_of(const scope& all);
    /// False: no thread could be had to stand in.
    bool release_permit(worker& w);
    void acquire_permit(worker& w);
    bool sleep(worker& w, std::int64_t deadline);

    // ---- run/branch.cpp
    fork_context context_of(worker& w);
    static fork_context context_of(task_context& task) {
        return task.rt_.context_of(*task.worker_);
    }
    static fork_stack* joins_of(const task_context& task) { return task.worker_->joins; }
    bool join_pushed(worker& w, fork_slot* first, std::uint32_t count);
    bool join_popped(worker& w, fork_slot* slot);
    /// All private joins: the thread does something else than to come back to them.
    void publish_joins(worker& w);
    /// Runs a branch of another thread's joins, any of them; false: there is none.
    bool steal_branch(worker& w);
    /// Runs one that the wait needs.
    bool steal_needed_branch(worker& w, const wait_target& target);
    /// Some branch is public. Asks where there are only private ones.
    bool branches_visible() const;

    // ---- life/failure.cpp
    /// `by`: who threw, if not the task of that index.
    void record_failure(worker& w, std::uint32_t index, std::exception_ptr error,
                        std::uint32_t ordinal, const char* by = nullptr);
    bool scope_cancelled(const slot& s) const;

    // ---- control/lifecycle.cpp
    worker* add_seat(seat_kind kind, unsigned number, const char* name);
    worker* place_seat(seat_kind kind, unsigned number, void* bytes, ready_queue::cell* cells,
                       std::uint32_t most, std::uint32_t others, const char* name);
    /// False: the system refused the thread, and the seat is for the next one of its kind.
    bool start_or_vacate(worker& w, void (*main)(void* worker));
    static void run_thread(void* worker);
    static void run_background_thread(void* worker);
    worker* bound() const;
    worker* add_main(const char* name);
    void remove_main(worker& w);
    worker* reuse_main_seat(const char* name);
    /// For a call that does not wait.
    worker* lease_guest();
    /// For a wait. Null: all are taken, and none can be had.
    worker* try_lease_guest();
    /// Under the lock of without_seat(). Null: none is free.
    worker* take_guest(bool also_spare);
    void seat_guest(worker& w);
    bool sleep_outside(unseated& here, std::int64_t deadline) BRAID_REQUIRES(here.lock);
    void return_guest(worker& w);
    /// For try_post() from outside: waits for nothing. Null: another thread has it.
    worker* enter_post_seat();
    void leave_post_seat();
    void note_guest_waits(worker& w, bool waits);
    void shut_down(shutdown how);
    bool everything_ended() const;
    bool anybody_inside();
    bool at_rest() const;  // … and no thread is still busy with the consequences
    void set_worker_count(unsigned count);
    stand_in start_reserve();
    bool retire_reserve(worker& w);
    void freeze();
    void resume();

    // ---- run/background.cpp
    void enqueue_background(worker& w, std::uint32_t index);
    void start_background(worker& w);
    void background_main(worker& w);
    /// Under background.mutex: the oldest of the highest level that is wanted.
    template <class Wanted>
    task_id take_background(Wanted&& wanted);  // lists.hpp

    // ---- life/resources.cpp
    bool acquire_resources(worker& w, std::uint32_t index);
    void release_resources(worker& w, std::uint32_t index);

    // ---- runtime.cpp, ready/choice.cpp
    void report_taken(const wait_target& target) const;
    void report_event(event_kind kind, const event& e) const;
    scheduler_statistics statistics() const;
    worker& seat_at(unsigned index) const {
        return static_cast<worker&>(seats_room::seat_at(index));
    }
    task_id choose_ready(worker& w, id_test wanted);
    /// At the entrance of a call into the library, without any lock of the library: with a chooser
    /// another thread may go on first.
    void point() const {
        if (serial() != nullptr) let_another_go_on();
    }
    void let_another_go_on() const;
    void take_out(worker& w, task_id id);
    std::uint32_t take_chosen_heir(resource& r);
    void enqueue_for_choice(worker& w, std::uint32_t index);
    void gather_for_choice();
    bool take_from_choices(task_id id);
    static runtime& of(task_context& context) { return context.rt_; }
    static worker& worker_of(task_context& context) { return *context.worker_; }
    static void fail(task_context& context, std::exception_ptr error) {
        context.worker_->top->error = std::move(error);
    }

    bool fill_detail(worker& w, slot& s, const task_options& o, draft_kind kind);
    static bool may_be_named(const worker& w);

    // Read-mostly line.
    alignas(64) atomic<std::int64_t> expected_at{
        0};  // when the program has said that work comes; 0: never
    std::uint64_t serial_number = 0,
                  float_control = 0;  // serial_number: tells schedulers at one address apart
    std::uint32_t ring = 0, process = 0;
    unsigned max_workers = 0;

    // Tasks of the high level that lie in queues: others look for them before their own.
    alignas(64) atomic<std::int32_t> high_ready{0};
    inbox overflow[level_count];
    inbox masked;                         // tasks for a mask of workers
    atomic<std::uint64_t> masked_for{0};  // some of them may be for these

    // Waiters that gave up their seat, and reserves that stand in for them.
    alignas(64) atomic<std::uint32_t> released_permits{0};
    atomic<std::uint32_t> reserves{0};
    std::mutex reserve_mutex;
    std::uint32_t reserve_threads = 0;               // guarded by reserve_mutex
    worker* idle_reserves[sleepers::capacity] = {};  // guarded by reserve_mutex
    std::uint32_t idle_reserve_count = 0;            // guarded by reserve_mutex
    atomic<std::uint64_t> reserves_started{0}, reserves_refused{0};

    background_class background;
    guest_seats guests;

    std::mutex seat_mutex;                                // seat_mutex: adding a seat
    std::mutex thread_mutex;                              // starting, stopping and counting workers
    unsigned started_workers = 0;                         // guarded by thread_mutex
    std::uint16_t worker_seats[sleepers::capacity] = {};  // guarded by thread_mutex
    platform::thread_request last_request{};
    worker* ended_by = nullptr;  // the seat whose task destroyed the scheduler; see destroy()
    atomic<std::uint64_t> refused{0};
    atomic<std::uint32_t> next_resource{0};
    atomic<bool> warned_of_reserves{false}, warned_of_parking{false};

private:
    explicit runtime(const scheduler_options& o) : seats_room(o) {}
    ~runtime();
    task_options member_options(std::uint32_t parent) const;
    std::uint32_t open_ticket(worker& w, std::uint32_t parent, std::uint32_t batch);
    void count_members(worker& w, std::uint32_t batch, std::size_t count);
    void run_alone(worker& w, std::uint32_t batch, const batch_bodies& all, std::size_t first);
    /// False: out of memory.
    bool leave_ticket(worker& w, std::uint32_t index);
    bool refill_ticket(worker& w, std::uint32_t index);
    bool run_members(worker& w, std::uint32_t index, ticket& own);
    void enter_gate(worker& w);
    void complete_one(worker& w, std::uint32_t index, bool completion_reported);
    void end_here(worker& w, std::uint32_t index);
    void complete_closed(worker& w, std::uint32_t index, std::uint64_t head, outcome* result);
    void pass_on(worker& w, const slot& s, outcome& result, std::uint32_t parent);
    static end_of_task how_it_ended(const slot& s);
    void recycle(worker& w, std::uint32_t index);
    void publish_joins(worker& w, std::uint32_t count);
    bool claim_branch(worker& w, worker& victim, std::uint32_t from, id_test wanted);
    void run_branch(worker& w, const worker& victim, fork_slot& branch, std::uint32_t by);
    void wait_for_branch(worker& w, fork_slot& branch);
};

/// The innermost task that the calling thread runs, of any scheduler.
running_task* current_task();
void set_current_task(running_task* task);

}  // namespace detail
BRAID_NAMESPACE_END
