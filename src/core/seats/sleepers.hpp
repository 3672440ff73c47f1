#pragma once
// Records which threads sleep and which search for work. A thread that publishes work (the
// publisher) reads here whether it must wake another thread, and which one (I5).
//
//   publisher                          sleeper
//   P1 push (seq_cst)                  S1 count itself asleep, no longer searching (seq_cst)
//   P2 load the count (seq_cst)        S2 set its bit (seq_cst)
//   P3 if a thread is asleep and no    S3 check every queue again (seq_cst)
//      thread searches: take a bit,    S4 sleep
//      and wake that thread
//
// All these operations are seq_cst, so they have one total order. Either P1 precedes S3, and the
// sleeper sees the task, or S1 and S2 precede P2 and P3, and the publisher sees the sleeper. If
// some thread searches already, the publisher wakes nobody. The searching thread then either finds
// the task, or checks the queues once more after its search, if end_search() returns true.
//
// Two kinds of threads sleep and search. An idle thread runs any task that it finds. A waiter runs
// only tasks that its wait needs. So a waiter is woken only if no idle thread sleeps. A waiter that
// ends its search leaves work to the other searching threads only if one of them is idle. Otherwise
// waiters could rely on each other for ever.

#include "braid/base/policy.hpp"

#include <bit>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

enum class searcher : std::uint8_t { none, idle, waiter };

template <class Policy>
class basic_sleepers {
    template <class T>
    using atomic = typename Policy::template atomic<T>;

public:
    static constexpr unsigned words = 4, capacity = words * 64;

    /// Performs step P2. Returns true if a thread sleeps and no thread searches, so that the
    /// publisher must wake one. This is one load of a cache line that changes only when a thread
    /// falls asleep, wakes, or starts or ends a search.
    bool should_wake() const {
        const std::uint32_t word = word_.load(seq_cst);
        return (word & asleep_mask) != 0 && searching(word) <= 0;
    }
    bool anybody_asleep() const { return (word_.load(seq_cst) & asleep_mask) != 0; }
    bool anybody_searching() const { return searching(word_.load(seq_cst)) > 0; }
    /// Returns true if an idle thread searches. An idle thread runs whatever it finds.
    bool idle_one_searching() const { return idle_searching(word_.load(seq_cst)); }

    /// Returns the seat of a sleeping thread of `kind`, or `capacity` if there is none. Call take()
    /// before you wake that thread.
    unsigned first_asleep(searcher kind) const {
        for (unsigned i = 0; i < words; ++i) {
            const std::uint64_t mask = masks(kind)[i].load(seq_cst);
            if (mask != 0) return i * 64 + static_cast<unsigned>(std::countr_zero(mask));
        }
        return capacity;
    }
    bool asleep(unsigned seat, searcher kind) const {
        return (masks(kind)[seat / 64].load(seq_cst) & bit(seat)) != 0;
    }
    /// Clears the bit of one sleeper, which counts as searching from then on. The caller must then
    /// wake that thread. Returns false if the thread does not sleep, or if another thread has taken
    /// its bit.
    bool take(unsigned seat) {
        if (!clear(idle_, seat) && !clear(waiting_, seat)) return false;
        word_.fetch_add(searching_one - asleep_one, seq_cst);
        return true;
    }

    /// Performs S1 to S4 for the calling thread. `look()` is the check of S3. It returns true if
    /// there is anything for this thread to do. `sleep()` is called only if `look()` returned
    /// false. `now` says how the caller counts before the call: as a searching thread of some kind,
    /// or not at all.
    /// Returns how the caller counts afterwards. The result is `kind` if another thread took the
    /// caller's bit, or if `look()` returned true, because publishers may have left work to the
    /// caller. The caller must then call end_search() later. Otherwise the result is `none`.
    template <class Look, class Sleep>
    searcher rest(unsigned seat, searcher kind, searcher now, Look&& look, Sleep&& sleep) {
        announce(seat, kind, now);
        const bool slept = !look();
        if (slept) sleep();
        const bool taken = !withdraw(seat, kind);
        if (!taken && slept) return searcher::none;
        if (!taken) {
            begin_search(kind);
        } else if (kind == searcher::waiter) {
            word_.fetch_add(waiter_one, seq_cst);  // take() counts each thread as idle
        }
        return kind;
    }

    void begin_search(searcher kind) { word_.fetch_add(one(kind), seq_cst); }
    /// Ends the caller's search. Returns true if the caller must check the queues once more, and
    /// wake another thread if it sees work, because perhaps no other searching thread will find
    /// that work.
    bool end_search(searcher kind) {
        const std::uint32_t word = word_.fetch_sub(one(kind), seq_cst) - one(kind);
        return kind == searcher::waiter ? !idle_searching(word) : searching(word) <= 0;
    }

private:
    static constexpr std::uint32_t asleep_one = 1, asleep_mask = 0x3ff;
    static constexpr std::uint32_t waiter_one = 1 << 10, searching_one = 1 << 20;
    static constexpr std::uint32_t one(searcher kind) {
        return kind == searcher::waiter ? searching_one + waiter_one : searching_one;
    }
    /// Returns the number of searching threads, or less for a moment. take() counts a thread as
    /// searching only after it has cleared the thread's bit. If the thread has woken and ended its
    /// search before that, the number may be below 0.
    static constexpr std::int32_t searching(std::uint32_t word) {
        return static_cast<std::int32_t>(word) >> 20;
    }
    static constexpr bool idle_searching(std::uint32_t word) {
        return searching(word) > static_cast<std::int32_t>(word >> 10 & 0x3ff);
    }
    static constexpr std::uint64_t bit(unsigned seat) { return std::uint64_t{1} << (seat % 64); }

    using mask_words = atomic<std::uint64_t>[words];
    mask_words& masks(searcher kind) { return kind == searcher::waiter ? waiting_ : idle_; }
    const mask_words& masks(searcher kind) const {
        return kind == searcher::waiter ? waiting_ : idle_;
    }
    bool clear(mask_words& masks, unsigned seat) {
        // Most threads are awake, so this load avoids most of the atomic exchanges. The load alone
        // does not prove that the caller is the first to take the bit.
        if ((masks[seat / 64].load(seq_cst) & bit(seat)) == 0) return false;
        return (masks[seat / 64].fetch_and(~bit(seat), seq_cst) & bit(seat)) != 0;
    }

    /// Performs S1 and S2.
    void announce(unsigned seat, searcher kind, searcher now) {
        // The count goes up before the bit appears and down after it is gone, so it never wraps.
        const std::uint32_t before = now == searcher::none ? 0 : one(now);
        word_.fetch_add(asleep_one - before, seq_cst);
        masks(kind)[seat / 64].fetch_or(bit(seat), seq_cst);
    }
    /// Called by the sleeper when it is awake. Returns true if the sleeper still had its bit, so it
    /// woke by itself or did not sleep. Returns false if another thread took the bit, and so counts
    /// the sleeper as searching.
    bool withdraw(unsigned seat, searcher kind) {
        if (!clear(masks(kind), seat)) return false;
        word_.fetch_sub(asleep_one, seq_cst);
        return true;
    }

    alignas(64) atomic<std::uint32_t> word_{0};
    mask_words idle_{}, waiting_{};
};

using sleepers = basic_sleepers<active_policy>;

}  // namespace detail
BRAID_NAMESPACE_END
