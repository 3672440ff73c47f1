#pragma once
// Decides on which cores threads run, where the scheduler and not the operating system decides
// that: it pins workers, and keeps a woken thread off its waker's core.

#include "base/parker.hpp"
#include "base/platform/platform.hpp"
#include "base/topology.hpp"
#include "core/report/policies.hpp"
#include "core/seats/sleepers.hpp"
#include "core/task/task_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The part of a seat that says which thread has the seat, and how that thread sleeps.
struct seats_seat : task_seat {
    using task_seat::task_seat;

    // ---- used by the seat's thread only, or constant ----
    alignas(64) std::uint16_t number = 0;  // number among the seats of this kind
    std::uint64_t mask = 0;                // the worker's bit in task_options::workers
    std::uintptr_t stack_low = 0;
    // The time at which the thread last woke. INT64_MAX means that settle() has nothing to do; see
    // go_anywhere().
    std::int64_t woke = INT64_MAX;
    searcher search = searcher::none;
    bool permit_released = false;
    bool outside_gate = false;  // with a chooser: in a blocking region, or the seat of try_post()
    bool looks = false;         // see gate::rest::looks
    bool was_sentry = false;    // the thread was the sentry; cleared by pass_sentry_on()
    // The next three members are for guest seats, and are guarded by without_seat().lock. The
    // source thread sets `leased`, too, while it serves a batch.
    bool leased = false;    // a thread has leased the seat
    bool waits = false;     // that thread sleeps in a wait
    bool for_good = false;  // see lease::good
    bool spare = false;     // this is the spare seat; only for the thread that has leased it
    // The seat has no thread: its main thread has left, or the system refused to start the thread.
    // Guarded by the lock of seats.
    bool vacant = false;
    bool was_refused = false;  // the log has reported the refusal
    platform::thread_request request{};
    platform::thread_handle thread = 0;

    // ---- used by any thread ----
    alignas(64) basic_parker<active_policy> park;
    mutex cores_mutex;
    // The operating system's number of the thread.
    std::uint32_t thread_number BRAID_GUARDED_BY(cores_mutex) = 0;
    // The cores on which the thread was allowed to run when it last fell asleep.
    platform::core_set cores BRAID_GUARDED_BY(cores_mutex);
    // The core of `cores` that the thread is kept off, or UINT32_MAX. Set by the thread that woke
    // it; see keep_apart().
    std::uint32_t kept_off BRAID_GUARDED_BY(cores_mutex) = UINT32_MAX;
    atomic<std::uint32_t> core{UINT32_MAX};  // the thread's last known core; a hint for thieves
    atomic<bool> at_rest{true};
    // True while the thread searches for deadlocks between two rests. relaxed: a hint for class
    // standstill.
    atomic<bool> looking{false};
    atomic<std::int64_t> expected_at{0};  // the time of expect_work() that the thread knows
    atomic<std::uint16_t> visit{0};       // distinguishes the seat's successive threads
    atomic<std::uint64_t> bound_to{0};    // serial number of the seat's thread; see bind()
    atomic<bool> gone{false};             // the main thread of this seat has left
    atomic<bool> inside{false};           // a thread of the program runs tasks or waits here
    atomic<bool> asked{false};            // the thread must answer freezer::ask(), and clears this
    atomic<bool> blocks{false};           // in blocking(); see wait_loop::nobody_else_runs()
};

/// Returns true for threads of the scheduler that run tasks. Returns false for threads of the
/// program and for the source thread.
inline bool is_own(const task_seat& w) {
    return w.kind == seat_kind::worker || w.kind == seat_kind::reserve ||
           w.kind == seat_kind::background;
}

class placement_room : public task_room {
public:
    explicit placement_room(const scheduler_options& o);

    /// Returns the number of cores that the program may use, at least 1.
    unsigned cores() const { return cores_; }
    unsigned active_workers(std::memory_order order = acquire) const {
        return active_workers_.load(order);
    }
    void set_active_workers(unsigned count) { active_workers_.store(count, release); }

    /// Returns the machine's topology, that is, which cores lie close together. Returns null if it
    /// is not known yet, or if there are at most two cores, so that there is nothing to choose.
    const topology* places() const { return places_.load(acquire); }  // pairs with set_places()
    void find_places(const topology* machine);
    // release: pairs with places().
    void set_places(const topology* machine) { places_.store(machine, release); }
    /// Returns the core to which the seat's thread is pinned, or -1 if it is not pinned.
    int core_to_pin_to(const seats_seat& w) const;
    /// Records for thieves on which core the calling thread, which has this seat, runs. relaxed:
    /// thieves may see it a little later.
    void note_core(seats_seat& w) const {
        if (places_.load(relaxed) != nullptr) w.core.store(platform::current_core(), relaxed);
    }

    // ---- policy/keep_apart.cpp
    void keep_apart(seats_seat& sleeper) const;
    /// Called before the thread announces its sleep.
    void before_sleep(seats_seat& w) const {
        if constexpr (policies::keep_apart) note_cores(w);
    }
    /// Called by the seat's thread between the tasks of a loop. Once the thread has run for a
    /// while, it may use any of its cores again.
    static void settle(seats_seat& w) {
        constexpr std::int64_t settled_ns = 1'000'000;
        if constexpr (policies::keep_apart) {
            if (w.report.stamp - w.woke > settled_ns) go_anywhere(w);
        }
    }

private:
    void note_cores(seats_seat& w) const;
    static void go_anywhere(seats_seat& w);
    bool may_be_moved(const seats_seat& w) const;

    const unsigned cores_;
    atomic<unsigned> active_workers_{0};
    atomic<const topology*> places_{nullptr};
    platform::core_set creators_cores_;  // the cores to which workers are pinned
};

}  // namespace detail
BRAID_NAMESPACE_END
