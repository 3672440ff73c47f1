#pragma once
// The calling thread's seat: which one it has, and for how long.

#include "core/control/runtime.hpp"
#include "core/seats/gate_pass.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// The calling thread's seat for one call that does not wait: its own, or a guest's, leased for the
/// duration. Waits go through wait_room::wait_here().
class seat_lease {
public:
    seat_lease(runtime& rt, worker* known)
        : rt_(rt),
          worker_(known != nullptr ? known : rt.bound()),
          leased_(worker_ == nullptr),
          pass_(rt, leased_ ? *(worker_ = static_cast<worker*>(rt.lease_guest())) : *worker_) {}
    ~seat_lease() {
        if (!leased_) return;
        rt_.flush_scope_ends(*worker_);
        rt_.return_guest(*worker_);
    }
    seat_lease(const seat_lease&) = delete;
    seat_lease& operator=(const seat_lease&) = delete;
    worker& operator*() const { return *worker_; }
    worker* operator->() const { return worker_; }
    /// Null when the seat goes back at the end of the lease.
    worker* own() const { return leased_ ? nullptr : worker_; }

private:
    runtime& rt_;
    worker* worker_;
    bool leased_;
    gate_pass pass_;
};

/// A registered thread is inside a call as long as this lives, tasks may run on it meanwhile, and
/// one of them may destroy the scheduler; see runtime::destroy().
class long_call {
public:
    explicit long_call(const runtime& rt) : worker_(rt.bound()) {
        if (worker_ == nullptr) return;
        const bool outermost = worker_->kind == seat_kind::main && !worker_->inside.load(relaxed);
        if (!outermost) worker_ = nullptr;
        // release: a thread that sees it sees what this call has read of the scheduler's handle as
        // read.
        if (outermost) worker_->inside.store(true, release);
    }
    ~long_call() {
        // release: pairs with the acquire in destroy(); the last touch of the scheduler.
        if (worker_ != nullptr) worker_->inside.store(false, release);
    }
    long_call(const long_call&) = delete;
    long_call& operator=(const long_call&) = delete;

private:
    worker* worker_;
};

}  // namespace detail
BRAID_NAMESPACE_END
