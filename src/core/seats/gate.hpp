#pragma once
// The serial gate lets one thread run at a time. It exists only with a chooser. A participating
// thread runs only while the gate is open for it, and passes the gate on where it would sleep or
// where the chooser says so.

#include "base/parker.hpp"
#include "braid/base/handlers.hpp"
#include "braid/base/mutex.hpp"
#include "braid/core/decision.hpp"
#include "core/seats/ready_choices.hpp"

#include <bitset>
#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

class gate {
public:
    static constexpr unsigned capacity = 256;

    gate(chooser& c, const log_handler& log, const char* name, accounted_memory& memory)
        : chooser_(c), log_(log), name_(name), ready_(memory) {}

    /// Lets the seat take part from now on, so that the gate can open for it (its thread may still
    /// be on its way). Any thread may call it.
    void add(unsigned seat);
    /// Waits until the gate opens for the seat. Called by the seat's thread.
    void await_gate(unsigned seat);
    /// Calls add() and then await_gate().
    void enter(unsigned seat) {
        add(seat);
        await_gate(seat);
    }
    /// Ends the seat's part. Another thread goes on. Called by the seat's thread, or by the thread
    /// that could not start the seat's thread.
    void leave(unsigned seat);

    struct rest {
        std::int64_t deadline = INT64_MAX;  // on the virtual clock; INT64_MAX means none
        bool looks = false;  // the thread comes back to help once no other thread can go on
        bool waits = false;  // the thread sleeps within a wait, not for want of work
    };
    /// Sleeps; stands in place of parker::park(). Returns false if the time ran out, or if the seat
    /// was chosen to look.
    bool block(unsigned seat, const rest& how);
    /// Wakes the seat's thread; stands in place of parker::notify(). Any thread may call it.
    void unblock(unsigned seat);
    /// Lets another thread go on, if the chooser wants that. Called by the running thread.
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
    /// Notes that a thread came at a moment that no chooser decides. Any thread may call it, also
    /// in a signal handler.
    void note_unchosen() { unchosen_.fetch_add(1, relaxed); }  // relaxed: a count
    std::uint64_t unchosen() const { return unchosen_.load(relaxed); }
    /// Returns the tasks to choose from. Only the thread for which the gate is open may use them.
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
    // The seats that have looked since another thread last went on.
    seats has_looked_ BRAID_GUARDED_BY(mutex_);
    // How each seat sleeps that sleeps, or that was woken and has not gone on yet.
    rest rest_[capacity] BRAID_GUARDED_BY(mutex_){};
    std::int64_t now_ BRAID_GUARDED_BY(mutex_) = 0;
    basic_parker<active_policy> parkers_[capacity];
};

}  // namespace detail
BRAID_NAMESPACE_END
