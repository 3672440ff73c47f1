#pragma once
// A list of jobs. A job is a plain function with a data pointer. One thread fills the list without
// any synchronization and submits it as a whole. Lists come from a job_list_manager.
//
//   braid::job_list* skin = lists.allocate({.name = "skin", .max_jobs = 500});
//   for (model& m : visible) skin->add(&skin_model, &m);
//   skin->submit();
//   …
//   skin->wait();

#include "braid/base/export.hpp"
#include "braid/base/time.hpp"
#include "braid/core/task.hpp"

#include <cstdint>
#include <initializer_list>

BRAID_NAMESPACE_BEGIN

class job_list;
class job_list_manager;

using job_function = void (*)(void* data);

struct job {
    job_function function;
    void* data;
};

struct job_list_options {
    static constexpr std::uint32_t automatic = UINT32_MAX;

    /// Your number for the list; no two lists of a manager have the same. `automatic` chooses the
    /// lowest id that is free.
    std::uint32_t id = automatic;
    const char* name = "job list";      // outlives the list
    std::uint32_t colour = 0xff'ff'ff;  // yours, for displays: 0xRRGGBB
    /// How urgent the work of the list is. With `high`, a thread that has begun with the list stays
    /// until it finds no more jobs to take there. With the other levels, a thread leaves the list
    /// after each job as soon as something higher is ready.
    priority_level priority = priority_level::normal;
    std::uint32_t max_jobs = 1024;  // 1..2^30; 16 bytes each
    std::uint32_t max_syncs = 16;   // 0..2^30 pairs of signal() and synchronize() in one submission
    bool may_be_long = false;       // true means no long-task warnings for the jobs of the list
};

struct job_submission {
    static constexpr int automatic = -1;  // all workers of the scheduler and the waiting thread
    static constexpr int cores = -2;      // cores that the process may use; siblings count once
    static constexpr int threads = -3;    // hardware threads that the process may use
    static constexpr int inline_run = 0;  // runs on the calling thread, before submit() returns

    /// The lists that this submission comes after: at most 8, of the same scheduler. The submission
    /// starts when what was submitted of them is complete, whether it succeeded, failed or was
    /// cancelled. A list that has been waited for since delays nothing. A list that was filled but
    /// not submitted is refused.
    std::initializer_list<const job_list*> after = {};
    /// How many threads may run jobs of this submission at a time: one of the constants above, or a
    /// number. Values below `threads` are refused and reported, and more than 256 counts as 256.
    int parallelism = automatic;
};

/// What happened in one submission. Times are in ns. Moments are on the clock of
/// std::chrono::steady_clock, and are 0 if the submission did not come to that moment because all
/// of it, or the rest of it, was cancelled.
struct job_list_statistics {
    std::uint64_t submissions = 0;  // of this list, so far
    std::uint64_t jobs = 0;
    std::uint64_t executed = 0;   // jobs that ran, including those that threw
    std::uint64_t cancelled = 0;  // jobs that never ran; see job_list
    std::uint64_t syncs = 0;
    std::int64_t submitted_at = 0;
    std::int64_t started_at = 0;   // the first thread began
    std::int64_t finished_at = 0;  // the last job ended
    std::int64_t waited_ns = 0;    // by the owner, in wait()
    /// The time of all threads for this list: in jobs, and not in jobs (to come, take, search and
    /// leave). Without scheduler_options::statistics the time to take a job counts as part of the
    /// job.
    std::int64_t processing_ns = 0, wasted_ns = 0;
    std::uint64_t stalls = 0;        // times that a thread left at a shut sync point
    std::uint64_t from_stalled = 0;  // times that such a thread came from another list

    std::int64_t total_ns() const { return processing_ns + wasted_ns; }
};

/// What one unit did in one submission. A unit is a thread that takes part.
struct job_unit_statistics {
    std::uint64_t executed = 0;
    std::int64_t processing_ns = 0, wasted_ns = 0;
    std::uint64_t stalls = 0, from_stalled = 0;

    std::int64_t total_ns() const { return processing_ns + wasted_ns; }
};

namespace detail {
struct job_list_state;
}

