#pragma once
// The serial gate lets one thread run at a time. It exists only with a chooser. Each thread that
// takes part runs only while the gate is open for its seat. Where the thread would sleep, or where
// the chooser says so, the gate opens for another seat.

#include "base/parker.hpp"
#include "braid/base/handlers.hpp"
#include "braid/base/mutex.hpp"
#include "braid/core/decision.hpp"
#include "core/serial/ready_choices.hpp"

#include <bitset>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class gate {
public:
    static constexpr unsigned capacity = 256;

    gate(chooser& c, const log_handler& log, const char* name, accounted_memory& memory)
        : chooser_(c), log_(log), name_(name), ready_(memory) {}

    /// Lets the seat take part from now on, so that the gate can open for it, even before the
    /// seat's thread has called await_gate(). Any thread may call this.
    void add(unsigned seat);
    /// Waits until the gate opens for the seat. Called by the seat's thread.
    void await_gate(unsigned seat);
    /// Calls add() and then await_gate().
    void enter(unsigned seat) {
        add(seat);
        await_gate(seat);
    }
    /// Ends the seat's part in the gate. If the gate was open for the seat, it opens for another
    /// one. Called by the seat's thread, or by the thread that could not start the seat's thread.
    void leave(unsigned seat);

    struct rest {
        std::int64_t deadline = INT64_MAX;  // on the virtual clock; INT64_MAX means none
        bool looks = false;  // the thread wakes to look for work once no other can go on
        bool waits = false;  // the thread sleeps within a wait, not for want of work
    };
    /// Sleeps as parker::park() does, and opens the gate for another seat. Returns false if the
    /// time ran out, or if the thread was woken because of `rest::looks`.
    bool block(unsigned seat, const rest& how);
    /// Wakes the seat's thread as parker::notify() does; the thread runs when the gate opens for
    /// its seat. Any thread may call this.
    void unblock(unsigned seat);
    /// Lets the chooser decide whether another thread goes on instead of this one. Called by the
    /// running thread.
    void preempt(unsigned seat);

    /// Returns the virtual clock, in ns. The clock stands still until a choice lets a deadline
    /// pass. Called by the thread for which the gate is open.
    std::int64_t now() const {
        const locked lock(mutex_);
        return now_;
    }

    /// Asks the chooser, unless there is only one alternative. The gate must be open for the
    /// caller.
    std::size_t choose(decision_kind kind, const alternative* list, std::size_t count) {
        return count < 2 ? 0 : chooser_.choose(kind, list, count);
    }
    /// Counts a thread that came to the scheduler at a moment that no chooser decides. Any thread
    /// may call this, also in a signal handler.
    void note_unchosen() { unchosen_.fetch_add(1, relaxed); }  // relaxed: a count
    std::uint64_t unchosen() const { return unchosen_.load(relaxed); }
    /// Returns the list of ready tasks from which the chooser chooses. Only the thread for which
    /// the gate is open may use it.
    ready_choices& ready() { return ready_; }

private:
    enum class state : std::uint8_t { absent, runnable, running, blocked };

    using seats = std::bitset<capacity>;

    void pass_on() BRAID_REQUIRES(mutex_);
    void report_standstill() BRAID_REQUIRES(mutex_);
    unsigned pick(decision_kind kind, const seats& among) BRAID_REQUIRES(mutex_);
    seats that_are(state wanted) const BRAID_REQUIRES(mutex_);
    std::int64_t earliest_deadline() const BRAID_REQUIRES(mutex_);
    unsigned let_time_pass() BRAID_REQUIRES(mutex_);
    void forget_looks() BRAID_REQUIRES(mutex_) { has_looked_.reset(); }
    void grant(unsigned seat) BRAID_REQUIRES(mutex_);

    chooser& chooser_;
    const log_handler& log_;
    const char* const name_;
    ready_choices ready_;
    atomic<std::uint64_t> unchosen_{0};
    mutable mutex mutex_;
    // The seat for which the gate is open, or `capacity` if there is none.
    unsigned running_ BRAID_GUARDED_BY(mutex_) = capacity;
    state state_[capacity] BRAID_GUARDED_BY(mutex_){};
    bool notified_[capacity] BRAID_GUARDED_BY(mutex_){};
    bool timed_out_[capacity] BRAID_GUARDED_BY(mutex_){};
    // The seats that were woken because of `rest::looks` since another thread last went on.
    seats has_looked_ BRAID_GUARDED_BY(mutex_);
    // How a seat sleeps. An entry is valid while the seat sleeps, and until the gate opens for it
    // again.
    rest rest_[capacity] BRAID_GUARDED_BY(mutex_){};
    std::int64_t now_ BRAID_GUARDED_BY(mutex_) = 0;
    basic_parker<active_policy> parkers_[capacity];
};

}  // namespace detail
BRAID_NAMESPACE_END
