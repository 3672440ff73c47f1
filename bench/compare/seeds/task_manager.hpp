#pragma once
// Document 003, BitSquid's task manager: tasks with a parent and one dependency, open-work
// counters, an open list apart from the queue, one global queue ordered by priority, all behind
// one critical section. A waiting thread helps. Several dependencies are an empty task with
// children. Corrected: equal priorities run in the order in which they came, ids are never
// reused, a task is counted for its parent before it can run.

#include "seeds/common.hpp"

#include <queue>
#include <unordered_map>

namespace bench::seeds {

class task_manager {
public:
    using id = std::uint64_t;
    static constexpr id none = 0;

    struct options {
        id parent = none;
        id dependency = none;
        int priority = 0;
    };

    explicit task_manager(unsigned threads) : threads_(threads, [this](unsigned) { work(); }) {}
    ~task_manager() {
        const std::lock_guard lock(section_);
        over_ = true;
        changed_.notify_all();
    }

    id add(job j) { return add(j, {}); }
    id add(job j, const options& o) {
        const std::lock_guard lock(section_);
        return insert(j, o, 1);
    }
    /// No work of its own, and open until finish_add().
    id begin_add() {
        const std::lock_guard lock(section_);
        return insert({}, {}, 2);
    }
    void add_child(id parent, id child) {
        const std::lock_guard lock(section_);
        const auto found = open_.find(child);
        if (found == open_.end()) return;
        ++open_.at(parent).open_work;
        found->second.more_parents.push_back(parent);
    }
    void finish_add(id task) {
        const std::lock_guard lock(section_);
        work_done(task);
    }

    /// Runs other tasks meanwhile.
    void wait(id task) {
        std::unique_lock lock(section_);
        while (open_.contains(task)) {
            open_.at(task).awaited = true;
            if (!run_one(lock)) changed_.wait(lock);
        }
    }

private:
    struct record {
        job work;
        options given;
        int open_work;
        std::vector<id> dependents = {};
        std::vector<id> more_parents = {};
        bool awaited = false;
    };
    struct queued {
        int priority;
        id task;
        bool operator<(const queued& other) const {
            return priority != other.priority ? priority < other.priority : task > other.task;
        }
    };

    // All of these in the critical section.
    id insert(job j, const options& o, int open_work) {
        const id task = ++last_;
        open_.emplace(task, record{j, o, open_work});
        if (o.parent != none) ++open_.at(o.parent).open_work;
        const auto before = open_.find(o.dependency);
        if (before != open_.end()) {
            before->second.dependents.push_back(task);
        } else {
            enqueue(task);
        }
        return task;
    }
    void enqueue(id task) {
        const record& r = open_.at(task);
        if (r.work.function == nullptr) {
            work_done(task);
            return;
        }
        queue_.push({r.given.priority, task});
        changed_.notify_one();
    }
    void work_done(id task) {
        record& r = open_.at(task);
        if (--r.open_work != 0) return;
        const record over = std::move(r);
        open_.erase(task);
        for (const id d : over.dependents) enqueue(d);
        if (over.given.parent != none) work_done(over.given.parent);
        for (const id p : over.more_parents) work_done(p);
        if (over.awaited) changed_.notify_all();
    }
    bool run_one(std::unique_lock<std::mutex>& lock) {
        if (queue_.empty()) return false;
        const id task = queue_.top().task;
        queue_.pop();
        const job j = open_.at(task).work;
        lock.unlock();
        j();
        lock.lock();
        work_done(task);
        return true;
    }

    void work() {
        std::unique_lock lock(section_);
        while (!over_) {
            if (!run_one(lock)) changed_.wait(lock);
        }
    }

    std::mutex section_;
    std::condition_variable changed_;
    std::unordered_map<id, record> open_;
    std::priority_queue<queued> queue_;
    id last_ = none;
    bool over_ = false;
    crew threads_;
};

}  // namespace bench::seeds
