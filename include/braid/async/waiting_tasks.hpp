#pragma once
// A list of suspended tasks. The task that has waited longest is first. The tasks wait at a
// channel, or for a frame. The record of a wait is stored in the frame of the task's coroutine, so
// the list allocates no memory.

#include "braid/base/export.hpp"
#include "braid/base/mutex.hpp"
#include "braid/core/suspend.hpp"
#include "braid/core/task_context.hpp"

#include <cstddef>
#include <source_location>

BRAID_NAMESPACE_BEGIN
namespace detail {

class waiting_tasks;

/// take_waiting_mutex() takes a mutex from a pool that the process shares, and give_waiting_mutex()
/// returns the mutex to the pool. The mutexes of the pool are never freed. If there is no memory
/// for a mutex, several owners share one mutex.
BRAID_API mutex& take_waiting_mutex();
BRAID_API void give_waiting_mutex(mutex& m);

/// Owns the mutex that guards the lists of one owner, such as a channel. The mutex outlives the
/// lists and their scheduler, because a thread that cancels a wait may lock the mutex after the
/// lists and the scheduler were destroyed. The mutex may have a new owner by then. This does no
/// harm.
class waiting_lock {
public:
    waiting_lock() : mutex_(take_waiting_mutex()) {}
    ~waiting_lock() { give_waiting_mutex(mutex_); }
    waiting_lock(const waiting_lock&) = delete;
    waiting_lock& operator=(const waiting_lock&) = delete;
    mutex& internals() const { return mutex_; }

private:
    mutex& mutex_;
};

/// The wait of one task. The object must live until the completion `id` is complete. The members
/// `in`, `lock`, `of` and `id` are written before another thread can access the wait. The mutex of
/// the list guards the other members.
struct waiting_task {
    waiting_tasks* in = nullptr;  // the list; exists as long as `listed` is true
    mutex* lock = nullptr;        // the mutex of the list; outlives the list
    waiting_task* next = nullptr;
    waiting_task* before = nullptr;
    runtime* of = nullptr;  // the task's scheduler; the list may belong to another scheduler
    completion_id id;
    bool listed = false;
    bool cancelled = false;  // cancelled while the wait was not in the list
};

/// Resumes the task, even if the task and the list belong to different schedulers. The caller must
/// have taken the task out of its list, and must not hold a lock.
inline void go_on(const waiting_task& w) { complete_awaited(*w.of, w.id); }

/// The caller of each function except arm() must hold the mutex of the list. The thread that takes
/// a task out of the list must then release the mutex and call go_on() for the task. The list must
/// not be destroyed while a task is listed. The list may be destroyed while another thread cancels
/// a task that was already taken out.
class waiting_tasks {
public:
    /// `of` is the scheduler whose tasks and threads take tasks out of the list. Null means that
    /// other threads take them out.
    explicit waiting_tasks(mutex& lock, const runtime* of = nullptr) : lock_(lock), of_(of) {}
    waiting_tasks(const waiting_tasks&) = delete;
    waiting_tasks& operator=(const waiting_tasks&) = delete;

    /// Starts a wait. arm() must be called within a suspension, before list(). Returns false if
    /// there is no memory.
    bool arm(waiting_task& w, task_context& context, const char* name,
             const std::source_location& where) {
        w.in = this;
        w.lock = &lock_;
        w.of = &context.internals().rt;
        const ended_by by = w.of == of_ ? ended_by::program : ended_by::outside;
        w.id = await_outside(context, {.name = name, .cancel = {&leave, &w}, .where = where}, by);
        return static_cast<bool>(w.id);
    }
    /// Adds `w` to the list. Returns false if the wait was cancelled in the meantime. In this case
    /// the caller must call go_on() for `w`.
    bool list(waiting_task& w) {
        if (w.cancelled) return false;
        w.listed = true;
        w.before = last_;
        (last_ != nullptr ? last_->next : first_) = &w;
        last_ = &w;
        ++count_;
        return true;
    }
    /// Removes the task that has waited longest, and returns its wait. Returns null if the list is
    /// empty.
    waiting_task* take() {
        waiting_task* const w = first_;
        if (w != nullptr) unlist(*w);
        return w;
    }
    std::size_t size() const { return count_; }

private:
    void unlist(waiting_task& w) {
        (w.before != nullptr ? w.before->next : first_) = w.next;
        (w.next != nullptr ? w.next->before : last_) = w.before;
        w.next = w.before = nullptr;
        w.listed = false;
        --count_;
    }
    static bool leave(void* waiting, completion_id) {
        auto& w = *static_cast<waiting_task*>(waiting);
        const locked lock(*w.lock);
        const bool left = w.listed;
        if (left) w.in->unlist(w);
        w.cancelled = !left;
        return left;
    }

    mutex& lock_;
    const runtime* const of_;
    waiting_task* first_ = nullptr;
    waiting_task* last_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
