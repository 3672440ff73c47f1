#pragma once
// Decides which thread searches for deadlocks, and when. A deadlock is complete when the last of
// its threads goes to sleep. So sleeping threads do the search, and no thread exists for that
// alone. The thread that has to search is the holder of the sentry.
//
//   free ──► held     a thread goes to sleep; it alone will wake up to search
//   held ──► far      the holder found nothing; it searches again after 2, 4, … 64 times as long
//   far  ──► held     another thread goes to sleep, so something has run meanwhile
//   any  ──► free     the holder was woken, or no task is open
//
// The scheduler's own threads have one sentry, and the threads of the program have another one. A
// thread of the program may leave for ever when it is woken. A thread of the scheduler always
// sleeps again before everything stands still.

#include "braid/base/policy.hpp"
#include "braid/base/time.hpp"

#include <algorithm>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

enum class looked : std::uint8_t {
    nothing_open,  // no task is open; the next search is needed after one is made
    in_vain,
    in_part,  // the search stopped early or could not begin; the next one comes soon
    woke,  // a deadlock was reported, or the last share of a task ended: the thread must not sleep
};

class sentry {
public:
    /// `after` is how long a thread sleeps before it searches for deadlocks. With `no_limit` no
    /// thread ever does.
    explicit sentry(nanoseconds after)
        : after_(after == no_limit ? 0 : std::max<std::int64_t>(after.value, 1)) {}

    bool is_wanted() const { return after_ != 0; }

    /// Called when the thread of that seat goes to sleep until `deadline` at most. Makes that
    /// thread the holder if the sentry is free or far and the sleep is long enough. Returns when
    /// the thread has to search, or INT64_MAX if it does not have to.
    std::int64_t take(unsigned seat, std::int64_t deadline = INT64_MAX) {
        // seq_cst: pairs with give_back(); see seats_room::pass_sentry_on(). relaxed: all other
        // operations only decide which thread searches, and a search reads by itself what it needs.
        std::uint32_t seen = holder_.load(seq_cst);
        if (after_ == 0 || (seen != 0 && (seen & far_bit) == 0)) return INT64_MAX;
        // The holder goes to sleep during its own search, which may run a destructor of user code
        // that waits.
        if ((seen & ~far_bit) == seat + 1) return INT64_MAX;
        const std::int64_t now = active_policy::now();
        const std::int64_t latest = now + after_;
        // `due_` stays set after a sleep that was too short. So a search also happens if threads
        // only sleep for short times, namely in the first sleep that is long enough for it.
        std::int64_t due = due_.load(relaxed);
        if (due == never || due > latest) due = latest;
        due_.store(due, relaxed);
        const std::int64_t look_at = std::max(due, now + std::min(after_, shortest));
        // This sleep ends too early. Another thread that sleeps longer will search.
        if (deadline < look_at) return INT64_MAX;
        if (!holder_.compare_exchange_strong(seen, seat + 1, relaxed, relaxed)) return INT64_MAX;
        distance_.store(after_, relaxed);
        return look_at;
    }
    bool is_held() const { return holder_.load(seq_cst) != 0; }
    bool is_held_by(unsigned seat) const { return (holder_.load(relaxed) & ~far_bit) == seat + 1; }
    /// Frees the sentry if that seat still holds it. Called by the holder, or by a thread that was
    /// the holder.
    void give_back(unsigned seat) {
        std::uint32_t seen = holder_.load(relaxed);
        if ((seen & ~far_bit) != seat + 1) return;
        holder_.compare_exchange_strong(seen, 0, seq_cst, relaxed);
    }
    /// Called by the holder after a search, with its result. Returns when the holder has to search
    /// again, or INT64_MAX if it is no longer the holder.
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
    // A thread searches only after it has slept for at least this time in ns, or for `after_` if
    // that is less.
    static constexpr std::int64_t shortest = 1'000'000;

    const std::int64_t after_;                     // ns; 0 if no thread searches
    alignas(64) atomic<std::uint32_t> holder_{0};  // the holder's seat + 1, and far_bit; 0 if free
    atomic<std::int64_t> distance_{0}, due_{never};
};

}  // namespace detail
BRAID_NAMESPACE_END
