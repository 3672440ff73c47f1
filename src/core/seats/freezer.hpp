#pragma once
// Who has frozen the scheduler: one thread at a time, which may do it several times. And what it
// asks the threads that rest.

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
    /// The calling thread has done it, and runs on. relaxed: it reads what it has written itself,
    /// or a number that is not its own.
    bool is_by_this_thread() const {
        return by_thread_.load(relaxed) == platform::current_thread_number();
    }
    /// What threads that rest sleep under.
    std::uint64_t key() const { return own_key(&frozen_); }

    /// True: the calling thread has frozen the scheduler, now or before. False: another one has.
    bool take() {
        const locked lock(mutex_);
        const std::uint32_t here = platform::current_thread_number();
        if (times_ != 0 && by_thread_.load(relaxed) != here) return false;
        ++times_;
        by_thread_.store(here, relaxed);
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
    /// Returns at the last resume(); earlier when `enough()`, at which it looks now and then.
    template <class Enough>
    void wait_until_over_or(Enough&& enough) {
        constexpr std::int64_t look_again_ns = 2'000'000;
        const locked lock(mutex_);
        while (times_ != 0 && !enough()) over_.wait_for(mutex_, look_again_ns);
    }

    // ---- asking: one thread after the other looks at its own stack
    struct question {
        void (*look)(void* user, unsigned seat) = nullptr;
        void* user = nullptr;
    };
    /// By the thread that has frozen the scheduler; `open` is a seat's. The question stays until
    /// withdraw(), which the one who asks calls whatever has come of it.
    void ask(atomic<bool>& open, question q) {
        const locked lock(asking_);
        question_ = q;
        open.store(true, std::memory_order_release);  // pairs with is_answered()
    }
    static bool is_answered(const atomic<bool>& open) { return !open.load(acquire); }
    void withdraw(atomic<bool>& open) {
        const locked lock(asking_);
        open.store(false, relaxed);
    }
    void answer(unsigned seat, atomic<bool>& open) {
        const locked lock(asking_);
        if (!open.load(relaxed)) return;  // the lock orders it
        question_.look(question_.user, seat);
        open.store(false, std::memory_order_release);  // pairs with is_answered()
    }

private:
    mutex mutex_;
    basic_condition<active_policy> over_;
    unsigned times_ BRAID_GUARDED_BY(mutex_) = 0;
    mutex asking_;
    question question_ BRAID_GUARDED_BY(asking_);
    atomic<bool> frozen_{false};
    atomic<std::uint32_t> by_thread_{0};
};

}  // namespace detail
BRAID_NAMESPACE_END
