#pragma once
// Manages threads that come and go: how a thread gets a seat, for good or for one call, and which
// reserve thread runs tasks while another thread waits.

#include "core/seats/seats_room.hpp"
#include "core/seats/this_thread.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The functions that this room gets at its construction, because it cannot define them itself.
/// `make` makes a seat with the parts of all rooms, and the others are what the seats' threads run.
struct seat_plan {
    /// Makes a seat and copies the name into it. Called under the lock of seats. Returns null if
    /// there is no memory.
    seats_seat* (*make)(threads_room& in, seat_kind kind, unsigned number, const char* name);
    void (*run)(void* worker);             // entry of workers and reserve threads
    void (*run_background)(void* worker);  // entry of background threads
    void (*run_source)(void* worker);      // entry of the thread that serves events from outside
    looked (*look)(seats_seat& w);         // searches for deadlocks; called by a sleeper
};

/// Says whether a reserve thread replaces a thread that releases its permit. `started` means that a
/// reserve thread was started or woken for it. `enough` means that enough reserve threads are at
/// work already (or in waits of their own). `refused` means that no reserve thread can be had.
enum class stand_in : std::uint8_t { started, enough, refused };

/// Says why a thread needs a guest seat. `call` is for a call that does not wait, and `wait` is for
/// one that may wait. `bodies` is for a call that runs user code on the calling thread. The limit
/// `guests` does not apply to it, because that code may wait for a thread that the limit keeps out.
/// `good` is used only with a chooser, for a module's thread. The thread has the seat for as long
/// as it lives, and passes the gate like a worker.
enum class lease : std::uint8_t { call, wait, bodies, good };

class threads_room : public seats_room {
public:
    threads_room(const scheduler_options& o, const seat_plan& plan);

    // ---- the calling thread's seat (this_thread.cpp)
    /// Returns the calling thread's seat in this scheduler, or null if it has none.
    seats_seat* bound() const;
    void bind(seats_seat& w) const;
    static void unbind(seats_seat& w);
    /// Gives the seat to the calling thread, which takes part in the scheduler from now on. With a
    /// chooser, waits until the gate opens for the seat.
    void sit_down(seats_seat& w);
    void stand_up(seats_seat& w);

    // ---- seats for good (threads_room.cpp)
    /// Returns a seat of that kind for a thread that will be started: a vacant seat, or a new one.
    /// A worker gets only a seat of its number, and a main thread always a new seat. Returns null
    /// if all seats are taken or there is no memory.
    seats_seat* add_seat(seat_kind kind, unsigned number, const char* name);
    /// Returns a vacant seat of that kind for which `fits(seats_seat&)` returns true, or null if
    /// there is none.
    template <class Fits>
    seats_seat* take_vacant(seat_kind kind, Fits&& fits);
    void vacate(seats_seat& w);
    /// Starts the seat's thread. If the operating system refuses the thread, returns false and
    /// leaves the seat to the next thread of its kind.
    bool start_or_vacate(seats_seat& w);

    // ---- permits (threads_room.cpp): as many threads run as there are workers
    /// Releases the permit of a thread that is about to sleep while a task lies on its stack, and
    /// wakes or starts a reserve thread to run tasks instead. If the result is `refused`, the
    /// thread still has its permit.
    stand_in give_permit_away(seats_seat& w);
    void take_permit_back(seats_seat& w);
    std::uint32_t released_permits() const { return released_permits_.load(relaxed); }
    /// Returns true if more reserves are at work than permits are released. relaxed: a check
    /// between two tasks of a loop.
    bool too_many_reserves() const { return reserves_.load(relaxed) > released_permits(); }
    /// Called by a reserve thread. If more reserve threads are at work than permits are released,
    /// this one becomes idle. Returns true if it is idle, and must sleep until it is called.
    bool retire_reserve(seats_seat& w);
    void count_reserves(scheduler_statistics& sum) const;

    // ---- seats for a call (guests.cpp)
    /// Sets the two special guest seats. The spare seat is for calls that do not wait, when no
    /// other seat is free. The seat `post` is never leased. try_post() uses it for foreign threads.
    void set_guests(seats_seat* spare, seats_seat* post);
    /// Leases a seat for a call that does not wait. Sleeps until a seat is free.
    seats_seat* lease_guest();
    /// Leases a seat for the purpose `how`. Unlike lease_guest(), does not wait for a seat; only a
    /// lease for bodies sleeps, while foreign threads are shut out. Returns null if no seat can be
    /// had, or if scheduler_options::guests threads are inside (`bodies` and `good` ignore that).
    seats_seat* try_lease_guest(lease how);
    /// Marks a guest seat as leased and returns it. Called under the lock of without_seat(). The
    /// seat's thread then calls sit_down_as_guest() without that lock, or sit_down() if the lease
    /// is `good`. Makes a seat if none is free. Returns null as try_lease_guest() does.
    seats_seat* take_guest(lease how) BRAID_REQUIRES(without_seat().lock);
    void sit_down_as_guest(seats_seat& w);
    /// Gives back the leased seat of the calling thread, so that other threads can lease it. A seat
    /// that was leased with `good` is given back by the thread that has joined the seat's thread.
    void return_guest(seats_seat& w);
    void note_guest_waits(seats_seat& w, bool waits);
    /// Takes the seat for a try_post() of a foreign thread, without waiting. Returns null if
    /// another thread uses the seat, or if foreign threads are shut out.
    seats_seat* enter_post_seat();
    void leave_post_seat();
    /// Returns true if a thread of the program is in a call that runs tasks or waits, or has leased
    /// a seat. Without `waits_too`, returns true only if a thread without a seat of its own may
    /// make a task now: it is in try_post(), or in a call that neither runs tasks nor waits.
    bool anybody_inside(bool waits_too);

protected:
    /// Called when the thread on the spare seat is about to wait, because user code such as a
    /// destructor of a value does so. Makes another seat the spare one. If no other seat can be
    /// had, calls of foreign threads wait until that destructor has ended.
    void replace_spare(seats_seat& w);
    std::uint64_t serial_number() const { return serial_number_; }
    std::uint32_t number_in_refs() const { return static_cast<std::uint32_t>(serial_number_); }
    thread_ref ref_of(const seats_seat& w) const {
        return {w.index, w.visit.load(relaxed), number_in_refs()};
    }

private:
    /// The result of a scan of the guest seats, except the spare seat and the seat of try_post().
    struct guests_look {
        seats_seat* free = nullptr;  // the first seat that is not leased, or null
        unsigned count = 0;
        // Seats that count against the limit `guests`. Threads that only wait, and threads of
        // modules, do not count.
        unsigned inside = 0;
    };
    guests_look look_at_guests() BRAID_REQUIRES(without_seat().lock);
    /// Returns the free seat that the scan found, or a new seat. Returns null if no new seat can be
    /// had.
    seats_seat* free_guest(const guests_look& seen) BRAID_REQUIRES(without_seat().lock);
    bool is_shut_out() BRAID_REQUIRES(without_seat().lock);
    void bind_near(seats_seat& w) const;
    [[gnu::noinline]] seats_seat* find_far() const;
    bool start(seats_seat& w);
    seats_seat* call_reserve(bool& idle) BRAID_REQUIRES(reserves_mutex_);
    stand_in start_reserve();

    const seat_plan plan_;
    const std::uint64_t serial_number_;  // distinguishes schedulers at one address
    mutex seats_mutex_;                  // guards adding a seat, and seats_seat::vacant

    // The number of threads that have released their permits, and the number of reserve threads
    // that are at work instead of them.
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
