#pragma once
// Document 004, the task queue of "Starfighter in C++": std::function tasks in a std::deque, a
// mutex, a condition variable, a stable pool. Priorities are separate queues. Corrected: tasks
// that are queued at the end still run, a task is destroyed after it has run, and one can wait
// for all of them.

#include "seeds/common.hpp"

#include <deque>
#include <utility>

namespace bench::seeds {

class task_queue {
public:
    using task = std::function<void()>;

    explicit task_queue(unsigned threads) : threads_(threads, [this](unsigned) { work(); }) {}
    ~task_queue() {
        const std::lock_guard lock(mutex_);
        done_ = true;
        pushed_.notify_all();
    }

    template <class F>
    void push(F&& f) {
        const std::lock_guard lock(mutex_);
        tasks_.emplace_back(std::forward<F>(f));
        ++unfinished_;
        pushed_.notify_one();
    }

    void wait() {
        std::unique_lock lock(mutex_);
        finished_.wait(lock, [&] { return unfinished_ == 0; });
    }

private:
    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            pushed_.wait(lock, [&] { return done_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            {
                const task t = std::move(tasks_.front());
                tasks_.pop_front();
                lock.unlock();
                t();
            }
            lock.lock();
            if (--unfinished_ == 0) finished_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable pushed_, finished_;
    std::deque<task> tasks_;
    std::size_t unfinished_ = 0;
    bool done_ = false;
    crew threads_;
};

}  // namespace bench::seeds
