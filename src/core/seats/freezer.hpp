#pragma once
// Who has frozen the scheduler: one thread at a time, which may do it several times.

#include "base/condition.hpp"
#include "base/platform/platform.hpp"
#include "braid/base/policy.hpp"
#include "core/seats/parking_lot.hpp"

#include <cstdint>

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
        const locked lock(mutex_);
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
        const locked lock(mutex_);
        if (times_ == 0) return false;
        --times_;
        if (times_ != 0) return false;
        frozen_.store(false, seq_cst);
        over_.notify_all();
        return true;
    }
    void wait_until_over() {
        const locked lock(mutex_);
        while (times_ != 0) over_.wait(mutex_);
    }

private:
    mutex mutex_;
    basic_condition<active_policy> over_;
    unsigned times_ BRAID_GUARDED_BY(mutex_) = 0;
    std::uint32_t by_thread_ BRAID_GUARDED_BY(mutex_) = 0;
    atomic<bool> frozen_{false};
    atomic<std::uint16_t> by_seat_{UINT16_MAX};
};

}  // namespace detail
BRAID_NAMESPACE_END
