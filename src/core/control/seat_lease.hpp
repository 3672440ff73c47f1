#pragma once
// Leases give the calling thread a seat for one call: its own seat, or a guest seat.

#include "core/control/runtime.hpp"
#include "core/seats/gate_pass.hpp"

#include <optional>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A seat for one call that does not wait. It is the thread's own seat, or else a guest seat that
/// is leased for the call. Waits use wait_room::wait_here(), and calls that run bodies use a
/// body_lease.
class seat_lease {
public:
    seat_lease(runtime& rt, whole_seat* known)
        : rt_(rt),
          seat_(known != nullptr ? known : rt.bound()),
          leased_(seat_ == nullptr),
          pass_(rt, leased_ ? *(seat_ = static_cast<whole_seat*>(rt.lease_guest())) : *seat_) {}
    ~seat_lease() {
        if (!leased_) return;
        rt_.flush_scope_ends(*seat_);
        rt_.return_guest(*seat_);
    }
    seat_lease(const seat_lease&) = delete;
    seat_lease& operator=(const seat_lease&) = delete;
    whole_seat& operator*() const { return *seat_; }
    whole_seat* operator->() const { return seat_; }
    /// Returns the thread's own seat, or null if the lease has a guest seat.
    whole_seat* own() const { return leased_ ? nullptr : seat_; }

private:
    runtime& rt_;
    whole_seat* seat_;
    bool leased_;
    gate_pass pass_;
};

/// A seat for one call that runs user code, which may wait for anything. It is never the spare
/// guest seat: other threads wait for that seat, so it must come back soon. The lease is empty if
/// all seats are taken or there is no memory.
class body_lease {
public:
    explicit body_lease(runtime& rt) : rt_(rt), seat_(rt.bound()), leased_(seat_ == nullptr) {
        if (leased_) seat_ = static_cast<whole_seat*>(rt.try_lease_guest(lease::bodies));
        if (seat_ != nullptr) pass_.emplace(rt, *seat_);
    }
    ~body_lease() {
        if (!leased_ || seat_ == nullptr) return;
        rt_.flush_scope_ends(*seat_);
        rt_.return_guest(*seat_);
    }
    body_lease(const body_lease&) = delete;
    body_lease& operator=(const body_lease&) = delete;
    explicit operator bool() const { return seat_ != nullptr; }
    whole_seat& operator*() const { return *seat_; }

private:
    runtime& rt_;
    whole_seat* seat_;
    bool leased_;
    std::optional<gate_pass> pass_;
};

/// Marks a registered thread as inside a call while this object lives. A task that runs on the
/// thread meanwhile may destroy the scheduler; runtime::destroy() then waits until the mark is
/// gone.
class long_call {
public:
    explicit long_call(const runtime& rt) : seat_(rt.bound()) {
        if (seat_ == nullptr) return;
        const bool outermost = seat_->kind == seat_kind::main && !seat_->inside.load(relaxed);
        if (!outermost) seat_ = nullptr;
        // release: pairs with the acquire in anybody_inside(). When a thread sees the flag, this
        // call has already read the scheduler's handle.
        if (outermost) seat_->inside.store(true, release);
    }
    ~long_call() {
        // release: pairs with the acquire in destroy(). This is the last access to the scheduler.
        if (seat_ != nullptr) seat_->inside.store(false, release);
    }
    long_call(const long_call&) = delete;
    long_call& operator=(const long_call&) = delete;

private:
    whole_seat* seat_;
};

}  // namespace detail
BRAID_NAMESPACE_END
