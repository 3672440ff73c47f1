#pragma once
// Records which thread or task waits for what. A waiter sleeps under a key (the id of a task, or
// the address of an event or scope) until another thread wakes that key. The awaited object stores
// only one bit. So a waiter that times out leaves no trace in the object, and the object may be
// destroyed as soon as it has woken its waiters. (The idea of a parking lot is WebKit's, 2016.)
//
// A record is in the stack frame of the wait, so a wait can never lack memory for it. L1 to L3 make
// that safe:
//
// L1  A record is in at most one bucket, that of its key. The bucket's lock guards all links.
// L2  That lock also decides whether a waiter was woken. Either wake() removes the record and marks
//     it as done, or leave() removes it unmarked, never both. So a waiter that no longer needs a
//     wake still sees the wake, and can pass it on.
// L3  Setting `done` is the waker's last access to a thread's record. Before that, the waker has
//     removed the record and read its link to the next one. A task's record belongs to the waker
//     once it is done, until the waker resumes the task.
// L4  A wake checks each record of its bucket once, and leave() checks none.

#include "braid/base/mutex.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct outcome;
class runtime;

template <class Policy>
struct basic_wait_record {
    // Guarded by the bucket's lock.
    basic_wait_record* next = nullptr;
    basic_wait_record* before = nullptr;
    std::uint64_t key = 0;
    outcome* result = nullptr;
    typename Policy::template atomic<bool> done{false};
    bool is_task : 1 = false;  // a task waits, not a thread; this is a task_wait_record
    bool named : 1 = false;    // this is a named_wait_record
    bool limited = false;      // the wait has a deadline
    // Set once it is known that the wait does not need a task on its own thread's stack. Before
    // that, the wait may still be refused. relaxed: the flag only informs searches for deadlocks,
    // and orders no other data.
    typename Policy::template atomic<bool> stays{false};
    std::uint16_t seat = UINT16_MAX;
    // The number of tasks on the thread's stack when the wait began. The topmost of these tasks
    // waits. 0 if no task waits, or if the number is not known.
    std::uint16_t depth = 0;
};

/// The record of a task that waits. The waker resumes the task through its completion. A thread has
/// no completion, because it sleeps in its wait, with the record on its stack.
template <class Policy>
struct basic_task_wait_record : basic_wait_record<Policy> {
    runtime* of = nullptr;  // the task's scheduler; the lot may belong to another scheduler
    std::uint64_t completion = 0;
};

/// The record of a thread that waits inside the library. `what` and `name` describe the wait to
/// users, for example as "room in the queue" of "io".
template <class Policy>
struct basic_named_wait_record : basic_wait_record<Policy> {
    const char* what = "";
    const char* name = "";  // must stay valid while the record is in the lot
};

/// Returns a key that is never the id of a task, because the id's generation would be among the
/// last 2^16. Each `kind` of object at one address has another key, since an event may be where a
/// scope was.
inline std::uint64_t address_key(const void* object, std::uint64_t kind = 0) {
    return ~(reinterpret_cast<std::uint64_t>(object) | kind);
}
inline std::uint64_t scope_key(const void* scope) { return address_key(scope, 1); }
inline std::uint64_t branch_key(const void* branch) { return address_key(branch, 2); }
/// Returns the key for a wait for something inside the library, for example a phase of the
/// scheduler.
inline std::uint64_t own_key(const void* object) { return address_key(object, 3); }
/// Returns the object of that `kind` to which `key` belongs, or null if `key` belongs to something
/// else.
inline const void* object_of_key(std::uint64_t key, std::uint64_t kind) {
    constexpr std::uint64_t last_of_ids = ~std::uint64_t{0} << 48, kinds = 3;
    if (key < last_of_ids || (~key & kinds) != kind) return nullptr;
    return reinterpret_cast<const void*>(~key & ~kinds);
}
inline const void* scope_of_key(std::uint64_t key) { return object_of_key(key, 1); }

/// `Buckets` is a power of two, up to 64.
template <class Policy, unsigned Buckets = 64>
class basic_parking_lot {
public:
    using record = basic_wait_record<Policy>;

    /// Adds `r` under `key` if `still_open()` returns true. `still_open()` is called under the
    /// bucket's lock. It returns true if what is awaited has not come about yet, and then sets the
    /// bit that makes the other side call wake(). Returns false if `still_open()` returned false.
    /// The lot is then unchanged.
    template <class StillOpen>
    bool enter(record& r, std::uint64_t key, std::uint16_t seat, StillOpen&& still_open) {
        r.key = key;
        r.seat = seat;
        r.result = nullptr;
        r.done.store(false, relaxed);
        bucket& b = bucket_of(key);
        const basic_locked<Policy> lock(b.mutex);
        if (!still_open()) return false;
        r.before = nullptr;
        r.next = b.first;
        if (r.next != nullptr) r.next->before = &r;
        b.first = &r;
        return true;
    }

