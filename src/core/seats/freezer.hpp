#pragma once
// Records which thread has frozen the scheduler. Only one thread at a time can freeze it. That
// thread may freeze it several times, and must resume it as often. While the scheduler is frozen,
// that thread may also ask the resting threads to run a function each (ask()).

#include "base/condition.hpp"
#include "base/platform/platform.hpp"
#include "braid/base/policy.hpp"
#include "core/seats/parking_lot.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class freezer {
public:
    /// Returns true while the scheduler is frozen. seq_cst: pairs with take(). A thread first
    /// notes that it does not rest, and then calls on(). So either it sees that the scheduler is
    /// frozen, or freeze() sees that the thread does not rest, and waits for it. A check between
    /// two tasks of a loop may be relaxed, because the next check sees the flag.
    bool on(std::memory_order order = seq_cst) const { return frozen_.load(order); }
    /// Returns true if the calling thread has frozen the scheduler. That thread does not rest.
    /// relaxed: the thread reads either the number that it wrote itself, or another thread's
    /// number.
    bool is_by_this_thread() const {
        return by_thread_.load(relaxed) == platform::current_thread_number();
    }
    /// Returns the key under which threads sleep while the scheduler is frozen.
    std::uint64_t key() const { return own_key(&frozen_); }

    /// Freezes the scheduler for the calling thread. Returns false if another thread has frozen it.
    /// A thread that has frozen it already may call this again.
    bool take() {
        const locked lock(mutex_);
        const std::uint32_t here = platform::current_thread_number();
        if (times_ != 0 && by_thread_.load(relaxed) != here) return false;
        ++times_;
        by_thread_.store(here, relaxed);
        frozen_.store(true, seq_cst);  // pairs with on()
        return true;
    }
    /// Undoes one take(). Returns true if it was the last one, so that the scheduler is no longer
    /// frozen. The caller must then wake the threads that rest.
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
    /// Waits until the scheduler is no longer frozen, or until `enough()` returns true. It calls
    /// `enough()` now and then.
    template <class Enough>
    void wait_until_over_or(Enough&& enough) {
        constexpr std::int64_t look_again_ns = 2'000'000;
        const locked lock(mutex_);
        while (times_ != 0 && !enough()) over_.wait_for(mutex_, look_again_ns);
    }

    // ---- questions: the freezing thread asks the others, one by one, to search their own stacks
    struct question {
        void (*look)(void* user, unsigned seat) = nullptr;
        void* user = nullptr;
    };
    /// Asks the thread of a seat to call `q.look`. `open` is that seat's flag (seats_seat::asked),
    /// and stays true until the thread has answered. Called by the thread that has frozen the
    /// scheduler, which then wakes the seat's thread. The asking thread must call withdraw() later,
    /// whether or not the question was answered.
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
        if (!open.load(relaxed)) return;  // relaxed: the lock orders it
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
