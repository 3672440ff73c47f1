#pragma once
// Which job of a submission is next, which sync points are open, and how many threads may come.
//
//   jobs       0 1 2 3 4 5 6 7 8 9            signal after 0..3, synchronize before 6:
//   segments   └── 0 ──┘ └─── 1 ───┘            4 and 5 may run beside 0..3, 6 may not
//   open       ├──── limit ────┤ ├──┤
//
//   fetch    {limit, next}: jobs below `limit` may start, `next` was not taken yet. A thread that
//            finds nothing has counted `next` too far; open() puts that right.
//   pending  of each segment: its jobs that have not ended, and one for the segments before it
//   idle     threads that may take part, and do not: they found a sync point shut
//
// F1  An index below `limit` is given to exactly one thread, in order.
// F2  A sync point is opened once, by the thread that brings the segments before it to 0; a thread
//     that is given a job behind it has seen what the jobs of those segments wrote.
// F3  A thread that leaves a shut sync point is counted in `idle` before it looks for the last
//     time, and who opens looks at `idle` after opening: one of the two sees the other, so none is
//     lost, and none is counted twice.
// A template over the policy, so that a model checker compiles exactly this.

#include "braid/base/policy.hpp"

#include <algorithm>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Jobs before `signal` are awaited by those from `wait` on.
struct sync_point {
    std::uint32_t signal, wait;
};

template <class Policy>
class basic_job_feed {
public:
    using counter = typename Policy::template atomic<std::uint32_t>;

    struct progress {
        bool opened = false;  // at least one sync point
        bool over = false;    // every job
    };

    /// By the owner, between two submissions: `pending` has one counter more than there are sync
    /// points. Nothing can be taken before begin().
    void prepare(std::uint32_t jobs, const sync_point* points, std::uint32_t count,
                 counter* pending, std::uint32_t threads) {
        jobs_ = jobs;
        points_ = points;
        count_ = count;
        pending_ = pending;
        // relaxed, all of it: the submission's task publishes this.
        fetch_.store(word(0, count != 0 ? points[0].wait : jobs), relaxed);
        idle_.store(threads, relaxed);
        std::uint32_t from = 0;
        for (std::uint32_t i = 0; i <= count; ++i) {
            const std::uint32_t to = i != count ? points[i].signal : jobs;
            pending[i].store(to - from + 1, relaxed);
            from = to;
        }
    }
    /// Drops the count that stands for all that comes before the first segment.
    progress begin() { return finish(0, 1); }

    /// False: there is nothing to take now. `index`: the caller's job, until finish().
    bool take(std::uint32_t& index) {
        if (!can_take()) return false;
        // acquire: pairs with the release in open() (F2).
        const std::uint64_t seen = fetch_.fetch_add(1, acquire);
        index = next(seen);
        return index < limit(seen);
    }
    bool can_take() const { return left(fetch_.load(relaxed)) != 0; }
    /// No sync point is shut, and nothing is left. One look for both: what is opened between two
    /// looks would be left to nobody.
    bool all_taken() const {
        const std::uint64_t seen = fetch_.load(relaxed);
        return limit(seen) == jobs_ && left(seen) == 0;
    }

    std::uint32_t segment_of(std::uint32_t index, std::uint32_t from = 0) const {
        while (from != count_ && index >= points_[from].signal) ++from;
        return from;
    }

    /// `jobs` of one segment have ended.
    progress finish(std::uint32_t segment, std::uint32_t jobs) {
        progress made;
        // acq_rel: release what these jobs wrote; the last one acquires all others and hands that
        // on, by open() and by the count of the next segment (F2).
        while (pending_[segment].fetch_sub(jobs, acq_rel) == jobs) {
            if (segment == count_) {
                made.over = true;
                break;
            }
            open(segment++);
            made.opened = true;
            jobs = 1;
        }
        return made;
    }

    /// A thread that could take nothing. True: it is counted as idle and leaves. False: there is
    /// something to take by now; it was not counted.
    bool leave_shut() {
        // seq_cst, here and in open(), call_idle(): F3.
        idle_.fetch_add(1, seq_cst);
        return left(fetch_.load(seq_cst)) == 0 || !take_idle();
    }
    /// For a thread that has opened a sync point, or begins: how many others are to come, which are
    /// not idle any more. Not more than there are jobs for them: a thread that is `free` takes one
    /// itself; one that has a job in hand may take none of them for long, and that job may even
    /// wait for them.
    std::uint32_t call_idle(bool free) {
        const std::uint32_t jobs = left(fetch_.load(relaxed));
        std::uint32_t called = 0;
        while (called + free < jobs && take_idle()) ++called;
        return called;
    }
    /// One idle thread is not idle any more. False: there is none.
    bool take_idle() {
        std::uint32_t seen = idle_.load(seq_cst);
        while (seen != 0) {
            // relaxed: it counts; what a called thread reads comes with the task that calls it.
            if (idle_.compare_exchange_weak(seen, seen - 1, relaxed, relaxed)) return true;
        }
        return false;
    }
    /// One of them cannot come after all.
    void uncall() { idle_.fetch_add(1, relaxed); }

private:
    static constexpr std::uint64_t word(std::uint32_t next, std::uint32_t limit) {
        return std::uint64_t{limit} << 32 | next;
    }
    static constexpr std::uint32_t next(std::uint64_t w) { return static_cast<std::uint32_t>(w); }
    static constexpr std::uint32_t limit(std::uint64_t w) {
        return static_cast<std::uint32_t>(w >> 32);
    }
    static constexpr std::uint32_t left(std::uint64_t w) {
        return limit(w) > next(w) ? limit(w) - next(w) : 0;
    }

    void open(std::uint32_t segment) {
        const std::uint32_t to = segment + 1 != count_ ? points_[segment + 1].wait : jobs_;
        std::uint64_t seen = fetch_.load(relaxed);
        // release: pairs with the acquire in take(); seq_cst: F3.
        while (!fetch_.compare_exchange_weak(seen, word(std::min(next(seen), limit(seen)), to),
                                             seq_cst, relaxed)) {
        }
    }
    std::uint32_t jobs_ = 0, count_ = 0;
    const sync_point* points_ = nullptr;
    counter* pending_ = nullptr;
    alignas(64) typename Policy::template atomic<std::uint64_t> fetch_{0};
    alignas(64) counter idle_{0};
};

using job_feed = basic_job_feed<active_policy>;

}  // namespace detail
BRAID_NAMESPACE_END