    /// Called by the waiter at the end of its wait. Removes its record. Returns true if the waiter
    /// had been woken, even at the last moment. `r.result` is then what the waker gave it, and
    /// belongs to the caller.
    bool leave(record& r) {
        // acquire: pairs with the release in wake().
        if (r.done.load(acquire)) return true;
        bucket& b = bucket_of(r.key);
        const basic_locked<Policy> lock(b.mutex);
        if (r.done.load(relaxed)) return true;  // relaxed: the lock orders it
        unlink(b, r);
        return false;
    }

    /// Calls `f()` with the bucket's lock held if the waiter has not been woken. Returns true if it
    /// called `f()`. `f()` may change the record's seat, and what the record says about the wait.
    template <class F>
    bool change(record& r, F&& f) {
        bucket& b = bucket_of(r.key);
        const basic_locked<Policy> lock(b.mutex);
        if (r.done.load(relaxed)) return false;  // relaxed: the lock orders it
        f();
        return true;
    }

    /// Wakes the waiters under `key` for which `each(record)` returns true, at most `limit`, and
    /// returns how many. For each of them it calls `each`, then marks the record as done, then
    /// calls `notify(seat)`. While `each` runs, the waiter cannot return, so what it waits for is
    /// alive.
    template <class Each, class Notify>
    unsigned wake(std::uint64_t key, unsigned limit, Each&& each, Notify&& notify) {
        bucket& b = bucket_of(key);
        const basic_locked<Policy> lock(b.mutex);
        unsigned woken = 0;
        record* next = nullptr;
        for (record* r = b.first; r != nullptr && woken != limit; r = next) {
            next = r->next;
            if (r->key != key || !each(*r)) continue;
            unlink(b, *r);
            const std::uint16_t seat = r->seat;
            // release: pairs with leave() and with the waiter's own check of `done`. This is the
            // last access (L3).
            r->done.store(true, release);
            notify(seat);
            ++woken;
        }
        return woken;
    }

    /// Does what wake() does without `each`, for keys under which tasks may wait as well as
    /// threads. Wakes the threads, and removes and returns the records of the tasks, linked by
    /// `next`. The caller resumes each of these tasks without the lock.
    template <class Notify>
    record* wake_threads_and_take_tasks(std::uint64_t key, unsigned limit, Notify&& notify) {
        record* first = nullptr;
        record** last = &first;
        bucket& b = bucket_of(key);
        const basic_locked<Policy> lock(b.mutex);
        record* next = nullptr;
        for (record* r = b.first; r != nullptr && limit != 0; r = next) {
            next = r->next;
            if (r->key != key) continue;
            unlink(b, *r);
            --limit;
            const bool is_task = r->is_task;
            if (is_task) {
                r->next = nullptr;
                *last = r;
                last = &r->next;
            }
            const std::uint16_t seat = r->seat;
            // release: as in wake().
            r->done.store(true, release);
            if (!is_task) notify(seat);
        }
        return first;
    }

    /// Calls `f(record)` for the records under `key`, with the bucket's lock held, until a call
    /// returns true. Returns true if one did. None of these waiters can return meanwhile, so each
    /// waiter's stack does not change below its wait.
    template <class F>
    bool look_at(std::uint64_t key, F&& f) {
        bucket& b = bucket_of(key);
        const basic_locked<Policy> lock(b.mutex);
        for (const record* r = b.first; r != nullptr; r = r->next) {
            if (r->key == key && f(*r)) return true;
        }
        return false;
    }
    /// Does what look_at() does for all records of the lot, bucket by bucket.
    template <class F>
    bool look_at_all(F&& f) {
        for (bucket& b : buckets_) {
            const basic_locked<Policy> lock(b.mutex);
            for (const record* r = b.first; r != nullptr; r = r->next) {
                if (f(*r)) return true;
            }
        }
        return false;
    }

private:
    struct alignas(64) bucket {
        basic_mutex<Policy> mutex;
        record* first BRAID_GUARDED_BY(mutex) = nullptr;
    };

    bucket& bucket_of(std::uint64_t key) {
        return buckets_[(key * 0x9e37'79b9'7f4a'7c15U) >> 58 & (Buckets - 1)];
    }
    static void unlink(bucket& b, record& r) BRAID_REQUIRES(b.mutex) {
        (r.before != nullptr ? r.before->next : b.first) = r.next;
        if (r.next != nullptr) r.next->before = r.before;
    }

    bucket buckets_[Buckets];
};

using wait_record = basic_wait_record<active_policy>;
using task_wait_record = basic_task_wait_record<active_policy>;
using named_wait_record = basic_named_wait_record<active_policy>;
using parking_lot = basic_parking_lot<active_policy>;

}  // namespace detail
BRAID_NAMESPACE_END
