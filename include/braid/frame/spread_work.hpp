#pragma once
// A spread_work object spreads work that is too long for one frame over many frames, for example
// navigation graphs and light maps. The work is divided into chunks. Until the work is done, each
// frame runs as many chunks as fit into its budget, and at least one.
//
//   braid::spread_work later(scheduler, {.budget = braid::milliseconds(1)});
//   simulate.add([&] { later.run_frame(); });
//   later.add({.name = "paths"}, regions.size(), [&](std::size_t i) { find_paths(regions[i]); });

#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"
#include "braid/core/code_holders.hpp"
#include "braid/core/scheduler.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

BRAID_NAMESPACE_BEGIN

struct spread_options {
    nanoseconds budget = milliseconds(1);  // of one frame, for all jobs together;
                                           // with 0 or below, each frame runs one chunk
};

struct spread_job {
    const char* name = "spread work";  // must outlive the job
};

struct spread_statistics {
    std::uint64_t frames = 0, chunks = 0, finished = 0;
    std::uint64_t over_budget = 0;  // frames above the budget because a chunk took too long
    nanoseconds longest_chunk{0};
    const char* longest_in = "";  // name of the job with the longest chunk; make its chunks smaller
};

/// Runs jobs in the order in which they were added. The first chunk of a frame always runs. A
/// further chunk starts only if its estimated time still fits into the budget. Each job has one
/// estimate, which is 0 before the first chunk of the job. With each chunk, the estimate falls by
/// one eighth. If the chunk took longer than the lowered estimate, the time of the chunk becomes
/// the estimate. So a frame with several chunks exceeds its budget by no more than the time that
/// its last chunk takes beyond the estimate.
/// `Policy` supplies the clock.
template <class Policy>
class basic_spread_work final : code_holder {
public:
    explicit basic_spread_work(scheduler& s, const spread_options& options = {})
        : code_holder(s), rt_(s.internals()), options_(options) {}
    /// Drops the chunks that have not run. No thread may be in run_frame() at that time.
    ~basic_spread_work() override {
        while (job* j = first_) drop(j);
    }
    basic_spread_work(const basic_spread_work&) = delete;
    basic_spread_work& operator=(const basic_spread_work&) = delete;

    /// Adds a job. The job calls f(0) … f(chunks - 1) in this order, one call at a time, over as
    /// many frames as necessary. Any thread may call add(), and a chunk may call it, too. If there
    /// is no memory, add() calls the out-of-memory handler and returns false.
    template <class F>
        requires std::is_invocable_v<std::decay_t<F>&, std::size_t>
    bool add(const spread_job& options, std::size_t chunks, F&& f) {
        using body = job_of<std::decay_t<F>>;
        void* bytes = detail::allocate_closure(rt_, sizeof(body), alignof(body));
        if (bytes == nullptr) return false;
        struct guard {
            detail::runtime& rt;
            void* bytes;
            ~guard() {
                if (bytes == nullptr) return;
                detail::release_closure(rt, bytes, sizeof(body), alignof(body));
            }
        } g{rt_, bytes};
        job* const j = ::new (bytes) body(std::forward<F>(f), options.name, chunks);
        g.bytes = nullptr;
        const std::lock_guard lock(mutex_);
        (last_ == nullptr ? first_ : last_->next) = j;
        last_ = j;
        return true;
    }

    /// Runs the chunks of one frame. Returns how many chunks ran. Call run_frame() in exactly one
    /// body of each frame. If a chunk throws, run_frame() drops the job of that chunk and rethrows
    /// the exception. The other jobs continue in the next frame.
    std::size_t run_frame() {
        const std::int64_t began = Policy::now();
        std::int64_t now = began;
        std::size_t ran = 0;
        while (job* j = next_job()) {
            if (ran != 0 && now - began + j->expected > options_.budget.value) break;
            struct on_exit {
                basic_spread_work& self;
                job* thrower;
                ~on_exit() {
                    if (thrower != nullptr) self.drop(thrower);
                }
            } guard{*this, j};
            j->run(*j, j->done);
            guard.thrower = nullptr;
            ++ran;
            const std::int64_t after = Policy::now();
            note_chunk(*j, after - now);
            now = after;
            if (++j->done == j->chunks) finish(j);
        }
        ++statistics_.frames;
        statistics_.chunks += ran;
        statistics_.over_budget += now - began > options_.budget.value;
        return ran;
    }

    /// Returns how many jobs have not ended. Any thread may call jobs().
    std::size_t jobs() const {
        const std::lock_guard lock(mutex_);
        std::size_t n = 0;
        for (const job* j = first_; j != nullptr; j = j->next) ++n;
        return n;
    }
    /// Returns the statistics so far. Only the thread that calls run_frame() may call statistics().
    const spread_statistics& statistics() const { return statistics_; }
    /// Sets the budget of later frames. Only the thread that calls run_frame() may call
    /// set_budget().
    void set_budget(nanoseconds budget) { options_.budget = budget; }

private:
    struct job {
        void (*run)(job& self, std::size_t chunk);
        void (*destroy)(detail::runtime& rt, job* self);
        const char* name;
        std::size_t chunks;
        std::size_t done = 0;
        std::int64_t expected = 0;  // estimated time of the next chunk, in ns
        job* next = nullptr;
    };
    template <class F>
    struct job_of : job {
        template <class G>
        job_of(G&& g, const char* called, std::size_t count)
            : job{&run_one, &destroy_one, called, count}, f(std::forward<G>(g)) {}
        static void run_one(job& self, std::size_t chunk) { static_cast<job_of&>(self).f(chunk); }
        static void destroy_one(detail::runtime& rt, job* self) {
            auto* const whole = static_cast<job_of*>(self);
            whole->~job_of();
            detail::release_closure(rt, whole, sizeof(job_of), alignof(job_of));
        }
        F f;
    };

    void show_code(code_search& to) const override {
        const std::lock_guard lock(mutex_);
        for (const job* j = first_; j != nullptr; j = j->next) {
            to.look_at(code_use::callback, j->name, j->run);
        }
    }
    /// Returns the oldest job that has chunks left to run, or null if no job has any. Finishes all
    /// older jobs.
    job* next_job() {
        while (true) {
            job* j = nullptr;
            {
                const std::lock_guard lock(mutex_);
                j = first_;
            }
            if (j == nullptr || j->done != j->chunks) return j;
            finish(j);  // the job was added without chunks
        }
    }
    void finish(job* j) {
        ++statistics_.finished;
        drop(j);
    }
    /// Removes `j`, which must be the first job, from the list, and destroys it.
    void drop(job* j) {
        {
            const std::lock_guard lock(mutex_);
            first_ = j->next;
            if (first_ == nullptr) last_ = nullptr;
        }
        j->destroy(rt_, j);
    }
    void note_chunk(job& j, std::int64_t took) {
        j.expected = (std::max)(j.expected - j.expected / 8, took);
        if (took <= statistics_.longest_chunk.value) return;
        statistics_.longest_chunk = nanoseconds{took};
        statistics_.longest_in = j.name;
    }

    detail::runtime& rt_;
    spread_options options_;
    mutable std::mutex mutex_;
    job* first_ = nullptr;  // guarded by mutex_, and so is `next` of the last job
    job* last_ = nullptr;   // guarded by mutex_
    spread_statistics statistics_;
};

using spread_work = basic_spread_work<active_policy>;

BRAID_NAMESPACE_END
