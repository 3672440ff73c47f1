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
// work to a searching thread is right too: that thread either sees the task, or was the last to
// search, and then looks once more (end_search() says so) before it goes on.

#include "braid/base/policy.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

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

    /// S1, S2. `searching`: the caller was counted as searching and is so no more.
    void announce(unsigned seat, bool searching) {
        // The count goes up before the bit appears and down after it is gone, so it never wraps.
        word_.fetch_add(searching ? asleep_one - searching_one : asleep_one, seq_cst);
        mask_[seat / 64].fetch_or(bit(seat), seq_cst);
    }
    /// The sleeper is up. True: on its own account; false: somebody took its bit and has
    /// counted it as searching.
    bool withdraw(unsigned seat) {
        if ((mask_[seat / 64].fetch_and(~bit(seat), seq_cst) & bit(seat)) == 0) return false;
        word_.fetch_sub(asleep_one, seq_cst);
        return true;
    }
    /// Takes the bit of one sleeper, counted as searching from here on; the caller wakes it.
    /// False: it did not sleep.
    bool take(unsigned seat) {
        if ((mask_[seat / 64].fetch_and(~bit(seat), seq_cst) & bit(seat)) == 0) return false;
        word_.fetch_add(searching_one - asleep_one, seq_cst);
        return true;
    }
    bool asleep(unsigned seat) const { return (mask_[seat / 64].load(seq_cst) & bit(seat)) != 0; }

    /// S1 to S4. `look()` tells whether anything wants this thread; only when not, `sleep()` is
    /// called. `searching`: the caller was counted so. True: it is counted so now, and owes an
    /// end_search(): it was woken to look, or saw something that a publisher may have left to it.
    template <class Look, class Sleep>
    bool rest(unsigned seat, bool searching, Look&& look, Sleep&& sleep) {
        announce(seat, searching);
        if (!look()) {
            sleep();
            return !withdraw(seat);
        }
        if (withdraw(seat)) begin_search();
        return true;
    }

    void begin_search() { word_.fetch_add(searching_one, seq_cst); }
    /// True: this was the last searching thread; look whether there is work for another one.
    bool end_search() { return searching(word_.fetch_sub(searching_one, seq_cst)) <= 1; }

private:
    static constexpr std::uint32_t asleep_one = 1, asleep_mask = 0xffff, searching_one = 1 << 16;
    /// Never more than there are: take() counts a thread only after its bit is gone, so one that is
    /// quick may have ended its search by then, and the count is below 0 for a moment.
    static constexpr std::int32_t searching(std::uint32_t word) {
        return static_cast<std::int32_t>(word) >> 16;
    }
    static constexpr std::uint64_t bit(unsigned seat) { return std::uint64_t{1} << (seat % 64); }

    alignas(64) atomic<std::uint32_t> word_{0};
    atomic<std::uint64_t> mask_[words]{};
};

using sleepers = basic_sleepers<active_policy>;

}  // namespace detail
BRAID_NAMESPACE_END
