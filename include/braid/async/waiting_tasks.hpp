#pragma once
// Suspended tasks in a list, oldest first: those that wait at a channel, or for a frame. What a
// task waits by lies in its coroutine's frame, so that waiting takes no memory of the list.

#include "braid/base/export.hpp"
#include "braid/base/mutex.hpp"
#include "braid/core/suspend.hpp"
#include "braid/core/task_context.hpp"

#include <cstddef>
#include <source_location>

BRAID_NAMESPACE_BEGIN
namespace detail {

class waiting_tasks;

/// The process keeps those that are given back. Without memory it is one that several owners share.
BRAID_API mutex& take_waiting_mutex();
BRAID_API void give_waiting_mutex(mutex& m);

/// Guards the lists of one owner. The mutex outlives them, and their scheduler: who cancels a wait
/// may come to it when both are gone. It is another owner's then, which does no harm.
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

/// Until its `id` is complete. Guarded by the list's lock, but for what is written before anybody
/// else has it: `in`, `lock`, `of` and `id`.
struct waiting_task {
    waiting_tasks* in = nullptr;  // there as long as this is listed
    mutex* lock = nullptr;        // of `in`; outlives it
    waiting_task* next = nullptr;
    waiting_task* before = nullptr;
    runtime* of = nullptr;  // of the task; the list may be another scheduler's
    completion_id id;
    bool listed = false;
    bool cancelled = false;  // before it was listed
};

/// The task goes on, be it of another scheduler than the list. The caller has taken it out of its
/// list, and has no lock.
inline void go_on(const waiting_task& w) { complete_awaited(*w.of, w.id); }

/// The caller has the lock, but for arm(). The one that takes a task out of the list calls go_on(),
/// without the lock. May end while those that were taken are about to be cancelled, but not
/// while any is listed.
class waiting_tasks {
public:
    /// `of`: the scheduler whose tasks and threads take them out; null: others may.
    explicit waiting_tasks(mutex& lock, const runtime* of = nullptr) : lock_(lock), of_(of) {}
    waiting_tasks(const waiting_tasks&) = delete;
    waiting_tasks& operator=(const waiting_tasks&) = delete;

    /// First, within a suspension. False: no memory.
    bool arm(waiting_task& w, task_context& context, const char* name,
             const std::source_location& where) {
        w.in = this;
        w.lock = &lock_;
        w.of = &context.internals().rt;
        const ended_by by = w.of == of_ ? ended_by::program : ended_by::outside;
        w.id = await_outside(context, {.name = name, .cancel = {&leave, &w}, .where = where}, by);
        return static_cast<bool>(w.id);
    }
    /// False: it was cancelled meanwhile; the caller lets it go on.
    bool list(waiting_task& w) {
        if (w.cancelled) return false;
        w.listed = true;
        w.before = last_;
        (last_ != nullptr ? last_->next : first_) = &w;
        last_ = &w;
        ++count_;
        return true;
    }
    /// The one that has waited longest. Null: there is none.
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
