#pragma once
// Document 002, the job lists of Doom 3 BFG: a list is filled by its owner, submitted, and
// waited for; threads fetch jobs of a list by incrementing an index, the list of the highest
// priority first. A sync point keeps later jobs of a list back until all earlier ones are over;
// a thread that meets it turns to another list. Corrected: indices count up plainly, lists are
// not recycled under a worker (a submission is shared, and ends when the last job does), the
// waiter sleeps.

#include "seeds/common.hpp"

#include <algorithm>
#include <memory>

namespace bench::seeds {

class job_lists {
public:
    class list {
    public:
        explicit list(int priority) : priority_(priority) {}
        void add(job j) { jobs_.push_back(j); }
        /// Jobs added from here on start after all those before.
        void synchronize() { syncs_.push_back(static_cast<unsigned>(jobs_.size())); }

    private:
        friend class job_lists;
        /// How far jobs may be fetched now: to the first sync point that is not passed.
        unsigned open_until() const {
            const unsigned done = done_.load(std::memory_order_acquire);
            for (const unsigned s : syncs_) {
                if (done < s) return s;
            }
            return static_cast<unsigned>(jobs_.size());
        }

        const int priority_;
        std::vector<job> jobs_;
        std::vector<unsigned> syncs_;
        alignas(64) std::atomic<unsigned> next_{0};
        alignas(64) std::atomic<unsigned> done_{0};
    };

    explicit job_lists(unsigned threads) : threads_(threads, [this](unsigned) { work(); }) {}
    ~job_lists() {
        const std::lock_guard lock(mutex_);
        over_ = true;
        submitted_.notify_all();
    }

    void submit(std::shared_ptr<list> l) {
        const std::lock_guard lock(mutex_);
        const auto lower = [&](const auto& other) { return other->priority_ < l->priority_; };
        lists_.insert(std::find_if(lists_.begin(), lists_.end(), lower), std::move(l));
        version_.fetch_add(1, std::memory_order_release);
        submitted_.notify_all();
    }

    void wait(const list& l) {
        std::unique_lock lock(mutex_);
        ended_.wait(lock,
                    [&] { return l.done_.load(std::memory_order_acquire) == l.jobs_.size(); });
    }

private:
    using lists = std::vector<std::shared_ptr<list>>;

    /// False: nothing to fetch now.
    bool run_one(list& l) {
        unsigned i = l.next_.load(std::memory_order_relaxed);
        do {
            if (i >= l.open_until()) return false;
        } while (!l.next_.compare_exchange_weak(i, i + 1, std::memory_order_acq_rel));
        l.jobs_[i]();
        // Only now may a waiter let go of the list; the caller's copy keeps it alive.
        if (l.done_.fetch_add(1, std::memory_order_acq_rel) + 1 == l.jobs_.size()) {
            const std::lock_guard lock(mutex_);
            std::erase_if(lists_, [&](const auto& other) { return other.get() == &l; });
            version_.fetch_add(1, std::memory_order_release);
            ended_.notify_all();
        }
        return true;
    }

    void work() {
        lists mine;  // a copy, renewed when the version says so
        unsigned seen = 0;
        while (true) {
            if (version_.load(std::memory_order_acquire) != seen) {
                const std::lock_guard lock(mutex_);
                seen = version_.load(std::memory_order_relaxed);
                mine = lists_;
            }
            const bool ran =
                std::any_of(mine.begin(), mine.end(), [&](const auto& l) { return run_one(*l); });
            if (ran) continue;
            std::unique_lock lock(mutex_);
            if (over_) return;
            if (seen != version_.load(std::memory_order_relaxed)) continue;
            // Stalled at a sync point of a list that is still open: look again soon.
            const bool stalled = std::any_of(lists_.begin(), lists_.end(), [](const auto& l) {
                return l->next_.load(std::memory_order_relaxed) < l->jobs_.size();
            });
            if (!stalled) submitted_.wait(lock);
        }
    }

    std::mutex mutex_;
    std::condition_variable submitted_, ended_;
    lists lists_;  // highest priority first, ties oldest; guarded by mutex_
    std::atomic<unsigned> version_{0};
    bool over_ = false;
    crew threads_;
};

}  // namespace bench::seeds
