#pragma once
// Who waits for what: threads sleep under a key (the id of a task, the address of an event or
// scope) until somebody wakes that key. Nothing is kept in the awaited object but one bit, so
// waiters leave at a time-out without a trace, and the object may die as soon as it has woken.
// (The idea of a parking lot is WebKit's, 2016.)
//
// L1  A record is in at most one bucket, under its key; all links are guarded by the bucket's lock.
// L2  `done` is the waker's last touch of a record.

#include "core/index_pool.hpp"
#include "core/slot.hpp"

#include <cstdint>
#include <mutex>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct wait_record {
    atomic<std::uint32_t> next{0};
    atomic<bool> done{false};
    std::uint64_t key = 0;
    std::uint16_t seat = UINT16_MAX;
    outcome* result = nullptr;
};

/// A key that no id can be (its generation would be among the last 2^15), and that is another one
/// for each `kind` of object at one address: an event may lie where a scope was.
inline std::uint64_t address_key(const void* object, std::uint64_t kind = 0) {
    return ~(reinterpret_cast<std::uint64_t>(object) | kind);
}
inline std::uint64_t scope_key(const void* scope) { return address_key(scope, 1); }

class parking_lot {
public:
    explicit parking_lot(accounted_memory& memory) : records_(memory, memory_tag::detail) {}

    wait_record& operator[](std::uint32_t record) const { return records_[record]; }

    /// A record under `key`, provided that `still_open()`, called under the bucket's lock, sets
    /// the bit that makes the other side call wake(). no_index: it was too late, or no memory.
    template <class StillOpen>
    std::uint32_t enter(pool_cache& cache, std::uint64_t key, std::uint16_t seat,
                        StillOpen&& still_open) {
        const std::uint32_t index = records_.take(cache);
        if (index == no_index) return no_index;
        wait_record& r = records_[index];
        r.key = key;
        r.seat = seat;
        r.result = nullptr;
        r.done.store(false, relaxed);
        bucket& b = bucket_of(key);
        {
            const std::lock_guard lock(b.mutex);
            if (still_open()) {
                r.next.store(b.first, relaxed);
                b.first = index;
                return index;
            }
        }
        records_.give(cache, index);
        return no_index;
    }

    /// The waiter leaves, done or not. Returns what it was given, also at the last moment.
    outcome* leave(pool_cache& cache, std::uint32_t index) {
        wait_record& r = records_[index];
        // acquire: pairs with the release in wake().
        if (!r.done.load(acquire)) {
            bucket& b = bucket_of(r.key);
            const std::lock_guard lock(b.mutex);
            if (!r.done.load(acquire)) unlink(b, index);
        }
        outcome* result = std::exchange(r.result, nullptr);
        records_.give(cache, index);
        return result;
    }

    /// Takes records under `key` out, at most `limit`: `each(record)` says whether, and is called
    /// before the record reads as done; `notify(seat)` afterwards. While `each` runs, the waiter
    /// cannot return: what it waits for is alive.
    template <class Each, class Notify>
    unsigned wake(std::uint64_t key, unsigned limit, Each&& each, Notify&& notify) {
        bucket& b = bucket_of(key);
        const std::lock_guard lock(b.mutex);
        unsigned woken = 0;
        std::uint32_t previous = no_index;
        for (std::uint32_t i = b.first; i != no_index && woken != limit;) {
            wait_record& r = records_[i];
            const std::uint32_t next = r.next.load(relaxed);
            if (r.key != key || !each(r)) {
                previous = i;
                i = next;
                continue;
            }
            if (previous == no_index) {
                b.first = next;
            } else {
                records_[previous].next.store(next, relaxed);
            }
            const std::uint16_t seat = r.seat;
            // release: pairs with leave() and the waiter's look; last touch (L2).
            r.done.store(true, release);
            notify(seat);
            ++woken;
            i = next;
        }
        return woken;
    }

private:
    struct alignas(64) bucket {
        std::mutex mutex;
        std::uint32_t first = no_index;
    };

    bucket& bucket_of(std::uint64_t key) { return buckets_[(key * 0x9e37'79b9'7f4a'7c15U) >> 58]; }
    void unlink(bucket& b, std::uint32_t index) {
        const std::uint32_t next = records_[index].next.load(relaxed);
        if (b.first == index) {
            b.first = next;
            return;
        }
        std::uint32_t i = b.first;
        while (records_[i].next.load(relaxed) != index) i = records_[i].next.load(relaxed);
        records_[i].next.store(next, relaxed);
    }

    index_pool<wait_record> records_;
    bucket buckets_[64];
};

}  // namespace detail
BRAID_NAMESPACE_END
