#pragma once
// A list of jobs. A job is a plain function with a data pointer. One thread fills the list without
// any synchronization and then submits the whole list. A job_list_manager allocates the lists.
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

    /// A number that you choose for the list. Two lists of a manager must not have the same id.
    /// `automatic` selects the lowest free id.
    std::uint32_t id = automatic;
    const char* name = "job list";      // must outlive the list
    std::uint32_t colour = 0xff'ff'ff;  // for your own displays: 0xRRGGBB
    /// The priority of the jobs of the list. After each job, the thread decides whether it leaves
    /// the list. A thread leaves a `normal` list if work of priority `high` is ready. A thread
    /// leaves a `low` list in the same case, and also if a `normal` list of the same manager has
    /// work that no thread has started. A thread stays in a `high` list until it finds no more jobs
    /// to take. A thread leaves any list if work is ready that is tied to this thread, if the wait
    /// in which the thread helps has ended, or if the scheduler no longer wants the thread to work.
    priority_level priority = priority_level::normal;
    std::uint32_t max_jobs = 1024;  // 1..2^30; 16 bytes each
    std::uint32_t max_syncs = 16;   // 0..2^30 pairs of signal() and synchronize() per submission
    bool may_be_long = false;       // true disables the long-task warnings for jobs of the list
};

struct job_submission {
    static constexpr int automatic = -1;  // all workers of the scheduler and the waiting thread
    static constexpr int cores = -2;      // cores that the process may use; SMT siblings count once
    static constexpr int threads = -3;    // hardware threads that the process may use
    static constexpr int inline_run = 0;  // the calling thread, before submit() returns

    /// The predecessors: at most 8 lists of the same scheduler. The submission starts after the
    /// current submissions of these lists are complete, whether they succeeded, failed or were
    /// cancelled. A list causes no delay if the wait for its submission has already returned. If
    /// one of the lists was filled but not submitted, submit() calls the assertion handler and
    /// returns an empty id.
    std::initializer_list<const job_list*> after = {};
    /// The maximum number of threads that may run jobs of this submission at the same time. It is a
    /// number of threads, or one of the constants above. If the value is below the constant
    /// `threads`, submit() calls the assertion handler and returns an empty id. Values above 256
    /// are clamped to 256.
    int parallelism = automatic;
};

/// Describes one submission of a list. Times are in ns. Moments are read from the clock of
/// std::chrono::steady_clock. A moment is 0 if the submission did not reach it, because all jobs or
/// the remaining jobs were cancelled.
struct job_list_statistics {
    std::uint64_t submissions = 0;  // of this list, so far
    std::uint64_t jobs = 0;
    std::uint64_t executed = 0;   // jobs that ran, including those that threw
    std::uint64_t cancelled = 0;  // jobs that never ran; see class job_list
    std::uint64_t syncs = 0;
    std::int64_t submitted_at = 0;
    std::int64_t started_at = 0;   // the first thread started
    std::int64_t finished_at = 0;  // the last job ended
    std::int64_t waited_ns = 0;    // time that the owner spent in wait()
    /// `processing_ns` is the time that all threads spent in jobs of this list. `wasted_ns` is the
    /// time that all threads spent on this list outside of jobs (joining, taking jobs, searching
    /// and leaving). Without scheduler_options::statistics, the time to take a job is part of
    /// `processing_ns`.
    std::int64_t processing_ns = 0, wasted_ns = 0;
    std::uint64_t stalls = 0;        // times that a thread left this list at a shut sync point
    std::uint64_t from_stalled = 0;  // times that a thread came from another list's sync point

    std::int64_t total_ns() const { return processing_ns + wasted_ns; }
};

/// Describes the work of one seat in one submission. A seat is the place of one thread.
struct job_unit_statistics {
    std::uint64_t executed = 0;
    std::int64_t processing_ns = 0, wasted_ns = 0;
    std::uint64_t stalls = 0, from_stalled = 0;

    std::int64_t total_ns() const { return processing_ns + wasted_ns; }
};

namespace detail {
struct job_list_state;
}

/// A list has one owner at a time. Only the owner fills the list, submits it and waits for it. From
/// submit() to wait(), the jobs belong to the threads that run them. Calls that would change the
/// list in this time are refused and call the assertion handler.
///
/// Jobs are taken in the order in which they were added. A job that throws does not stop the other
/// jobs. If several jobs fail, the waiter receives the failure of the job that was added first.
/// Jobs run as parts of the submission: in a job, this_task::id() is the id of the submission. If
/// jobs spawn children, the submission is not complete before the children are complete. Like every
/// task, the submission belongs to the scope of the task that submits it. If that scope is
/// cancelled, or if the scheduler discards its work, all jobs that have not started are cancelled.
class job_list {
public:
    job_list(const job_list&) = delete;
    job_list& operator=(const job_list&) = delete;

