#pragma once
// Work that no frame has time for, in chunks: each frame runs as many as fit into its budget, and
// one at least, until the work is done. For navigation graphs, light maps and the like.
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
                                           // 0 and below: one chunk in each frame
};

struct spread_job {
    const char* name = "spread work";  // outlives the job
};

struct spread_statistics {
    std::uint64_t frames = 0, chunks = 0, finished = 0;
    std::uint64_t over_budget = 0;  // frames; a chunk was longer than it had been before
    nanoseconds longest_chunk{0};
    const char* longest_in = "";  // the job that had it: make its chunks smaller
};

/// Jobs run in the order in which they were added. A chunk begins only if the longest one of its
/// job lately would still fit (an eighth of it is forgotten with each chunk), so that a frame is
/// late by what a chunk takes beyond that, at most.
/// `Policy` has the clock.
template <class Policy>
class basic_spread_work final : code_holder {
public:
    explicit basic_spread_work(scheduler& s, const spread_options& options = {})
        : code_holder(s), rt_(s.internals()), options_(options) {}
    /// What has not run is dropped. Nobody is in run_frame().
    ~basic_spread_work() {
        while (job* j = first_) drop(j);
    }
    basic_spread_work(const basic_spread_work&) = delete;
    basic_spread_work& operator=(const basic_spread_work&) = delete;

    /// f(0) … f(chunks - 1), in this order, one at a time, over as many frames as it takes. Any
    /// thread, also a chunk. False: no memory, which its handler knows.
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

    /// Once a frame, by one body of it. Returns how many chunks ran. What a chunk throws comes out;
    /// its job is dropped, the others go on in the next frame.
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

    /// Any thread: jobs that have not ended.
    std::size_t jobs() const {
        const std::lock_guard lock(mutex_);
        std::size_t n = 0;
        for (const job* j = first_; j != nullptr; j = j->next) ++n;
        return n;
    }
    /// By the thread that runs the frames.
    const spread_statistics& statistics() const { return statistics_; }
    void set_budget(nanoseconds budget) { options_.budget = budget; }

private:
    struct job {
        void (*run)(job& self, std::size_t chunk);
        void (*destroy)(detail::runtime& rt, job* self);
        const char* name;
        std::size_t chunks;
        std::size_t done = 0;
        std::int64_t expected = 0;  // of its next chunk
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
    /// The oldest that has something to do.
    job* next_job() {
        while (true) {
            job* j = nullptr;
            {
                const std::lock_guard lock(mutex_);
                j = first_;
            }
            if (j == nullptr || j->done != j->chunks) return j;
            finish(j);  // it had no chunks at all
        }
    }
    void finish(job* j) {
        ++statistics_.finished;
        drop(j);
    }
    /// `j` is the first job.
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
    job* first_ = nullptr;  // guarded by mutex_, also `next` of the last job
    job* last_ = nullptr;   // guarded by mutex_
    spread_statistics statistics_;
};

using spread_work = basic_spread_work<active_policy>;

BRAID_NAMESPACE_END
