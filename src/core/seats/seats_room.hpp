#pragma once
// Threads and their seats: who there is, who may run, who sleeps under which key, who is woken.

#include "base/condition.hpp"
#include "core/seats/freezer.hpp"
#include "core/seats/parking_lot.hpp"
#include "core/seats/placement_room.hpp"
#include "core/seats/sentry.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::uint16_t no_seat = UINT16_MAX;  // of a thread that waits without one

enum class life : std::uint8_t { running, draining, discarding, closed };

class seats_room : public placement_room {
public:
    explicit seats_room(const scheduler_options& o)
        : placement_room(o), own_sentry_(o.deadlock.after), sentry_of_program_(o.deadlock.after) {}

    // ---- who there is
    unsigned seat_count() const { return seat_count_.load(acquire); }  // pairs with add_to_seats()
    seats_seat& seat_at(unsigned index) const { return *seats_[index].load(acquire); }
    /// By the thread that makes seats, one at a time. False: all are taken.
    bool has_room_for_a_seat() const { return seat_count() != sleepers::capacity; }
    void add_to_seats(seats_seat& w);
    /// The thread that a reference names takes part still.
    bool is_present(thread_ref thread) const;
    scheduler_statistics totals() const;

    // ---- who may run
    /// How far the scheduler's life has come.
    life phase(std::memory_order order = acquire) const { return phase_.load(order); }
    void advance_phase(life to);
    std::uint64_t phase_key() const { return own_key(&phase_); }
    freezer& frozen() { return frozen_; }
    const freezer& frozen() const { return frozen_; }
    /// The seat's thread, which rests or is about to.
    void answer_if_asked(seats_seat& w) {
        // relaxed: a thread that is asked is woken afterwards, and looks again.
        if (w.asked.load(relaxed)) frozen_.answer(w.index, w.asked);
    }

    // ---- who sleeps
    sleepers& asleep() { return asleep_; }
    const sleepers& asleep() const { return asleep_; }
    parking_lot& lot() { return lot_; }
    /// The thread sleeps until notify() or `deadline`; `waits`: within a wait, not for want of
    /// work. False: out of time.
    bool park(seats_seat& w, std::int64_t deadline, bool waits);
    /// A thread of the program's that was the sentry leaves its wait, perhaps for ever. Where the
    /// scheduler has no thread of its own nobody would look any more, so another one of the
    /// program's is woken: it looks from its next sleep on.
    void pass_sentry_on(seats_seat& from);
    void notify(unsigned seat);
    /// Everybody who sleeps under `key`.
    void notify_all_at(std::uint64_t key);
    /// `asks`: a chooser, who is woken; else the first one. False: nobody sleeps.
    bool wake_one(bool waiters_too = true, bool asks = true);
    void wake_seat(unsigned seat);
    /// Threads without a seat sleep under this lock; who ends a wait without a seat, and who
    /// returns a seat, notify under it.
    struct unseated {
        basic_mutex<active_policy> lock;
        basic_condition<active_policy> returned;
        // They wait where they would make a task, all but the one that has frozen the scheduler.
        // Set under the lock; seq_cst, as try_post() looks at it without.
        atomic<bool> shut_out{false};
    };
    unseated& without_seat() { return unseated_; }

protected:
    /// What a sentry calls to look for deadlocks. Before the first thread sleeps.
    void set_look(looked (*look)(seats_seat& w)) { look_ = look; }

private:
    bool rest(seats_seat& w, std::int64_t deadline, bool waits);
    unsigned choose_sleeper(bool waiters_too, bool asks);

    parking_lot lot_;
    sleepers asleep_;
    atomic<std::uint64_t> wakes_{0};  // on the line of those who sleep, not of what all read
    // Read-mostly line.
    alignas(64) atomic<std::uint32_t> seat_count_{0};
    atomic<seats_seat*> seats_[sleepers::capacity]{};
    atomic<life> phase_{life::running};
    freezer frozen_;
    unseated unseated_;
    looked (*look_)(seats_seat& w) = nullptr;
    sentry own_sentry_, sentry_of_program_;
};

}  // namespace detail
BRAID_NAMESPACE_END
