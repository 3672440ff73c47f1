#pragma once
// Document 000, "Multithreading and job queues": a ring of callbacks with its own threads, a
// semaphore to sleep on, entries claimed by compare-exchange. Priorities are separate queues.
// Corrected: an entry is copied before its slot is free again, any thread may push, a full ring
// makes the pusher help, and the drain counts what was pushed.

#include "seeds/common.hpp"

#include <braid/base/bounded_queue.hpp>

#include <memory>
#include <semaphore>

namespace bench::seeds {

class handmade_queue {
public:
    explicit handmade_queue(unsigned threads, std::size_t entries = 4096)
        : cells_(new ring::cell[entries]),
          ring_(cells_.get(), entries),
          threads_(threads, [this](unsigned) { work(); }) {}
    ~handmade_queue() {
        over_.store(true, std::memory_order_release);
        wake_.release(16);
    }

    void push(job j) {
        goal_.fetch_add(1, std::memory_order_relaxed);
        while (!ring_.push_with([&](job& to) { to = j; })) run_one();
        wake_.release();
    }

    /// Runs entries until all that were pushed are over.
    void drain() {
        while (done_.load(std::memory_order_acquire) != goal_.load(std::memory_order_acquire)) {
            if (!run_one()) braid::active_policy::relax();
        }
    }

private:
    using ring = braid::bounded_queue<job>;

    bool run_one() {
        job j;
        if (!ring_.pop_with([&](const job& from) { j = from; })) return false;
        j();
        done_.fetch_add(1, std::memory_order_release);
        return true;
    }

    void work() {
        while (!over_.load(std::memory_order_acquire)) {
            if (!run_one()) wake_.acquire();
        }
    }

    std::unique_ptr<ring::cell[]> cells_;
    ring ring_;
    alignas(64) std::atomic<std::uint64_t> goal_{0};
    alignas(64) std::atomic<std::uint64_t> done_{0};
    std::atomic<bool> over_{false};
    std::counting_semaphore<> wake_{0};
    crew threads_;  // last: ends first
};

}  // namespace bench::seeds
