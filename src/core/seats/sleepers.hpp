#pragma once
// Records which threads sleep and which search for work, so that a publisher knows which thread to
// wake (I5).
//
//   publisher                          sleeper
//   P1 push (seq_cst)                  S1 count itself asleep, no longer searching (seq_cst)
//   P2 load the count (seq_cst)        S2 set its bit (seq_cst)
//   P3 if a thread is asleep and no    S3 look at every queue again (seq_cst)
//      thread searches: take a bit,    S4 sleep
//      and wake that thread
//
// In the single order of these operations either P1 precedes S3, and the sleeper sees the task, or
// S1 and S2 precede P2 and P3, and the publisher sees the sleeper. A publisher may also leave the
// work to a searching thread. That thread either sees the task, or looks once more after its search
// before it goes on (end_search() says when it must).
//
// Two kinds of thread sleep and search. An idle thread runs whatever it finds. A waiter runs only
// what its wait needs. A waiter is woken last, and it leaves work to other searching threads only
// if one of them is idle. Otherwise waiters would rely on each other for ever.

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

    /// Performs step P2. Returns true if a thread sleeps and no thread searches. This is one load
    /// of a cache line that changes only when a thread falls asleep, wakes, or starts or ends a
    /// search.
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
    /// Takes the bit of one sleeper, which counts as searching from then on. The caller then wakes
    /// the sleeper. Returns false if that thread does not sleep.
    bool take(unsigned seat) {
        if (!clear(idle_, seat) && !clear(waiting_, seat)) return false;
        word_.fetch_add(searching_one - asleep_one, seq_cst);
        return true;
    }

    /// Performs S1 to S4. `look()` returns true if anything wants this thread, and `sleep()` is
    /// called only if nothing does. `now` is what the caller counts as before the call. Returns
    /// what the caller counts as afterwards. This is `kind` if the caller was woken to search, or
    /// if it saw something that a publisher may have left to it. The caller then owes an
    /// end_search().
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
            word_.fetch_add(waiter_one, seq_cst);  // take() has counted it as idle
        }
        return kind;
    }

    void begin_search(searcher kind) { word_.fetch_add(one(kind), seq_cst); }
    /// Ends a search. Returns true if the caller must check whether there is work for another
    /// thread, because perhaps no other thread does so.
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
    /// Returns the number of threads that search, or less. take() counts a thread only after its
    /// bit is gone. A quick thread may have ended its search by then, and the count is below 0 for
    /// a moment.
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
        // Most threads are awake, so this load saves most exchanges. The load does not prove that
        // the caller is the first to take the bit.
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
    /// Called by the sleeper when it is awake. Returns true if the sleeper woke by itself, and
    /// false if another thread took its bit and counts it as searching.
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
