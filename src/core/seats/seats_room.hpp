#pragma once
// Manages the seats of threads. It records which threads exist, which of them may run, and under
// which keys they sleep, and it wakes them.

#include "base/condition.hpp"
#include "core/seats/freezer.hpp"
#include "core/seats/parking_lot.hpp"
#include "core/seats/placement_room.hpp"
#include "core/seats/sentry.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::uint16_t no_seat = UINT16_MAX;  // for a thread that waits without a seat

enum class life : std::uint8_t { running, draining, discarding, closed };

class seats_room : public placement_room {
public:
    explicit seats_room(const scheduler_options& o)
        : placement_room(o), own_sentry_(o.deadlock.after), sentry_of_program_(o.deadlock.after) {}

    // ---- which threads exist
    unsigned seat_count() const { return seat_count_.load(acquire); }  // pairs with add_to_seats()
    seats_seat& seat_at(unsigned index) const { return *seats_[index].load(acquire); }
    /// Returns false if all seats are taken. Called by the thread that makes seats; only one thread
    /// does so at a time.
    bool has_room_for_a_seat() const { return seat_count() != sleepers::capacity; }
    void add_to_seats(seats_seat& w);
    /// Returns true if the thread that `thread` names still has its seat in this scheduler.
    bool is_present(thread_ref thread) const;
    scheduler_statistics totals() const;

    // ---- which threads may run
    /// Returns the current phase of the scheduler's life.
    life phase(std::memory_order order = acquire) const { return phase_.load(order); }
    void advance_phase(life to);
    std::uint64_t phase_key() const { return own_key(&phase_); }
    freezer& frozen() { return frozen_; }
    const freezer& frozen() const { return frozen_; }
    /// Answers the question that the freezing thread asks this seat (freezer::ask()), if there is
    /// one. Called by the seat's thread while it rests, or when it is about to rest.
    void answer_if_asked(seats_seat& w) {
        // relaxed: the asking thread notifies this thread after it has set the flag, and then this
        // thread checks the flag again.
        if (w.asked.load(relaxed)) frozen_.answer(w.index, w.asked);
    }

    // ---- which threads sleep
    sleepers& asleep() { return asleep_; }
    const sleepers& asleep() const { return asleep_; }
    parking_lot& lot() { return lot_; }
    /// Sleeps until notify() or `deadline`, and may search for deadlocks meanwhile. `waits` is true
    /// if the thread sleeps within a wait, and false if it has no work. Returns false if the
    /// deadline passed.
    bool park(seats_seat& w, std::int64_t deadline, bool waits);
    /// Called when a thread of the program that was the sentry leaves its wait, perhaps for ever.
    /// If none of the scheduler's own threads searches for deadlocks, no thread would do so any
    /// more. So this wakes another sleeping thread of the program, which takes the sentry at its
    /// next sleep.
    void pass_sentry_on(seats_seat& from);
    void notify(unsigned seat);
    /// Wakes all threads that sleep under `key`.
    void notify_all_at(std::uint64_t key);
    /// Wakes one sleeping thread. This may be a waiter only if `waiters_too` is true. If `asks` is
    /// true and there is a chooser, the chooser decides which thread is woken. Returns false if no
    /// such thread sleeps.
    bool wake_one(bool waiters_too = true, bool asks = true);
    void wake_seat(unsigned seat);
    /// Threads without a seat sleep here, in their waits or until a seat is free. `returned` is
    /// notified under the lock when the wait of such a thread ends, and when a seat is returned.
    struct unseated {
        basic_mutex<active_policy> lock;
        basic_condition<active_policy> returned;
        // While this is set, threads without a seat wait at the point where they would make a task,
        // except the thread that has frozen the scheduler. Set under the lock. seq_cst: try_post()
        // reads it without the lock.
        atomic<bool> shut_out{false};
    };
    unseated& without_seat() { return unseated_; }

protected:
    /// Sets the function that searches for deadlocks. Called before the first thread sleeps.
    void set_look(looked (*look)(seats_seat& w)) { look_ = look; }

private:
    bool rest(seats_seat& w, std::int64_t deadline, bool waits);
    unsigned choose_sleeper(bool waiters_too, bool asks);

    parking_lot lot_;
    sleepers asleep_;
    atomic<std::uint64_t> wakes_{0};  // not on the read-mostly cache line
    // The read-mostly cache line.
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
