#pragma once
// Who looks for deadlocks, and when. What closes a deadlock is a thread that goes to sleep, so it
// is sleeping threads that look; there is none for that alone.
//
//   free ──► held     by a thread that goes to sleep; it wakes for the look, all others sleep on
//   held ──► far      it has looked in vain, and looks again after 2, 4, … 64 times as long
//   far  ──► held     another thread goes to sleep, so something has gone on meanwhile
//   any  ──► free     its holder was woken, or nothing is open
//
// The scheduler's own threads have one sentry and those of the program another: a thread of the
// program may leave for ever when it is woken, while one of the scheduler's sleeps again before
// everything stands still.

#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"

#include <algorithm>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

enum class looked : std::uint8_t {
    nothing_open,  // no task is: look when one is made
    in_vain,
    in_part,  // and goes on where it stopped
    woke,     // the look ended the last share of a task, and its thread has something to do
};

class sentry {
public:
    /// `no_limit`: nobody ever looks.
    explicit sentry(nanoseconds after)
        : after_(after == no_limit ? 0 : std::max<std::int64_t>(after.value, 1)) {}

    bool is_wanted() const { return after_ != 0; }

    /// The thread of that seat goes to sleep until `deadline` at most. Returns when it is to look;
    /// INT64_MAX: it is not.
    std::int64_t take(unsigned seat, std::int64_t deadline = INT64_MAX) {
        // relaxed, all of it but this: nothing is passed on but who looks, and a look reads what it
        // needs by itself. seq_cst: pairs with give_back(); see seats_room::pass_sentry_on().
        std::uint32_t seen = holder_.load(seq_cst);
        if (after_ == 0 || (seen != 0 && (seen & far_bit) == 0)) return INT64_MAX;
        // A look may run a destructor of the program, which may wait.
        if ((seen & ~far_bit) == seat + 1) return INT64_MAX;
        const std::int64_t now = active_policy::now();
        const std::int64_t latest = now + after_;
        // Where threads sleep in short pieces only, a look comes as well, at the first of them that
        // is not too short for it.
        std::int64_t due = due_.load(relaxed);
        if (due == never || due > latest) due = latest;
        due_.store(due, relaxed);
        const std::int64_t look_at = std::max(due, now + std::min(after_, shortest));
        // Too short: who sleeps longer looks.
        if (deadline < look_at) return INT64_MAX;
        if (!holder_.compare_exchange_strong(seen, seat + 1, relaxed, relaxed)) return INT64_MAX;
        distance_.store(after_, relaxed);
        return look_at;
    }
    bool is_held() const { return holder_.load(seq_cst) != 0; }
    bool is_held_by(unsigned seat) const { return (holder_.load(relaxed) & ~far_bit) == seat + 1; }
    /// By its holder, or by one who was it.
    void give_back(unsigned seat) {
        std::uint32_t seen = holder_.load(relaxed);
        if ((seen & ~far_bit) != seat + 1) return;
        holder_.compare_exchange_strong(seen, 0, seq_cst, relaxed);
    }
    /// By its holder. Returns when it is to look again; INT64_MAX: it is the holder no more.
    std::int64_t note(unsigned seat, looked what) {
        if (what == looked::nothing_open || what == looked::woke) {
            due_.store(never, relaxed);
            give_back(seat);
            return INT64_MAX;
        }
        std::int64_t distance = after_;
        if (what == looked::in_vain) {
            distance = std::min(distance_.load(relaxed) * 2, after_ * most_times);
        }
        const std::uint32_t held = distance > after_ ? (seat + 1) | far_bit : seat + 1;
        std::uint32_t seen = holder_.load(relaxed);
        if ((seen & ~far_bit) != seat + 1) return INT64_MAX;
        if (!holder_.compare_exchange_strong(seen, held, relaxed, relaxed)) return INT64_MAX;
        distance_.store(distance, relaxed);
        const std::int64_t due = active_policy::now() + distance;
        due_.store(due, relaxed);
        return due;
    }

private:
    static constexpr std::uint32_t far_bit = 1U << 31;
    static constexpr std::int64_t never = 0, most_times = 64;
    static constexpr std::int64_t shortest =
        1'000'000;  // of a sleep after which a look comes, in ns

    const std::int64_t after_;                     // ns; 0: nobody looks
    alignas(64) atomic<std::uint32_t> holder_{0};  // its seat + 1, and far_bit; 0: nobody
    atomic<std::int64_t> distance_{0}, due_{never};
};

}  // namespace detail
BRAID_NAMESPACE_END
