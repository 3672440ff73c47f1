#pragma once
// What a job list is behind its owner's handle, and what the lists of a manager share.
//
// Who may touch what: from submit() to the end of the submission's task the jobs, the sync points
// and the parts of the task that says so belong to the threads that run them, before and after to
// the owner; the task hands them over both ways. A runner is a child of that task and looks at
// nothing of the list after its own end: then the owner may fill the list again, or free it.

#include "braid/core/code_holders.hpp"
#include "braid/job_list/job_list.hpp"
#include "core/extension.hpp"
#include "job_list/job_feed.hpp"
#include "job_list/job_names.hpp"

#include <mutex>

BRAID_NAMESPACE_BEGIN
namespace detail {

enum class list_phase : std::uint8_t { empty, filling, submitted };

/// What one unit did in one submission. Written by the seat's thread only, at the end of each of
/// its parts; relaxed: the end of the submission's task publishes it.
struct job_unit {
    atomic<std::uint64_t> executed{0}, processing{0}, wasted{0}, stalls{0}, from_stalled{0};

    job_unit_statistics read() const;
    void clear();
};

inline constexpr unsigned job_units = core::seat_limit;

/// What is known of a submission as a whole, and its units. Two of each list: one is written while
/// the owner may show the other.
struct job_record {
    job_list_statistics sum;
    std::uint32_t units = 0;  // seats that there were
    job_unit unit[job_units];
};

struct job_manager_state;

struct job_list_state {
    job_list_state(job_manager_state& owner, const job_list_options& o, unsigned at);

    // ---- the owner (job_list.cpp)
    void reset();
    void set_submission(task_id id);
    bool refuse_to_change(const char* what_to_change) const;
    void report_full(const job_list& list, const char* of_what, unsigned limit,
                     const char* option) const;
    struct predecessors {
        task_id ids[8];
        std::size_t count = 0;
    };
    bool find_predecessors(const job_list& list, const job_submission& how,
                           predecessors& found) const;
    std::uint32_t threads_for(int parallelism) const;
    task_id submit_task(const predecessors& after);
    static void show_jobs(const job_list& list, code_search& to);
    /// Waits, and takes the submission apart. False: refused.
    bool collect(job_list& list, core::failure& failure);

    // ---- threads that run jobs (job_runner.cpp)
    /// The submission's task.
    static void begin(void* storage, task_context* context);
    /// The tasks of further threads.
    static void join_in(void* storage, task_context* context);
    /// All on the calling thread. Empty: refused.
    task_id run_inline(const predecessors& after);
    /// One more task that runs jobs. False: no memory, or shut down.
    bool send_runner(core::seat& w);
    /// Stable, for those threads; 0: nobody asks for it.
    std::uint64_t identity_of_jobs() const;
    /// The submission's task, for its own threads.
    task_id running() const { return {submission.load(relaxed)}; }

    job_manager_state& manager;
    runtime& rt;
    const job_list_options options;
    const unsigned place;  // in the manager's tables

    // The owner's, until submit().
    job* jobs = nullptr;
    sync_point* points = nullptr;
    job_feed::counter* pending = nullptr;
    std::uint32_t syncs = 0;
    bool signalled = false;   // signal() without synchronize() yet
    bool incomplete = false;  // a sync point was refused
    bool reported_full = false;
    atomic<list_phase> phase{list_phase::empty};  // others look at it in submit()
    // Its task, set by submit() and by the task itself, whichever comes first; others look at it.
    atomic<std::uint64_t> submission{0};
    job_record record[2];
    unsigned writing = 0;  // the record of the next submission, or of the one that is going on

    // The threads'.
    job_feed feed;
};

/// In the storage of the submission's task, and of those that join in.
struct list_task {
    job_list_state* list;
};

/// What a thread of the scheduler does in the lists of this manager. Its own thread only.
struct unit_state {
    struct job_part* top = nullptr;              // the innermost part that it runs
    const job_list_state* stalled_in = nullptr;  // compared, never followed
};

/// Cores with several hardware threads count once; as many as `threads` if nobody knows.
std::uint32_t count_cores(const topology* machine, std::uint32_t threads);

struct job_manager_state final : code_holder {
    explicit job_manager_state(runtime& owner);

    void show_code(code_search& to) const override;
    void forget_code(const code_range& code) override;
    /// A list of the normal level has work that no thread has begun with.
    bool normal_waits() const;

    runtime& rt;
    const std::uint32_t cores;  // job_submission::cores
    job_names names;
    mutable detail::mutex mutex;                        // registering, and the table
    job_list* lists[job_list_manager::max_lists] = {};  // by id; guarded by mutex
    unsigned count = 0;                                 // guarded by mutex
    std::uint32_t places = 0;                           // bits of those in use; guarded by mutex
    unit_state units[job_units];

    // For threads in lists of the low level. relaxed: they look again after the next job.
    alignas(64) atomic<std::uint32_t> normal_submitted{0};                // places
    atomic<std::uint32_t> normal_runners{0};                              // sent, and not begun
    atomic<std::uint64_t> submissions[job_list_manager::max_lists] = {};  // by place; of `normal`
};

}  // namespace detail
BRAID_NAMESPACE_END