    // ---- filling: the owner ------------------------------------------------------------------

    /// Adds a job. `data` must remain valid until the wait for the submission has returned. Returns
    /// false if the list is full. Once per submission, add() then also calls the assertion handler
    /// with the names of the functions that fill the list. If the function is not registered with
    /// the manager, or if the list is submitted and not yet waited for, add() calls the assertion
    /// handler and returns false. A call costs two compares and two stores. It costs more if the
    /// function is not the function of the previous call.
    bool add(job_function function, void* data) {
        if (function != known_ || size_ == limit_) [[unlikely]] {
            if (!may_add(function)) return false;
        }
        jobs_[size_++] = {function, data};
        return true;
    }
    /// signal() and a later synchronize() make a sync point in two phases. Jobs added after
    /// synchronize() start only when all jobs added before signal() have ended. Jobs added between
    /// signal() and synchronize() may run in parallel with the jobs before and after them. The
    /// calls must alternate. A list whose last signal() has no synchronize() cannot be submitted.
    /// If the same function is called twice in succession, or if the list is submitted, the
    /// function calls the assertion handler and returns false. If the list already has max_syncs
    /// sync points, signal() calls the assertion handler and returns false. submit() then refuses
    /// the list, because some jobs would start too early.
    BRAID_API bool signal();
    BRAID_API bool synchronize();
    /// Removes all jobs and sync points that were added but not submitted.
    BRAID_API void clear();

    // ---- running: the owner ------------------------------------------------------------------

    /// Submits the jobs. Returns the id of the submission, which later tasks can use as their
    /// predecessor. Returns an empty id if the call is refused, for example because the list is
    /// already submitted, the last signal() has no synchronize(), or there is no memory. The jobs
    /// then stay in the list. A list without jobs can be submitted as well, and can be a
    /// predecessor of other lists.
    BRAID_API task_id submit(const job_submission& how = {});
    /// Waits until the submission is complete. The waiting thread helps to run the jobs. Throws the
    /// failure of the submission. After wait(), the list is empty and can be filled again. If the
    /// list is not submitted, wait() returns at once. If a list that is not submitted has jobs or
    /// sync points, wait() also calls the assertion handler.
    BRAID_API void wait();
    /// Returns false if the submission is not complete. Otherwise try_wait() does the same as
    /// wait() and returns true. It never sleeps. In a task, and on any thread if there are no
    /// workers, try_wait() first helps: it runs jobs of the submission, or tasks for which the
    /// submission waits. It helps for 50 µs or until the first job or task returns, whichever is
    /// later. The submission therefore completes even if the owner only polls.
    BRAID_API bool try_wait();
    /// Returns true from submit() until the wait for the submission has returned.
    bool is_submitted() const { return submission().value != 0; }
    /// Returns the id of the submission. The id is empty if the list is not submitted, or if the
    /// wait for the submission has returned. Any thread may call submission().
    BRAID_API task_id submission() const;

    // ---- seeing ------------------------------------------------------------------------------

    std::uint32_t size() const { return size_; }
    BRAID_API std::uint32_t id() const;
    BRAID_API const char* name() const;
    BRAID_API std::uint32_t colour() const;
    BRAID_API priority_level priority() const;
    BRAID_API std::uint32_t max_jobs() const;
    BRAID_API std::uint32_t max_syncs() const;

    /// Returns the statistics of the last submission for which a wait has returned. The owner may
    /// call this function while the next submission runs.
    BRAID_API job_list_statistics statistics() const;
    /// Returns the statistics of one seat in the last submission for which a wait has returned.
    /// Seat numbers are below scheduler::seat_count().
    BRAID_API job_unit_statistics statistics(unsigned seat) const;

private:
    friend class job_list_manager;
    friend struct detail::job_list_state;
    job_list(detail::job_list_state& state, job* jobs) : jobs_(jobs), state_(state) {}
    ~job_list() = default;
    BRAID_API bool may_add(job_function function);

    job* jobs_;
    job_function known_ = nullptr;  // the last function that was verified as registered
    std::uint32_t size_ = 0, limit_ = 0;
    detail::job_list_state& state_;
};

BRAID_NAMESPACE_END