/// A list has one owner at a time. The owner fills, submits and waits. From submit() to wait() the
/// jobs belong to the threads that run them, and calls that would change the list are refused and
/// reported.
///
/// Jobs are taken in the order in which they were added. A job that throws does not stop the
/// others. The waiter gets the failure of the job that was added first. Jobs run as parts of the
/// submission: this_task::id() is the id of the submission, and the submission is not complete
/// before the tasks that the jobs spawn as its children. Like every task, the submission belongs to
/// the scope of the task that submits it. Jobs that have not started when that scope is cancelled,
/// or when the scheduler discards its work, are cancelled.
class job_list {
public:
    job_list(const job_list&) = delete;
    job_list& operator=(const job_list&) = delete;

    // ---- filling: the owner ------------------------------------------------------------------

    /// Adds a job. `data` must live until the wait. Returns false if the list is full, which is
    /// reported once per submission, together with the functions that fill the list. Also returns
    /// false, and reports it, if the function is not registered with the manager or if the list is
    /// submitted and not waited for. Costs two compares and two stores, and more when the function
    /// differs from the one before.
    bool add(job_function function, void* data) {
        if (function != known_ || size_ == limit_) [[unlikely]] {
            if (!may_add(function)) return false;
        }
        jobs_[size_++] = {function, data};
        return true;
    }
    /// The two calls make a sync point in two phases. Jobs added after synchronize() start when all
    /// jobs before signal() have ended. Jobs added between the two calls may run beside both.
    /// signal() and synchronize() alternate, and a list with an open signal is not submitted. Both
    /// return false, and report it, for two calls of one kind in a row and while the list is
    /// submitted. signal() also does so beyond max_syncs; then submit() refuses, too, since jobs
    /// would start early.
    BRAID_API bool signal();
    BRAID_API bool synchronize();
    /// Removes the jobs and sync points that were added and not submitted.
    BRAID_API void clear();

    // ---- running: the owner ------------------------------------------------------------------

    /// Submits the jobs. Returns the id of the submission, for tasks that come after it. The id is
    /// empty if the call was refused, for example because the list is submitted already, has an
    /// open signal, or there is no memory. The jobs then stay in the list. A list without jobs is
    /// submitted as well, and other lists may come after it.
    BRAID_API task_id submit(const job_submission& how = {});
    /// Returns when the submission is complete, and runs its jobs meanwhile. Throws the failure of
    /// the submission. The list is empty afterwards and can be filled again. Without a submission,
    /// wait() returns at once, and reports it if there are jobs that nobody submitted.
    BRAID_API void wait();
    /// Returns false if the submission is not complete. Otherwise does what wait() does and returns
    /// true. Never sleeps. In a task, and on any thread when there are no workers, it first runs
    /// jobs of the submission, or what they wait for, for 50 µs or until one of them returns,
    /// whichever is later. Polling alone is therefore enough.
    BRAID_API bool try_wait();
    /// Returns true from submit() until the submission has been waited for.
    bool is_submitted() const { return submission().value != 0; }
    /// Returns the id of the submission; it is empty after the wait. Any thread may call it.
    BRAID_API task_id submission() const;

    // ---- seeing ------------------------------------------------------------------------------

    std::uint32_t size() const { return size_; }
    BRAID_API std::uint32_t id() const;
    BRAID_API const char* name() const;
    BRAID_API std::uint32_t colour() const;
    BRAID_API priority_level priority() const;
    BRAID_API std::uint32_t max_jobs() const;
    BRAID_API std::uint32_t max_syncs() const;

    /// Returns the statistics of the last submission that was waited for. The owner may show them
    /// while the next submission runs.
    BRAID_API job_list_statistics statistics() const;
    /// Returns what one seat did in the last submission that was waited for. Seats are below
    /// scheduler::seat_count().
    BRAID_API job_unit_statistics statistics(unsigned seat) const;

private:
    friend class job_list_manager;
    friend struct detail::job_list_state;
    job_list(detail::job_list_state& state, job* jobs) : jobs_(jobs), state_(state) {}
    ~job_list() = default;
    BRAID_API bool may_add(job_function function);

    job* jobs_;
    job_function known_ = nullptr;  // the last function that was found registered
    std::uint32_t size_ = 0, limit_ = 0;
    detail::job_list_state& state_;
};

BRAID_NAMESPACE_END
