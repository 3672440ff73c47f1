#pragma once
// Document 001, "Thread Pool": a batch of jobs with dependency counters and permission lists;
// pending, ready and finished queues behind one critical section. The master moves jobs from
// finished to ready and never runs any; a worker enters the section, takes a job, leaves, runs
// it, enters again. Corrected: an empty batch returns, caps are vectors, one batch at a time.

#include "seeds/common.hpp"

#include <deque>

namespace bench::seeds {

class locked_pool {
public:
    struct entry {
        job work;
        unsigned waits_for = 0;
        std::vector<unsigned> permits = {};
    };

    explicit locked_pool(unsigned threads) : threads_(threads, [this](unsigned) { work(); }) {}
    ~locked_pool() {
        const std::lock_guard lock(section_);
        over_ = true;
        ready_changed_.notify_all();
    }

    /// Returns when all have run. Counters are consumed.
    void run(std::vector<entry>& batch) {
        std::unique_lock lock(section_);
        batch_ = &batch;
        for (unsigned i = 0; i < batch.size(); ++i) {
            if (batch[i].waits_for == 0) ready_.push_back(i);
        }
        ready_changed_.notify_all();
        for (std::size_t left = batch.size(); left != 0;) {
            finished_changed_.wait(lock, [&] { return !finished_.empty(); });
            const std::size_t before = ready_.size();
            left -= finished_.size();
            for (const unsigned done : finished_) {
                for (const unsigned next : batch[done].permits) {
                    if (--batch[next].waits_for == 0) ready_.push_back(next);
                }
            }
            finished_.clear();
            if (ready_.size() != before) ready_changed_.notify_all();
        }
    }

private:
    void work() {
        std::unique_lock lock(section_);
        while (true) {
            ready_changed_.wait(lock, [&] { return over_ || !ready_.empty(); });
            if (over_) return;
            const unsigned taken = ready_.front();
            ready_.pop_front();
            const job j = (*batch_)[taken].work;
            lock.unlock();
            j();
            lock.lock();
            finished_.push_back(taken);
            finished_changed_.notify_one();
        }
    }

    std::mutex section_;
    std::condition_variable ready_changed_, finished_changed_;
    std::vector<entry>* batch_ = nullptr;
    std::deque<unsigned> ready_;
    std::vector<unsigned> finished_;
    bool over_ = false;
    crew threads_;
};

}  // namespace bench::seeds
