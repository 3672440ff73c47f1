#pragma once
// A list of jobs, plain functions with a pointer each, that one thread fills without any
// synchronisation and submits as a whole. Lists come from a job_list_manager.
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

    /// Yours; no two lists of a manager have the same. automatic: the lowest that is free.
    std::uint32_t id = automatic;
    const char* name = "job list";      // outlives the list
    std::uint32_t colour = 0xff'ff'ff;  // yours, for displays: 0xRRGGBB
    /// How urgent the threads' work is. `high`: a thread that has begun with the list goes on until
    /// it finds nothing more there. Others leave it after each job as soon as something higher is
    /// ready.
    priority_level priority = priority_level::normal;
    std::uint32_t max_jobs = 1024;  // 1..2^30; 16 bytes each
    std::uint32_t max_syncs = 16;   // 0..2^30 pairs of signal() and synchronize() in one submission
    bool may_be_long = false;       // no long-task warning for its jobs
};

struct job_submission {
    static constexpr int automatic =
        -1;                             // all of the scheduler's workers and the thread that waits
    static constexpr int cores = -2;    // the cores that the process may use, siblings once
    static constexpr int threads = -3;  // the hardware threads that the process may use
    static constexpr int inline_run = 0;  // the calling thread, before submit() returns

    /// Starts when what was submitted of these lists is complete, however it ended. A list that was
    /// collected since holds nobody back; one that is filled and was not submitted is refused.
    std::initializer_list<const job_list*> after = {};
    /// How many threads may run jobs of this submission at a time: one of the above, or a number;
    /// less than those is refused and reported, more than 256 counts as 256.
    int parallelism = automatic;
};

/// What happened in one submission. Times are in ns; moments are on the clock of
/// std::chrono::steady_clock, and 0 if it did not come to that: all of it, or the rest of it, was
/// cancelled.
struct job_list_statistics {
    std::uint64_t submissions = 0;  // of this list, so far
    std::uint64_t jobs = 0;
    std::uint64_t executed = 0;   // ran, those that threw too
    std::uint64_t cancelled = 0;  // never ran; see job_list
    std::uint64_t syncs = 0;
    std::int64_t submitted_at = 0;
    std::int64_t started_at = 0;   // the first thread came
    std::int64_t finished_at = 0;  // the last job ended
    std::int64_t waited_ns = 0;    // the owner, in wait()
    /// All threads' time for this list: in jobs, and not in jobs (coming, taking, looking,
    /// leaving). Without scheduler_options::statistics taking a job counts as part of it.
    std::int64_t processing_ns = 0, wasted_ns = 0;
    std::uint64_t stalls = 0;        // times a thread left because a sync point was shut
    std::uint64_t from_stalled = 0;  // times a thread came that had left another list so

    std::int64_t total_ns() const { return processing_ns + wasted_ns; }
};

/// The part of one unit, a thread that takes part.
struct job_unit_statistics {
    std::uint64_t executed = 0;
    std::int64_t processing_ns = 0, wasted_ns = 0;
    std::uint64_t stalls = 0, from_stalled = 0;

    std::int64_t total_ns() const { return processing_ns + wasted_ns; }
};

namespace detail {
struct job_list_state;
}

/// Has one owner at a time, who fills, submits and waits. From submit() to wait() the jobs belong
/// to the threads that run them: calls that would change the list are refused and reported.
///
/// Jobs are taken in the order in which they were added. One that throws does not stop the others;
/// who waits gets the failure of the one that was added first. Jobs run as parts of the submission:
/// this_task::id() is its id, and it is not over before what they spawn as its children. Like every
/// task it belongs to the scope of the task that submits it; jobs that have not started when that
/// scope is cancelled, or the scheduler discards its work, are cancelled.
class job_list {
public:
    job_list(const job_list&) = delete;
    job_list& operator=(const job_list&) = delete;

    // ---- filling: the owner ------------------------------------------------------------------

    /// False, and reported once per submission with what fills it: the list is full. False, and
    /// reported: not registered with the manager, or submitted and not waited for. `data` lives
    /// until the wait. Two compares and two stores; more when the function is another than before.
    bool add(job_function function, void* data) {
        if (function != known_ || size_ == limit_) [[unlikely]] {
            if (!may_add(function)) return false;
        }
        jobs_[size_++] = {function, data};
        return true;
    }
    /// A sync point in two phases: what is added after synchronize() starts when everything before
    /// signal() has ended; what is added between them may run beside both. They alternate; a list
    /// with an open signal is not submitted. False, and reported: two of one kind in a row, or more
    /// than max_syncs; then submit() refuses, too, since jobs would start early.
    BRAID_API bool signal();
    BRAID_API bool synchronize();
    /// Takes out what was added and not submitted.
    BRAID_API void clear();

    // ---- running: the owner ------------------------------------------------------------------

    /// Hands the jobs over. Returns the submission's id, for tasks that come after it; empty if
    /// it was refused: submitted already, an open signal, or no memory. The jobs stay then.
    /// A list without jobs is submitted as well, and orders others.
    BRAID_API task_id submit(const job_submission& how = {});
    /// Returns when the submission is complete, running its jobs meanwhile; throws its failure.
    /// After it the list is empty and can be filled again. Without a submission it returns at once,
    /// and reports if there are jobs that nobody submitted.
    BRAID_API void wait();
    /// False: not over. True: as wait(), which has then been done. Never sleeps. In a task, and
    /// anywhere when there are no workers, it first runs jobs of the submission, or what they wait
    /// for, for 50 µs or until one of them returns, whichever is later: polling alone is enough.
    BRAID_API bool try_wait();
    /// From submit() until it is waited for.
    bool is_submitted() const { return submission().value != 0; }
    /// The id of what is submitted; empty after the wait. Any thread.
    BRAID_API task_id submission() const;

    // ---- seeing ------------------------------------------------------------------------------

    std::uint32_t size() const { return size_; }
    BRAID_API std::uint32_t id() const;
    BRAID_API const char* name() const;
    BRAID_API std::uint32_t colour() const;
    BRAID_API priority_level priority() const;
    BRAID_API std::uint32_t max_jobs() const;
    BRAID_API std::uint32_t max_syncs() const;

    /// The last submission that was waited for: the owner may show it while the next one runs.
    BRAID_API job_list_statistics statistics() const;
    /// What one seat did in that submission; seats are below scheduler::seat_count().
    BRAID_API job_unit_statistics statistics(unsigned seat) const;

private:
    friend class job_list_manager;
    friend struct detail::job_list_state;
    job_list(detail::job_list_state& state, job* jobs) : jobs_(jobs), state_(state) {}
    ~job_list() = default;
    BRAID_API bool may_add(job_function function);

    job* jobs_;
    job_function known_ = nullptr;  // is registered
    std::uint32_t size_ = 0, limit_ = 0;
    detail::job_list_state& state_;
};

BRAID_NAMESPACE_END
