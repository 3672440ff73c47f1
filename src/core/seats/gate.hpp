#pragma once
// One thread at a time: with a chooser installed, a participating thread runs only while the gate
// is open for it, and passes it on where it would sleep or where the chooser says so.

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

    /// The seat takes part from now on and the gate can open for it (its thread may still be on its
    /// way). Any thread.
    void add(unsigned seat);
    /// The seat's thread: waits until the gate opens for it.
    void await_gate(unsigned seat);
    /// Both.
    void enter(unsigned seat) {
        add(seat);
        await_gate(seat);
    }
    /// The seat's thread: takes no part any more; somebody else goes on.
    void leave(unsigned seat);

    struct rest {
        std::int64_t deadline = INT64_MAX;  // of the virtual clock; INT64_MAX: none
        bool looks = false;  // comes back to look whether it can help once nobody else can go on
        bool waits = false;  // within a wait, not for want of work
    };
    /// In place of parker::park(). False: out of time, or chosen to look.
    bool block(unsigned seat, const rest& how);
    /// In place of parker::notify(). Any thread.
    void unblock(unsigned seat);
    /// The running thread lets another one go, if the chooser wants that.
    void preempt(unsigned seat);

    /// The virtual clock, in ns: stands still until a choice lets a deadline pass. For the thread
    /// for which the gate is open.
    std::int64_t now() const {
        const locked lock(mutex_);
        return now_;
    }

    /// The choice itself; the gate is open for the caller.
    std::size_t choose(decision_kind kind, const alternative* list, std::size_t count) {
        return count < 2 ? 0 : chooser_.choose(kind, list, count);
    }
    /// A thread came at a moment that no chooser decides. Any thread, also in a signal handler.
    void note_unchosen() { unchosen_.fetch_add(1, relaxed); }  // a count
    std::uint64_t unchosen() const { return unchosen_.load(relaxed); }
    /// For the thread for which the gate is open.
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
    unsigned running_ BRAID_GUARDED_BY(mutex_) = capacity;  // capacity: nobody
    state state_[capacity] BRAID_GUARDED_BY(mutex_){};
    bool notified_[capacity] BRAID_GUARDED_BY(mutex_){};
    bool timed_out_[capacity] BRAID_GUARDED_BY(mutex_){};
    seats has_looked_ BRAID_GUARDED_BY(mutex_);  // since somebody else last went on
    // What those sleep for that sleep, or were woken and have not gone on.
    rest rest_[capacity] BRAID_GUARDED_BY(mutex_){};
    std::int64_t now_ BRAID_GUARDED_BY(mutex_) = 0;
    basic_parker<active_policy> parkers_[capacity];
};

}  // namespace detail
BRAID_NAMESPACE_END
