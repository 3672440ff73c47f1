#pragma once
// A queue of slots whose tasks failed or were cancelled, in the order in which the tasks ended. A
// slot can say how its last task ended, until another task uses the slot. So these slots wait here
// before they are used again: a caller that asks a little late still learns how the task ended.

#include "braid/base/mutex.hpp"
#include "core/slots/index_pool.hpp"
#include "core/slots/slot.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class failed_slots {
public:
    static constexpr std::uint32_t most = 4096;

    /// Adds a slot whose task is complete. If there are more than `most` slots now, removes the
    /// oldest one and returns it, so that it is used again. Otherwise returns no_index.
    std::uint32_t add(const index_pool<slot>& slots, std::uint32_t index) {
        const locked lock(mutex_);
        slots[index].next.store(no_index, relaxed);
        if (newest_ != no_index) {
            slots[newest_].next.store(index, relaxed);
        } else {
            oldest_ = index;
        }
        newest_ = index;
        // relaxed: other threads read the count without the lock, only to see if there is any slot.
        const std::uint32_t before = count_.load(relaxed);
        count_.store(before + 1, relaxed);
        return before == most ? take(slots) : no_index;
    }

    /// Removes the oldest slot and returns it. Returns no_index if there is none, or if `may_block`
    /// is false and another thread holds the lock.
    std::uint32_t take_oldest(const index_pool<slot>& slots, bool may_block) {
        if (empty()) return no_index;
        if (may_block) {
            mutex_.lock();
        } else if (!mutex_.try_lock()) {
            return no_index;
        }
        const std::uint32_t index = oldest_ != no_index ? take(slots) : no_index;
        mutex_.unlock();
        return index;
    }

    bool empty() const { return count_.load(relaxed) == 0; }

private:
    std::uint32_t take(const index_pool<slot>& slots) BRAID_REQUIRES(mutex_) {
        const std::uint32_t index = oldest_;
        oldest_ = slots[index].next.load(relaxed);
        if (oldest_ == no_index) newest_ = no_index;
        count_.store(count_.load(relaxed) - 1, relaxed);
        return index;
    }

    mutex mutex_;
    std::uint32_t oldest_ BRAID_GUARDED_BY(mutex_) = no_index;
    std::uint32_t newest_ BRAID_GUARDED_BY(mutex_) = no_index;
    atomic<std::uint32_t> count_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
