#pragma once
// The calling thread's seat: which one it has, and for how long.

#include "core/runtime.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Whether a thread may make tasks now: any while the scheduler runs, tasks also while it drains.
inline bool accepts_from(const runtime& rt, const worker& w) {
    const life now = rt.phase(acquire);
    return now == life::running || (now == life::draining && w.top != nullptr);
}

/// With a chooser a thread in a blocking region takes no part in the serial gate: it enters it for
/// each operation.
class gate_pass {
public:
    gate_pass(runtime& rt, worker& w) {
        if (!w.outside_gate) return;
        gate_ = rt.serial();
        worker_ = &w;
        gate_->note_unchosen();
        gate_->enter(w.index);
        w.outside_gate = false;
    }
    ~gate_pass() {
        if (gate_ == nullptr) return;
        worker_->outside_gate = true;
        gate_->leave(worker_->index);
    }
    gate_pass(const gate_pass&) = delete;
    gate_pass& operator=(const gate_pass&) = delete;

private:
    gate* gate_ = nullptr;
    worker* worker_ = nullptr;
};

/// The calling thread's seat for one call that does not wait: its own, or a guest's, leased for the
/// duration. Waits go through runtime::wait_here().
class seat_lease {
public:
    seat_lease(runtime& rt, worker* known)
        : rt_(rt),
          worker_(known != nullptr ? known : rt.bound()),
          leased_(worker_ == nullptr),
          pass_(rt, leased_ ? *(worker_ = rt.lease_guest()) : *worker_) {}
    ~seat_lease() {
        if (leased_) rt_.return_guest(*worker_);
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

/// Which seats the calling thread has (several schedulers may share a thread).
struct seat_binding {
    const runtime* rt = nullptr;
    std::uint64_t serial = 0;
    worker* w = nullptr;
};
void bind_seat(worker& w);
void unbind_seat(worker& w);
}  // namespace detail
BRAID_NAMESPACE_END
