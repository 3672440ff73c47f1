#pragma once
// On which cores threads run, as far as the scheduler has a say.

#include "base/parker.hpp"
#include "base/platform/platform.hpp"
#include "base/topology.hpp"
#include "core/report/policies.hpp"
#include "core/seats/gate.hpp"
#include "core/seats/sleepers.hpp"
#include "core/task/outcome_room.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The seat's part of this room: the thread that has it, and how it sleeps.
struct seats_seat : task_seat {
    using task_seat::task_seat;

    // ---- the seat's thread only, or fixed ----
    alignas(64) std::uint16_t number = 0;  // among its kind
    std::uint64_t mask = 0;                // its bit in task_options::workers
    std::uintptr_t stack_low = 0;
    std::int64_t woke = INT64_MAX;  // INT64_MAX: long ago, or on any core; see go_anywhere()
    searcher search = searcher::none;
    bool permit_released = false;
    bool outside_gate = false;  // in a blocking region, with a chooser; always for try_post()'s
    bool looks = false;         // as of gate::rest
    bool was_sentry = false;    // since its last sleep; see pass_sentry_on()
    bool leased = false;        // guest seats; guarded by without_seat().lock,
    bool waits = false;         // and this one too,
    bool for_good = false;      // and this: see lease::good
    bool spare = false;         // it is the spare one; of the thread that has leased it
    // Its main thread has left, or the system refused its thread; guarded by the lock of seats.
    bool vacant = false;
    bool was_refused = false;  // said once
    platform::thread_request request{};
    platform::thread_handle thread = 0;

    // ---- anybody ----
    alignas(64) basic_parker<active_policy> park;
    mutex cores_mutex;
    std::uint32_t thread_number BRAID_GUARDED_BY(cores_mutex) = 0;  // the system's
    // That the thread may run on, when it last fell asleep.
    platform::core_set cores BRAID_GUARDED_BY(cores_mutex);
    // One of them, set by the thread that woke it; see keep_apart().
    std::uint32_t kept_off BRAID_GUARDED_BY(cores_mutex) = UINT32_MAX;
    atomic<std::uint32_t> core{UINT32_MAX};  // where it ran lately; a hint for thieves
    atomic<bool> at_rest{true};
    atomic<bool> looking{false};          // for standstills, while it is at rest; relaxed: a hint
    atomic<std::int64_t> expected_at{0};  // what it knew of expect_work() when it fell asleep
    atomic<std::uint16_t> visit{0};       // tells threads apart that register at one seat in turn
    atomic<std::uint64_t> bound_to{0};    // which thread has the seat; see bind()
    atomic<bool> gone{false};             // a main thread that has left
    atomic<bool> inside{false};           // a thread of the program in a call that runs tasks
    atomic<bool> asked{false};            // is to answer freezer::asked(), and says so by false
    atomic<bool> blocks{false};           // in blocking(); see wait_loop::nobody_else_runs()
};

/// A thread of the scheduler's own, not of the program's.
inline bool is_own(const report_seat& w) {
    return w.kind == seat_kind::worker || w.kind == seat_kind::reserve ||
           w.kind == seat_kind::background;
}

class placement_room : public outcome_room {
public:
    explicit placement_room(const scheduler_options& o);
    ~placement_room();

    /// Cores that the program may use; at least 1.
    unsigned cores() const { return cores_; }
    unsigned active_workers(std::memory_order order = acquire) const {
        return active_workers_.load(order);
    }
    void set_active_workers(unsigned count) { active_workers_.store(count, release); }
    /// The serial gate: with a chooser only.
    gate* serial() const { return serial_; }

    /// Null: with two processors there is nothing to choose, or it is not known yet.
    const topology* places() const { return places_.load(acquire); }  // pairs with set_places()
    void find_places(const topology* machine);
    void set_places(const topology* machine) { places_.store(machine, release); }  // with places()
    /// -1: the thread is not pinned.
    int core_to_pin_to(const seats_seat& w) const;
    /// For thieves, who find it a little later, too.
    void note_core(seats_seat& w) const {
        if (places_.load(relaxed) != nullptr) w.core.store(platform::current_core(), relaxed);
    }

    // ---- policy/keep_apart.cpp
    void keep_apart(seats_seat& sleeper) const;
    /// Before the thread announces its sleep.
    void before_sleep(seats_seat& w) const {
        if constexpr (policies::keep_apart) note_cores(w);
    }
    /// After each task of a loop: once the thread has run for a while it goes where it likes.
    static void settle(seats_seat& w) {
        constexpr std::int64_t settled_ns = 1'000'000;
        if constexpr (policies::keep_apart) {
            if (w.stamp - w.woke > settled_ns) go_anywhere(w);
        }
    }

private:
    void note_cores(seats_seat& w) const;
    static void go_anywhere(seats_seat& w);
    bool may_be_moved(const seats_seat& w) const;

    gate* serial_ = nullptr;
    const unsigned cores_;
    atomic<unsigned> active_workers_{0};
    atomic<const topology*> places_{nullptr};
    platform::core_set creators_cores_;  // to pin to
};

}  // namespace detail
BRAID_NAMESPACE_END
