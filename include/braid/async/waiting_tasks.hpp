#pragma once
// A list of suspended tasks, oldest first. The tasks wait at a channel, or for a frame. The record
// of each wait lies in the frame of the task's coroutine, so that the list needs no memory for it.

#include "braid/base/export.hpp"
#include "braid/base/mutex.hpp"
#include "braid/core/suspend.hpp"
#include "braid/core/task_context.hpp"

#include <cstddef>
#include <source_location>

BRAID_NAMESPACE_BEGIN
namespace detail {

class waiting_tasks;

/// These two functions take a mutex from a pool of the process and give it back. The pool keeps its
/// mutexes for ever. Without memory the mutex is one that several owners share.
BRAID_API mutex& take_waiting_mutex();
BRAID_API void give_waiting_mutex(mutex& m);

/// Guards the lists of one owner. The mutex outlives the lists and their scheduler, because a
/// thread that cancels a wait may lock it when both are gone. The mutex may have another owner by
/// then, which does no harm.
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

/// The wait of one task. It must live until its `id` is complete. The lock of the list guards it,
/// except for `in`, `lock`, `of` and `id`, which are written before any other thread has it.
struct waiting_task {
    waiting_tasks* in = nullptr;  // exists as long as this is listed
    mutex* lock = nullptr;        // of `in`; outlives it
    waiting_task* next = nullptr;
    waiting_task* before = nullptr;
    runtime* of = nullptr;  // of the task; the list may belong to another scheduler
    completion_id id;
    bool listed = false;
    bool cancelled = false;  // before the wait was listed
};

/// Lets the task go on, even if the task and the list belong to different schedulers. The caller
/// has taken the task out of its list, and holds no lock.
inline void go_on(const waiting_task& w) { complete_awaited(*w.of, w.id); }

/// The caller of each function but arm() holds the lock. The thread that takes a task out of the
/// list calls go_on() for it, without the lock. The list may be destroyed while tasks that were
/// taken out are about to be cancelled, but not while any task is listed.
class waiting_tasks {
public:
    /// `of` is the scheduler whose tasks and threads take tasks out of the list. Null means that
    /// others may do so.
    explicit waiting_tasks(mutex& lock, const runtime* of = nullptr) : lock_(lock), of_(of) {}
    waiting_tasks(const waiting_tasks&) = delete;
    waiting_tasks& operator=(const waiting_tasks&) = delete;

    /// Call this first, within a suspension. Returns false if there is no memory.
    bool arm(waiting_task& w, task_context& context, const char* name,
             const std::source_location& where) {
        w.in = this;
        w.lock = &lock_;
        w.of = &context.internals().rt;
        const ended_by by = w.of == of_ ? ended_by::program : ended_by::outside;
        w.id = await_outside(context, {.name = name, .cancel = {&leave, &w}, .where = where}, by);
        return static_cast<bool>(w.id);
    }
    /// Puts `w` in the list. Returns false if the wait was cancelled meanwhile; the caller then
    /// lets the task go on.
    bool list(waiting_task& w) {
        if (w.cancelled) return false;
        w.listed = true;
        w.before = last_;
        (last_ != nullptr ? last_->next : first_) = &w;
        last_ = &w;
        ++count_;
        return true;
    }
    /// Takes out the task that has waited longest. Returns null if the list is empty.
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
