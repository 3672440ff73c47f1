#pragma once
// Threads that come and go: how one gets a seat, for good or for a call, and who stands in for one
// that waits.

#include "core/seats/seats_room.hpp"
#include "core/seats/this_thread.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// What this room is made with: how a seat with the parts of all rooms comes to be, and
/// what its thread runs.
struct seat_plan {
    /// Under the lock of seats; the name is copied. Null: no memory.
    seats_seat* (*make)(threads_room& in, seat_kind kind, unsigned number, const char* name);
    void (*run)(void* worker);             // of workers and reserves
    void (*run_background)(void* worker);  // of the background class
    void (*run_source)(void* worker);      // of what comes from outside
    looked (*look)(seats_seat& w);         // for deadlocks, by a thread that sleeps
};

/// For a thread that gives its permit away: a reserve was started or woken, there are enough of
/// them at work already (or in waits of their own), or none can be had.
enum class stand_in : std::uint8_t { started, enough, refused };

/// What a guest's seat is wanted for. `call`: it does not wait. `bodies`: the program's code runs
/// there, and may wait for anything, also for a thread that `guests` would keep out. `good`: with a
/// chooser, for a thread of a module as long as that lives; it passes the gate like a worker.
enum class lease : std::uint8_t { call, wait, bodies, good };

class threads_room : public seats_room {
public:
    threads_room(const scheduler_options& o, const seat_plan& plan);

    // ---- the calling thread's seat (this_thread.cpp)
    /// Null: it has none.
    seats_seat* bound() const;
    void bind(seats_seat& w) const;
    static void unbind(seats_seat& w);
    /// The calling thread has the seat from now on, and takes part.
    void sit_down(seats_seat& w);
    void stand_up(seats_seat& w);

    // ---- seats for good (threads_room.cpp)
    /// One whose thread left or was refused, or a new one. Null: all are taken, or no memory.
    seats_seat* add_seat(seat_kind kind, unsigned number, const char* name);
    /// One of the kind whose thread has left and that `fits(seats_seat&)`. Null: there is none.
    template <class Fits>
    seats_seat* take_vacant(seat_kind kind, Fits&& fits);
    void vacate(seats_seat& w);
    /// False: the system refused the thread, and the seat is for the next one of its kind.
    bool start_or_vacate(seats_seat& w);

    // ---- permits (threads_room.cpp): as many threads run as there are workers
    /// The thread is about to sleep with work on its stack: a reserve stands in for it.
    stand_in give_permit_away(seats_seat& w);
    void take_permit_back(seats_seat& w);
    std::uint32_t released_permits() const { return released_permits_.load(relaxed); }
    /// relaxed: a look between two tasks of a loop.
    bool too_many_reserves() const { return reserves_.load(relaxed) > released_permits(); }
    /// True: the reserve is one too many, and is to sleep until it is called.
    bool retire_reserve(seats_seat& w);
    void count_reserves(scheduler_statistics& sum) const;

    // ---- seats for a call (guests.cpp)
    /// The spare one is for calls that do not wait, when no other is free; the other is leased to
    /// nobody, for try_post() from outside.
    void set_guests(seats_seat* spare, seats_seat* post);
    /// For a call that does not wait.
    seats_seat* lease_guest();
    /// For all that may wait. Null: all are taken, and none can be had.
    seats_seat* try_lease_guest(lease how);
    /// Under the lock of without_seat(); sit_down_as_guest() follows. Null: none is free.
    seats_seat* take_guest(lease how) BRAID_REQUIRES(without_seat().lock);
    void sit_down_as_guest(seats_seat& w);
    /// A seat that was taken for good: by the thread that joined the one that had it.
    void return_guest(seats_seat& w);
    void note_guest_waits(seats_seat& w, bool waits);
    /// For try_post() from outside: waits for nothing. Null: another thread has it.
    seats_seat* enter_post_seat();
    void leave_post_seat();
    /// Threads of the program in a call that runs tasks or waits; or, without `waits_too`, those
    /// without a seat of their own that may make a task now.
    bool anybody_inside(bool waits_too);

protected:
    /// A value's destructor is about to wait on the spare seat: another one is the spare from here
    /// on. Where none can be had, calls from outside wait until the destructor has ended.
    void replace_spare(seats_seat& w);
    std::uint64_t serial_number() const { return serial_number_; }
    std::uint32_t number_in_refs() const { return static_cast<std::uint32_t>(serial_number_); }
    thread_ref ref_of(const seats_seat& w) const {
        return {w.index, w.visit.load(relaxed), number_in_refs()};
    }

private:
    /// What a walk over the guests' seats finds, but for the spare one and the one of try_post().
    struct guests_look {
        seats_seat* free = nullptr;  // the first that is leased to nobody, or null
        unsigned count = 0;
        unsigned inside = 0;  // leased by a thread that does not only wait: others must get on
    };
    guests_look look_at_guests() BRAID_REQUIRES(without_seat().lock);
    /// The one that was seen, or a new one. Returns null if there is no memory for it.
    seats_seat* free_guest(const guests_look& seen) BRAID_REQUIRES(without_seat().lock);
    bool is_shut_out() BRAID_REQUIRES(without_seat().lock);
    void bind_near(seats_seat& w) const;
    [[gnu::noinline]] seats_seat* find_far() const;
    bool start(seats_seat& w);
    seats_seat* call_reserve(bool& idle) BRAID_REQUIRES(reserves_mutex_);
    stand_in start_reserve();

    const seat_plan plan_;
    const std::uint64_t serial_number_;  // tells schedulers at one address apart
    mutex seats_mutex_;                  // adding a seat, seats_seat::vacant

    // Waiters that gave up their permit, and reserves that stand in for them.
    alignas(64) atomic<std::uint32_t> released_permits_{0};
    atomic<std::uint32_t> reserves_{0};
    mutex reserves_mutex_;
    std::uint32_t reserve_threads_ BRAID_GUARDED_BY(reserves_mutex_) = 0;
    seats_seat* idle_reserves_[sleepers::capacity] BRAID_GUARDED_BY(reserves_mutex_) = {};
    std::uint32_t idle_reserve_count_ BRAID_GUARDED_BY(reserves_mutex_) = 0;
    atomic<std::uint64_t> reserves_started_{0}, reserves_refused_{0};
    atomic<bool> warned_of_reserves_{false};

    seats_seat* spare_guest_ = nullptr;
    seats_seat* post_seat_ = nullptr;
    atomic<bool> post_taken_{false};
};

template <class Fits>
seats_seat* threads_room::take_vacant(seat_kind kind, Fits&& fits) {
    const locked lock(seats_mutex_);
    for (unsigned i = 0; i < seat_count(); ++i) {
        seats_seat& w = seat_at(i);
        if (w.kind != kind || !w.vacant || !fits(w)) continue;
        w.vacant = false;
        return &w;
    }
    return nullptr;
}

}  // namespace detail
BRAID_NAMESPACE_END
