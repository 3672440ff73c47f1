#pragma once
// Who has frozen the scheduler: one thread at a time, which may do it several times.

#include "base/platform/platform.hpp"
#include "braid/base/policy.hpp"
#include "core/seats/parking_lot.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>

BRAID_NAMESPACE_BEGIN
namespace detail {

class freezer {
public:
    /// seq_cst: pairs with take(); a thread that sees it here has said before that it rests, or has
    /// not been looked at yet. A look between two tasks of a loop may be relaxed: the next one sees
    /// it.
    bool on(std::memory_order order = seq_cst) const { return frozen_.load(order); }
    /// The seat's own thread has done it, and runs on.
    bool is_by(std::uint16_t seat) const { return by_seat_.load(relaxed) == seat; }
    /// What threads that rest sleep under.
    std::uint64_t key() const { return address_key(&frozen_); }

    /// True: the calling thread has frozen the scheduler, now or before. False: another one has.
    bool take(std::uint16_t seat) {
        const std::lock_guard lock(mutex_);
        const std::uint32_t here = platform::current_thread_number();
        if (times_ != 0 && by_thread_ != here) return false;
        ++times_;
        by_thread_ = here;
        by_seat_.store(seat, relaxed);
        frozen_.store(true, seq_cst);  // pairs with on()
        return true;
    }
    /// True: it was the last resume(), and those that rest are to be woken.
    bool release() {
        const std::lock_guard lock(mutex_);
        if (times_ == 0) return false;
        --times_;
        if (times_ != 0) return false;
        frozen_.store(false, seq_cst);
        over_.notify_all();
        return true;
    }
    void wait_until_over() {
        std::unique_lock lock(mutex_);
        over_.wait(lock, [this] { return times_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable over_;
    unsigned times_ = 0;           // guarded by mutex_
    std::uint32_t by_thread_ = 0;  // guarded by mutex_
    atomic<bool> frozen_{false};
    atomic<std::uint16_t> by_seat_{UINT16_MAX};
};

}  // namespace detail
BRAID_NAMESPACE_END
