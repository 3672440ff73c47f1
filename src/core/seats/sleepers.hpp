#pragma once
// Who sleeps, who looks for work, and whom to wake (I5).
//
//   publisher                          sleeper
//   P1 push (seq_cst)                  S1 count itself asleep, no longer searching (seq_cst)
//   P2 load the count (seq_cst)        S2 set its bit (seq_cst)
//   P3 somebody asleep, nobody         S3 look at every queue again (seq_cst)
//      searching: take a bit, wake     S4 sleep
//
// In the single order of these operations either P1 precedes S3, and the sleeper sees the task, or
// S1 and S2 precede P2 and P3, and the publisher sees the sleeper. A publisher that leaves the
// work to a searching thread is right too: that thread either sees the task, or looks once more
// after its search (end_search() says when it must) before it goes on.
//
// Two kinds of thread sleep and search. One that is idle runs whatever it finds. One that waits
// runs only what its wait needs: it is woken last, and work that it leaves is left to others only
// if one of them is an idle one that searches. Otherwise waiters would trust each other for ever.

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

    /// P2. One load of a line that changes only when somebody falls asleep or wakes.
    bool should_wake() const {
        const std::uint32_t word = word_.load(seq_cst);
        return (word & asleep_mask) != 0 && searching(word) <= 0;
    }
    bool anybody_asleep() const { return (word_.load(seq_cst) & asleep_mask) != 0; }
    bool anybody_searching() const { return searching(word_.load(seq_cst)) > 0; }
    /// Somebody searches who runs whatever is found.
    bool idle_one_searching() const { return idle_searching(word_.load(seq_cst)); }

    /// A thread of `kind` that sleeps, or `capacity`; take() it before you wake it.
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
    /// Takes the bit of one sleeper, counted as searching from here on; the caller wakes it.
    /// False: it did not sleep.
    bool take(unsigned seat) {
        if (!clear(idle_, seat) && !clear(waiting_, seat)) return false;
        word_.fetch_add(searching_one - asleep_one, seq_cst);
        return true;
    }

    /// S1 to S4. `look()` says whether anything wants this thread; only when not, `sleep()` is
    /// called. `now`: what the caller is counted as. Returns what it is counted as from here on:
    /// `kind` if it was woken to look, or saw something that a publisher may have left to it. It
    /// then owes an end_search().
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
    /// True: look whether there is work for another one, there may be nobody else who does.
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
    /// Never more than there are: take() counts a thread only after its bit is gone, so one that is
    /// quick may have ended its search by then, and the count is below 0 for a moment.
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
        // Most are awake: a look first costs nothing but is no proof of being first.
        if ((masks[seat / 64].load(seq_cst) & bit(seat)) == 0) return false;
        return (masks[seat / 64].fetch_and(~bit(seat), seq_cst) & bit(seat)) != 0;
    }

    /// S1, S2.
    void announce(unsigned seat, searcher kind, searcher now) {
        // The count goes up before the bit appears and down after it is gone, so it never wraps.
        const std::uint32_t before = now == searcher::none ? 0 : one(now);
        word_.fetch_add(asleep_one - before, seq_cst);
        masks(kind)[seat / 64].fetch_or(bit(seat), seq_cst);
    }
    /// The sleeper is up. True: on its own account; false: somebody took its bit and has
    /// counted it as searching.
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
